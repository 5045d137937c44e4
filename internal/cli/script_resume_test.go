//go:build unix

package cli_test

import (
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// resumeCommands are for what a session from the disk sends.
var resumeCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"takes-no-thoughts": cmdTakesNoThoughts, "forgets": cmdForgets, "refusals": cmdRefusals, "inorder": cmdInorder,
	"steady": cmdSteady,
}

// cmdTakesNoThoughts lets a server refuse to be sent what it thought: takes-no-thoughts NAME.
func cmdTakesNoThoughts(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "takes-no-thoughts NAME")
	find(ts, args[0]).NoReasoning = true
}

// cmdForgets lets a server read none of the thoughts any more that it had encrypted: forgets NAME.
func cmdForgets(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "forgets NAME")
	find(ts, args[0]).Forgetful = true
}

// cmdRefusals checks that a server refused so many requests: refusals N NAME.
func cmdRefusals(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "refusals N NAME")
	if r := find(ts, args[1]).Refused(); strconv.Itoa(len(r)) != args[0] {
		ts.Fatalf("%s refused %d requests, want %s: %q", args[1], len(r), args[0], r)
	}
}

// cmdInorder checks that a file has the texts one behind the other, and none of them anywhere else: inorder
// FILE TEXT….
func cmdInorder(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "inorder FILE TEXT…")
	rest := ts.ReadFile(args[0])
	for i, want := range args[1:] {
		at := -1
		for _, other := range args[1:] {
			if n := strings.Index(rest, other); n >= 0 && (at < 0 || n < at) {
				at = n
			}
		}
		if at < 0 || !strings.HasPrefix(rest[at:], want) {
			ts.Fatalf("%s: %s is not number %d", args[0], want, i+1)
		}
		rest = rest[at+len(want):]
	}
	for _, other := range args[1:] {
		if strings.Contains(rest, other) {
			ts.Fatalf("%s has %s once more", args[0], other)
		}
	}
}

// cmdSteady checks that each request after the last one for a summary begins as the one before it, and that
// there are two of them at least: steady NAME.
func cmdSteady(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "steady NAME")
	all := find(ts, args[0]).Requests()
	first := 0
	for i, r := range all {
		if strings.Contains(string(r.Body), asksForSummary) {
			first = i + 1
		}
	}
	if first == 0 || len(all)-first < 3 {
		ts.Fatalf("%d of %d requests to %s came after a summary", len(all)-first, len(all), args[0])
	}
	ts.Logf("%d requests follow on a summary", len(all)-first)
	for n := first + 1; n < len(all); n++ {
		cmdContinues(ts, false, []string{args[0], strconv.Itoa(n), strconv.Itoa(n + 1)})
	}
}
