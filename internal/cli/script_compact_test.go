//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"jig/internal/model/modeltest"
)

// asksForSummary is in every request for a summary and in no other one.
const asksForSummary = "Write a summary of it now"

// cmdThinking lets the model of a script of replies think before each call, and gives it a summary for
// whenever it is asked for one: thinking REPLIES FILE.
func cmdThinking(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "thinking REPLIES FILE")
	var replies []modeltest.Reply
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &replies))
	for i := range replies {
		if len(replies[i].Calls) > 0 {
			replies[i].Reasoning = fmt.Sprintf("What is in file %d?", i)
		}
	}
	for range 5 {
		replies = append(replies, modeltest.Reply{For: asksForSummary, Text: "SUMMARY: files were read"})
	}
	b, err := json.Marshal(replies)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}

// cmdSummary writes the first request for a summary and the one after it, indented, to files: summary NAME
// ASKED AFTER.
func cmdSummary(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "summary NAME ASKED AFTER")
	all := find(ts, args[0]).Requests()
	for i, r := range all {
		if !strings.Contains(string(r.Body), asksForSummary) || i+1 == len(all) {
			continue
		}
		for j, name := range args[1:] {
			var b bytes.Buffer
			ts.Check(json.Indent(&b, all[i+j].Body, "", "  "))
			ts.Check(os.WriteFile(ts.MkAbs(name), b.Bytes(), 0o644))
		}
		return
	}
	ts.Fatalf("%s was asked for no summary that anything followed", args[0])
}
