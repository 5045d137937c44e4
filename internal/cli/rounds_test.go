//go:build unix

package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model/modeltest"
)

const manyRounds = 200

// longTalk is a run of many rounds. All but the first and the last count a file one up, which a call
// that ran twice could not, and look into it.
func longTalk() []modeltest.Reply {
	var out []modeltest.Reply
	for i := range manyRounds - 1 {
		first := modeltest.Call{ID: fmt.Sprintf("a%d", i), Name: "edit_file", Args: fmt.Sprintf(`{"path":"count.txt","old_string":"n=%d;","new_string":"n=%d;"}`, i-1, i)}
		second := modeltest.Call{ID: fmt.Sprintf("b%d", i), Name: "grep", Args: `{"pattern":"n=","path":"."}`}
		r := modeltest.Reply{Reasoning: fmt.Sprintf("thought %d", i), Signature: base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "signed %d", i)), Text: fmt.Sprintf("Round %d 😀.", i), Calls: []modeltest.Call{first, second}}
		if i == 0 { // a file must have been read before it is edited; two that read would end in any order
			r.Calls = []modeltest.Call{{ID: "a0", Name: "read_file", Args: `{"path":"count.txt"}`}}
		}
		out = append(out, r)
	}
	return append(out, modeltest.Reply{Text: "Counted."})
}

// passing are faults that pass, of every kind and at every place.
func passing() []modeltest.Fault {
	html := map[string]string{"Content-Type": "text/html"}
	slow := complaint("slow down", "rate_limit_error")
	out := []modeltest.Fault{
		status(429, map[string]string{"Retry-After": "3"}, slow), status(429, map[string]string{"Retry-After": "{http}"}, slow),
		status(429, map[string]string{"Retry-After-Ms": "1500"}, slow), status(429, nil, slow),
		status(429, map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "6s"}, slow),
		status(429, map[string]string{"Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": "{rfc3339}"}, slow),
		status(429, nil, `{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}`),
		status(409, nil, complaint("Conflict", "conflict_error")),
		status(529, nil, ""), status(500, nil, complaint("internal error", "server_error")), status(503, nil, ""), status(408, nil, ""), status(502, html, htmlPage),
		{Kind: modeltest.FaultMute}, {Kind: modeltest.FaultSilent, Calls: 1}, {Kind: modeltest.FaultAlive, After: 2},
	}
	for _, k := range []modeltest.FaultKind{modeltest.FaultCut, modeltest.FaultEnd, modeltest.FaultError} {
		out = append(out, modeltest.Fault{Kind: k}, modeltest.Fault{Kind: k, After: 3}, modeltest.Fault{Kind: k, Calls: 1}, modeltest.Fault{Kind: k, Calls: 1, After: 1})
		if k != modeltest.FaultError {
			out = append(out, modeltest.Fault{Kind: k, Calls: 1, After: 1, Half: true})
		}
	}
	// No request is made again for these.
	return append(out, modeltest.Fault{Kind: modeltest.FaultTwice, Calls: 2}, modeltest.Fault{Kind: modeltest.FaultLong, Calls: 1}, modeltest.Fault{Kind: modeltest.FaultOpen})
}

// TestFaultsInOneRequestOfFiveLeaveTheTranscriptAsItWas in every dialect, and every call runs once. That
// a name is unknown for one request is seen to where a dialer can be replaced, and not here.
func TestFaultsInOneRequestOfFiveLeaveTheTranscriptAsItWas(t *testing.T) {
	for dialect := range names {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			clean, asked := talkThrough(t, dialect, longTalk(), nil)
			if asked != manyRounds {
				t.Fatalf("%d requests without a fault", asked)
			}
			var replies []modeltest.Reply
			again, faults := 0, passing()
			instead := map[int]string{}
			for i, r := range longTalk() {
				if i%5 == 2 && len(r.Calls) == 2 {
					switch n := i/5 - len(faults); { // the last of those in which something happens
					case n >= 0 && n%3 == 0:
						instead[len(replies)] = gone
						replies = append(replies, r)
						continue
					case n >= 0 && n%3 == 1:
						instead[len(replies)] = empty
						replies = append(replies, r)
						continue
					case n >= 0: // every character and every event comes in pieces
						r.Bytes = 1
						replies = append(replies, r)
						continue
					}
					broken := r
					broken.Fault = faults[i/5]
					replies = append(replies, broken)
					switch broken.Fault.Kind {
					case modeltest.FaultTwice, modeltest.FaultLong, modeltest.FaultOpen:
						continue
					}
					again++
				}
				replies = append(replies, r)
			}
			if again < 30 || len(instead) < 2 {
				t.Fatalf("only %d requests meet a fault", again)
			}
			spoilt, asked := talkThrough(t, dialect, replies, instead)
			if asked != manyRounds+again {
				t.Errorf("%d requests, want %d and %d that are made again", asked, manyRounds, again)
			}
			if d := cmp.Diff(clean, spoilt); d != "" {
				t.Error(d)
			}
		})
	}
}

// The scripted provider counts its replies in the ids it gives, which stand in what is kept of them.
var (
	numbers = regexp.MustCompile(`(msg|fc|rs|resp)_\d+`)
	keeping = regexp.MustCompile(`"raw":"([^"]*)"`)
)

// unnumbered is a line without those numbers.
func unnumbered(line string) string {
	line = keeping.ReplaceAllStringFunc(line, func(s string) string {
		raw, err := base64.StdEncoding.DecodeString(keeping.FindStringSubmatch(s)[1])
		if err != nil {
			return s
		}
		return fmt.Sprintf(`"raw":%q`, raw)
	})
	return numbers.ReplaceAllString(line, "$1")
}

// talkThrough lets the program run through replies and gives the transcript: every fact of the log, and
// what the last request sent.
func talkThrough(t *testing.T, dialect string, replies []modeltest.Reply, instead map[int]string) (transcript []string, asked int) {
	s := modeltest.New(t, replies...)
	f := newFront(t, s.URL, instead)
	// A front that is gone must be back within five tries; an answer that is silent takes no longer for it.
	patient := strings.Replace(config(dialect, "http://"+f.addr), "url:", "idle_timeout: 75, url:", 1)
	run := startTelling(t, f.heard, patient, 30, func(dir string) {
		if err := os.WriteFile(filepath.Join(dir, "count.txt"), []byte("start\nn=0;\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	run.wait()
	if run.code != 0 || run.reply(t) != "Counted." {
		t.Errorf("exit code %d: %s", run.code, run.lastError())
	}
	if n := f.left(); n > 0 {
		t.Errorf("%d of what should have happened before the provider did not", n)
	}
	if r := s.Refused(); r != nil {
		t.Errorf("refused: %q", r[0])
	}
	data, err := os.ReadFile(filepath.Join(run.dir, "count.txt"))
	if want := fmt.Sprintf("start\nn=%d;\n", manyRounds-2); err != nil || string(data) != want {
		t.Errorf("the file is %q, want %q", data, want)
	}
	closed := map[string]int{}
	for _, l := range run.stdout {
		var fact struct {
			Type, Call string
			Seq        int
			Result     struct{ Failed bool }
		}
		if err := json.Unmarshal([]byte(l.text), &fact); err != nil {
			t.Fatal(err)
		}
		if fact.Type == "closed" {
			closed[fact.Call]++
			if fact.Result.Failed {
				t.Errorf("%s failed: %s", fact.Call, l.text)
			}
		}
		if fact.Seq > 0 && fact.Type != "began" {
			transcript = append(transcript, unnumbered(l.text))
		}
	}
	if want := 2*(manyRounds-2) + 1; len(closed) != want {
		t.Errorf("%d calls were closed, want %d", len(closed), want)
	}
	if t.Failed() {
		for _, w := range run.waits(t) {
			t.Logf("try %d of a request, because %s", w.Try, w.Why)
		}
	}
	for call, n := range closed {
		if n != 1 {
			t.Errorf("%s was closed %d times", call, n)
		}
	}
	all := s.Requests()
	last := unnumbered(string(all[len(all)-1].Body))
	return append(transcript, strings.ReplaceAll(last, run.dir, "")), len(all)
}
