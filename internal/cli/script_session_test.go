//go:build unix

package cli_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

// sessionCommands are what scripts about sessions can do.
var sessionCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"session": cmdSession, "continues": cmdContinues, "same": cmdSame, "until": cmdUntil, "cut": cmdCut, "swap": cmdSwap, "record": cmdRecord, "listed": cmdListed, "grepfile": cmdGrepfile, "recordfile": cmdRecordfile, "damage": cmdDamage,
}

// cmdSession puts the ids of the newest sessions into variables: session NAME….
func cmdSession(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, -1, "session NAME…")
	c := command(ts, []string{"jig", "list", "sessions"})
	out, err := c.Output()
	ts.Check(err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < len(args) {
		ts.Fatalf("%d sessions:\n%s", len(lines), out)
	}
	for i, name := range args {
		id, _, _ := strings.Cut(lines[i], " ")
		ts.Setenv(name, id)
	}
}

// cmdListed waits until there are so many sessions: listed N.
func cmdListed(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "listed N")
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		out, err := command(ts, []string{"jig", "list", "sessions"}).Output()
		ts.Check(err)
		if n := strings.Count(string(out), "\n"); strconv.Itoa(n) == args[0] {
			return
		} else if time.Now().After(end) {
			ts.Fatalf("%d sessions, want %s", n, args[0])
		}
	}
}

var marks = regexp.MustCompile(`,?"cache_control":\{[^{}]*\}`)

// cmdContinues checks that a server's request N says all that request M said, byte for byte and in its
// place, and more behind: continues SERVER M N [talk]. What marks the prompt for a cache moves. With
// talk the conversation alone is compared.
func cmdContinues(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: [!] continues SERVER M N [talk]")
	}
	was, is := parts(ts, args[0], args[1]), parts(ts, args[0], args[2])
	why := ""
	for _, talk := range []string{"messages", "input", "contents"} {
		var a, b []json.RawMessage
		if was[talk] == nil {
			continue
		}
		ts.Check(json.Unmarshal(was[talk], &a))
		ts.Check(json.Unmarshal(is[talk], &b))
		for i := range a {
			if why == "" && (i >= len(b) || !bytes.Equal(a[i], b[i])) {
				why = talk + " " + strconv.Itoa(i) + " is another: " + string(a[i])
			}
		}
		if why == "" && len(b) <= len(a) {
			why = "nothing was added"
		}
		delete(was, talk)
		delete(is, talk)
	}
	if len(args) == 3 && why == "" {
		if !slices.Equal(slices.Sorted(maps.Keys(was)), slices.Sorted(maps.Keys(is))) {
			why = "other fields"
		}
		for k := range was {
			if !bytes.Equal(was[k], is[k]) {
				why = k + " is another: " + string(was[k]) + " and " + string(is[k])
			}
		}
	}
	if (why != "") != neg {
		ts.Fatalf("%s: request %s and %s: %q", args[0], args[1], args[2], why)
	}
}

// cmdSame checks that two requests to a server say the same: same SERVER M N.
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "same SERVER M N")
	a, b := parts(ts, args[0], args[1]), parts(ts, args[0], args[2])
	if !maps.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }) {
		ts.Fatalf("%s: request %s and %s differ", args[0], args[1], args[2])
	}
}

func parts(ts *testscript.TestScript, name, number string) map[string]json.RawMessage {
	n, err := strconv.Atoi(number)
	ts.Check(err)
	all := find(ts, name).Requests()
	if n < 1 || n > len(all) {
		ts.Fatalf("%s got %d requests", name, len(all))
	}
	var out map[string]json.RawMessage
	ts.Check(json.Unmarshal(marks.ReplaceAll(all[n-1].Body, nil), &out))
	return out
}

// cmdUntil waits until a server has been asked so often: until N SERVER.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "until N SERVER")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for end := time.Now().Add(patience); len(find(ts, args[1]).Requests()) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s got %d requests, want %d", args[1], len(find(ts, args[1]).Requests()), n)
		}
	}
}

// cmdCut takes so many bytes off the end of a file: cut N FILE.
func cmdCut(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "cut N FILE")
	n, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	st, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[1]), st.Size()-n))
}

// cmdSwap puts one text in the place of another in a file, and the right checksum at the end of one that
// jig export wrote: swap FILE OLD NEW.
func cmdSwap(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "swap FILE OLD NEW")
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	text = strings.ReplaceAll(text, args[1], args[2])
	i := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n") + 1
	body, last := text[:i], text[i:]
	last = regexp.MustCompile(`"sha256":"[0-9a-f]*"`).ReplaceAllString(last, `"sha256":"`+sum(body)+`"`)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(body+last), 0o600))
}

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// cmdRecordfile makes a session of that id in which a file's text was said: recordfile ID FILE.
func cmdRecordfile(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "recordfile ID FILE")
	cmdRecord(ts, false, []string{args[0], ".", ts.ReadFile(args[1])})
}

// cmdRecord makes a session of that id: record ID FOLDER TITLE.
func cmdRecord(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "record ID FOLDER TITLE")
	db, err := store.Open(ts.MkAbs("home/.local/share/jig/jig.db"))
	ts.Check(err)
	s := db.New(args[0])
	began := proto.Began{Agent: "coder", Provider: "p", Model: "m", Root: ts.MkAbs(args[1])}
	ts.Check(s.Append(1, began, proto.Said{Message: msg.Say(msg.User, args[2])}, proto.Ended{Why: proto.Done}))
	ts.Check(s.Close())
	ts.Check(db.Close())
}

// cmdDamage takes a fact out of a session's log: damage ID N.
func cmdDamage(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "damage ID N")
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs("home/.local/share/jig/jig.db"))
	ts.Check(err)
	r, err := db.Exec("DELETE FROM fact WHERE key = (SELECT num FROM session WHERE id = ?) << 32 | ?", args[0], args[1])
	ts.Check(err)
	n, err := r.RowsAffected()
	ts.Check(err)
	ts.Check(db.Close())
	if n != 1 {
		ts.Fatalf("session %s has no fact %s", args[0], args[1])
	}
}

// cmdGrepfile looks for a text in a file that is none of text: [!] grepfile FILE TEXT. A file that is not
// there has none.
func cmdGrepfile(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, false, args, 2, 2, "[!] grepfile FILE TEXT")
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
	if bytes.Contains(data, []byte(args[1])) == neg {
		ts.Fatalf("%s in %s: %t", args[1], args[0], neg)
	}
}
