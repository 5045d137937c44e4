//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

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

// cmdRounds writes a script of replies that read one file each, and a last one that ends: rounds N DIR
// FILE. The files are made too, each of about 2,000 bytes.
func cmdRounds(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "rounds N DIR FILE")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.MkdirAll(ts.MkAbs(args[1]), 0o755))
	var replies []modeltest.Reply
	for i := range n {
		name := fmt.Sprintf("%s/%03d.txt", args[1], i)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(strings.Repeat(fmt.Sprintf("line of file %d\n", i), 120)), 0o644))
		call := modeltest.Call{ID: fmt.Sprint("given", i), Name: "read_file", Args: fmt.Sprintf(`{"path":%q}`, name)}
		replies = append(replies, modeltest.Reply{Text: "I look.", Calls: []modeltest.Call{call}, Bytes: 1 << 16})
	}
	b, err := json.Marshal(append(replies, modeltest.Reply{Text: "done"}))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b, 0o644))
}

// cmdKeeps gives a server a prompt cache: keeps NAME.
func cmdKeeps(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "keeps NAME")
	find(ts, args[0]).Cache = &modeltest.Cache{}
}

// cmdCached checks how much of all input a server read from its cache: cached NAME PERCENT.
func cmdCached(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "cached NAME PERCENT")
	least, err := strconv.Atoi(args[1])
	ts.Check(err)
	var read, input int
	for _, u := range find(ts, args[0]).CacheUses() {
		read, input = read+u.Read, input+u.Input
	}
	if input == 0 || 100*read < least*input {
		ts.Fatalf("%s read %d of %d bytes from its cache, want %d %%", args[0], read, input, least)
	}
	ts.Logf("%s read %.1f %% of %d bytes from its cache", args[0], 100*float64(read)/float64(input), input)
}

// cmdNarrow gives a server a context window: narrow NAME TOKENS.
func cmdNarrow(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "narrow NAME TOKENS")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	find(ts, args[0]).Window = n
}
