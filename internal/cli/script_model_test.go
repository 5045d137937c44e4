//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"jig/internal/model/modeltest"
)

type server = modeltest.Server

// cmdServe starts a provider that plays replies and records what it is asked: serve NAME [FILE]. The
// file holds them as JSON. Its address is in the variable NAME. Without a file it refuses everything.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 2, "serve NAME [REPLIES]")
	var replies []modeltest.Reply
	if len(args) == 2 {
		d := json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile(args[1]))))
		d.DisallowUnknownFields()
		ts.Check(d.Decode(&replies))
	}
	s := modeltest.New(on(ts).t, replies...)
	on(ts).servers[args[0]] = s
	ts.Setenv(args[0], s.URL)
}

func find(ts *testscript.TestScript, name string) *server {
	s := on(ts).servers[name]
	if s == nil {
		ts.Fatalf("no server %s", name)
	}
	return s
}

// cmdAsked checks how many requests a server got, and that it refused none: asked N NAME.
func cmdAsked(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "asked N NAME")
	s := find(ts, args[1])
	if n := len(s.Requests()); strconv.Itoa(n) != args[0] {
		ts.Fatalf("%s got %d requests, want %s", args[1], n, args[0])
	}
	if r := s.Refused(); len(r) > 0 {
		ts.Fatalf("%s refused: %q", args[1], r)
	}
}

// cmdSent writes a request's body, indented, to a file: sent NAME N FILE, N from 1.
func cmdSent(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "sent NAME N FILE")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	all := find(ts, args[0]).Requests()
	if n < 1 || n > len(all) {
		ts.Fatalf("%s got %d requests", args[0], len(all))
	}
	var b bytes.Buffer
	ts.Check(json.Indent(&b, all[n-1].Body, "", "  "))
	b.WriteByte('\n')
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b.Bytes(), 0o644))
}
