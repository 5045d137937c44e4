//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"jig/internal/model/modeltest"
)

// compactCommands are for conversations that are too long.
var compactCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"thinking": cmdThinking, "summary": cmdSummary, "bad": cmdBad, "many-words": cmdManyWords, "overflowed": cmdOverflowed, "gave-up": cmdGaveUp,
	"newest": cmdNewest, "wants-thoughts": cmdWantsThoughts, "from-cache": cmdFromCache, "usage": cmdUsage, "spent": cmdSpent, "more": cmdMore,
}

// asksForSummary is in every request for a summary and in no other one.
const asksForSummary = "Write a summary of it now"

// cmdThinking lets the model of a script of replies think before each call, and gives it a summary for
// whenever it is asked for one: thinking REPLIES FILE [once]. With once it thinks before its first call only.
func cmdThinking(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 3, "thinking REPLIES FILE [once]")
	var replies []modeltest.Reply
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &replies))
	for i := range replies {
		if len(replies[i].Calls) > 0 && (i == 0 || len(args) == 2) {
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

// cmdBad gives the model of a script of replies nothing but useless summaries: bad REPLIES FILE calls|long.
func cmdBad(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "bad REPLIES FILE calls|long")
	var replies []modeltest.Reply
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &replies))
	useless := modeltest.Reply{For: asksForSummary, Text: strings.Repeat("and so on ", 4_000)}
	if args[2] == "calls" {
		useless = modeltest.Reply{For: asksForSummary, Text: "SUMMARY", Calls: []modeltest.Call{{ID: "s1", Name: "read_file", Args: `{"path":"files/000.txt"}`}}}
	}
	b, err := json.Marshal(append(replies, useless, useless, useless))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}

// cmdManyWords writes a file of so many words: many-words N FILE.
func cmdManyWords(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "many-words N FILE")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Repeat("word ", n)), 0o644))
}

// cmdOverflowed checks that a server refused some requests for their length, that each of them was
// followed by one for a summary and made once more, and that nothing else was asked: overflowed ROUNDS NAME.
func cmdOverflowed(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "overflowed ROUNDS NAME")
	rounds, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := find(ts, args[1]).Requests()
	refused := 0
	for i, r := range all {
		if r.Refused == "" {
			continue
		}
		refused++
		if i+2 >= len(all) || !strings.Contains(string(all[i+1].Body), asksForSummary) || all[i+1].Refused != "" || all[i+2].Refused != "" {
			ts.Fatalf("request %d of %d was refused (%s) and not made again with a summary", i+1, len(all), r.Refused)
		}
	}
	if refused == 0 || len(all) != rounds+2*refused {
		ts.Fatalf("%d of %d requests were refused, want some and two more than %d rounds for each", refused, len(all), rounds)
	}
}

// cmdGaveUp checks that the last requests a server got are so many that it refused for their length and
// so many, after them, for summaries: gave-up REFUSED SUMMARIES NAME.
func cmdGaveUp(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "gave-up REFUSED SUMMARIES NAME")
	var refused, summaries int
	for _, r := range find(ts, args[2]).Requests() {
		switch {
		case strings.Contains(string(r.Body), asksForSummary):
			summaries++
		case r.Refused != "":
			refused++
		case refused+summaries > 0:
			ts.Fatalf("%s was asked again after it had refused", args[2])
		}
	}
	if strconv.Itoa(refused) != args[0] || strconv.Itoa(summaries) != args[1] {
		ts.Fatalf("%s refused %d requests and was asked for %d summaries", args[2], refused, summaries)
	}
}

// cmdNewest puts the id of the newest session into a variable: newest NAME.
func cmdNewest(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "newest NAME")
	out, err := command(ts, []string{"jig", "list", "sessions"}).Output()
	ts.Check(err)
	id := strings.Fields(string(out) + " none")[0]
	ts.Setenv(args[0], id)
}

// cmdMore gives a server more replies: more NAME REPLIES.
func cmdMore(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "more NAME REPLIES")
	var replies []modeltest.Reply
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &replies))
	find(ts, args[0]).Add(replies...)
}

// cmdFromCache checks how much of each request for a summary a server read from its cache: from-cache NAME
// PERCENT.
func cmdFromCache(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "from-cache NAME PERCENT")
	least, err := strconv.Atoi(args[1])
	ts.Check(err)
	s := find(ts, args[0])
	uses, found := s.CacheUses(), 0
	for i, r := range s.Requests() {
		if !strings.Contains(string(r.Body), asksForSummary) {
			continue
		}
		found++
		ts.Logf("%s read %d of the %d bytes of request %d from its cache", args[0], uses[i].Read, uses[i].Input, i+1)
		if 100*uses[i].Read < least*uses[i].Input {
			ts.Fatalf("%s read %d of %d bytes from its cache, want %d %%", args[0], uses[i].Read, uses[i].Input, least)
		}
	}
	if found == 0 {
		ts.Fatalf("%s was asked for no summary", args[0])
	}
}

// cmdUsage checks that a report has so many rounds and counts more for the whole than for all of them, as
// much as a server counted: usage NAME REPORT ROUNDS.
func cmdUsage(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "usage NAME REPORT ROUNDS")
	var r struct {
		Usage struct {
			Input int `json:"input_tokens"`
		}
		Rounds []struct {
			Usage struct {
				Input int `json:"input_tokens"`
			}
		} `json:"round_usage"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &r))
	var all, rounds int
	for _, q := range find(ts, args[0]).Requests() {
		all += len(q.Body) / 4
	}
	for _, x := range r.Rounds {
		rounds += x.Usage.Input
	}
	if strconv.Itoa(len(r.Rounds)) != args[2] || r.Usage.Input != all || rounds >= all {
		ts.Fatalf("%d tokens in %d rounds, %d in all; %s counted %d", rounds, len(r.Rounds), r.Usage.Input, args[0], all)
	}
}

// cmdSpent checks that a session's cost is a millionth of a dollar for each token that a server counted:
// spent NAME EVENTS.
func cmdSpent(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "spent NAME EVENTS")
	found := regexp.MustCompile(`"type":"cost".*"session":([0-9.]+)`).FindAllStringSubmatch(ts.ReadFile(args[1]), -1)
	if found == nil {
		ts.Fatalf("%s tells of no cost", args[1])
	}
	got, err := strconv.ParseFloat(found[len(found)-1][1], 64)
	ts.Check(err)
	tokens := 0
	for _, q := range find(ts, args[0]).Requests() {
		tokens += len(q.Body) / 4
	}
	const replies = 1_000 // at most
	if n := int(got * 1e6); n < tokens || n > tokens+replies {
		ts.Fatalf("%d tokens are paid for, and %s read %d", n, args[0], tokens)
	}
}

// cmdWantsThoughts lets a server refuse a call that comes back without the reasoning it was given with:
// wants-thoughts NAME.
func cmdWantsThoughts(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "wants-thoughts NAME")
	find(ts, args[0]).ReasoningBack = true
}
