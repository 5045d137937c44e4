package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/model/retry"
	"jig/internal/msg"
)

// full is a reply with everything in it that a fault can strike between.
func full() modeltest.Reply {
	return modeltest.Reply{Text: "I look at both 😀.", Usage: msg.Usage{Input: 120, Output: 30},
		Calls: []modeltest.Call{{ID: "a1", Name: "read_file", Args: emoji}, {ID: "a2", Name: "grep", Args: `{"path":"x"}`}}}
}

// points are where a fault may strike in a reply of two calls.
var points = map[string]modeltest.Fault{
	"before the first byte":     {},
	"in the text":               {After: 3},
	"after a call's block":      {Calls: 1},
	"within the second call":    {Calls: 1, After: 1},
	"between its bytes":         {Calls: 1, After: 1, Half: true},
	"after the last call":       {Calls: 2},
	"within a call's last byte": {Calls: 1, Half: true},
}

// asked is one request under a policy: what came of it, what was told, which waits were shown.
type asked struct {
	reply model.Reply
	err   error
	told  string // since the last reset
	reset int
	waits []retry.Wait
}

// patientlyAsk asks a dialect at a server. The waits between the tries take no time.
func patientlyAsk(t *testing.T, cl client, s *modeltest.Server) asked {
	return askWithin(t, cl, s, time.Minute)
}

// askWithin lets an answer be silent for so long.
func askWithin(t *testing.T, cl client, s *modeltest.Server, silence time.Duration) asked {
	m := open(t, cl.open(openai.Options{Provider: "p", URL: s.URL, Key: modeltest.Key, Silence: silence}))
	p := retry.Default()
	p.Haste = 10_000
	var a asked
	r := model.Request{Model: cl.model, Tools: []model.Tool{tool("read_file"), tool("grep")}, Messages: []msg.Message{msg.Say(msg.User, "hi")}}
	a.reply, a.err = retry.New(m, p, func(w *retry.Wait) {
		if w != nil {
			a.waits = append(a.waits, *w)
		}
	}).Stream(context.Background(), r, func(d model.Delta) {
		if d.Reset {
			a.told = ""
			a.reset++
		}
		a.told += d.Text
	})
	return a
}

// TestAFaultThatPassesCostsARequestAndNothingElse: in every dialect and wherever it strikes, the reply
// is the one of a request that met none, and no piece of the one that broke off is in it.
func TestAFaultThatPassesCostsARequestAndNothingElse(t *testing.T) {
	page := modeltest.Fault{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html><title>Bad Gateway</title></html>"}
	var all sync.WaitGroup
	for _, cl := range clients() {
		clean := plain(patientlyAsk(t, cl, modeltest.New(t, full())).reply)
		if len(clean.Blocks.Calls()) != 2 {
			t.Fatalf("%s: %+v", cl.name, clean)
		}
		check := func(name string, f modeltest.Fault) {
			broken := full()
			broken.Fault = f
			s := modeltest.New(t, broken, full())
			silence := time.Minute
			switch f.Kind {
			case modeltest.FaultSilent, modeltest.FaultAlive, modeltest.FaultMute:
				silence = 3 * time.Second // long enough for the reply that follows, on a machine that is busy
			}
			a := askWithin(t, cl, s, silence)
			who := cl.name + ", " + name
			if a.err != nil {
				t.Errorf("%s: %v", who, a.err)
				return
			}
			if d := cmp.Diff(clean, plain(a.reply)); d != "" {
				t.Errorf("%s: %s", who, d)
			}
			sent := s.Requests()
			if len(sent) != 2 || !bytes.Equal(sent[0].Body, sent[1].Body) {
				t.Errorf("%s: %d requests", who, len(sent))
			}
			if a.told != a.reply.Blocks.Text() || len(a.waits) != 1 || a.waits[0].Try != 2 {
				t.Errorf("%s: told %q, %d resets, waits %+v", who, a.told, a.reset, a.waits)
			}
		}
		for _, status := range []int{408, 409, 500, 502, 503, 504, 529} {
			check(fmt.Sprint(status), modeltest.Fault{Kind: modeltest.FaultStatus, Status: status})
		}
		check("429", modeltest.Fault{Kind: modeltest.FaultStatus, Status: 429, Body: `{"error":{"message":"slow down"}}`})
		check("html", modeltest.Fault{Kind: modeltest.FaultStatus, Status: page.Status, Header: page.Header, Body: page.Body})
		for at, f := range points {
			for _, kind := range []modeltest.FaultKind{modeltest.FaultCut, modeltest.FaultEnd, modeltest.FaultError} {
				if f.Half && kind == modeltest.FaultError {
					continue // half an event before it would take it in
				}
				f.Kind = kind
				check(string(kind)+" "+at, f)
			}
			slow := []modeltest.FaultKind{modeltest.FaultSilent}
			if !f.Half { // a keep-alive within an event would be a part of it
				slow = append(slow, modeltest.FaultAlive)
			}
			if f.Calls+f.After == 0 {
				slow = append(slow, modeltest.FaultMute)
			}
			for _, kind := range slow {
				f := f
				f.Kind = kind
				all.Go(func() { check(string(kind)+" "+at, f) })
			}
		}
		if cl.wire == modeltest.Messages {
			ping := modeltest.Fault{Kind: modeltest.FaultAlive, Calls: 1, Body: "event: ping\ndata: {\"type\": \"ping\"}\n\n"}
			all.Go(func() { check("pings", ping) })
		}
	}
	all.Wait()
}

func TestWhatAStreamMayDoIsNoFault(t *testing.T) {
	html := http.Header{"Content-Type": {"text/html"}}
	var all sync.WaitGroup
	for _, cl := range clients() {
		clean := plain(patientlyAsk(t, cl, modeltest.New(t, full())).reply)
		for name, f := range map[string]modeltest.Fault{
			"no end mark":      {Kind: modeltest.FaultOpen},
			"wrong type":       {Kind: modeltest.FaultType, Header: html},
			"no type":          {Kind: modeltest.FaultType, Header: http.Header{"Content-Type": nil}},
			"5 MB at first":    {Kind: modeltest.FaultLong},
			"5 MB in the text": {Kind: modeltest.FaultLong, After: 3},
			"5 MB in a call":   {Kind: modeltest.FaultLong, Calls: 1},
			"never ends":       {Kind: modeltest.FaultLinger},
			"late":             {Kind: modeltest.FaultLate, After: 2, Later: 50 * time.Millisecond},
		} {
			r := full()
			r.Fault = f
			all.Go(func() {
				s := modeltest.New(t, r)
				a := patientlyAsk(t, cl, s)
				if d := cmp.Diff(clean, plain(a.reply)); a.err != nil || d != "" || len(s.Requests()) != 1 {
					t.Errorf("%s, %s: %v, %d requests\n%s", cl.name, name, a.err, len(s.Requests()), d)
				}
			})
		}
	}
	all.Wait()
}

// An argument of 5 MB in one piece, as a model sends a file that it writes.
func TestALongArgumentComesWhole(t *testing.T) {
	args := `{"path":"` + strings.Repeat("é", 5<<19) + `"}`
	for _, cl := range clients() {
		s := modeltest.New(t, modeltest.Reply{Style: modeltest.Whole, Calls: []modeltest.Call{{ID: "a", Name: "read_file", Args: args}}})
		if a := patientlyAsk(t, cl, s); a.err != nil || len(a.reply.Blocks.Calls()) != 1 || a.reply.Blocks.Calls()[0].Args != args {
			t.Errorf("%s: %v", cl.name, a.err)
		}
	}
}

// TestAnEventThatComesTwiceMakesNoCallTwice. That a piece of a text or of arguments came twice nobody
// can know in the two dialects that do not number their events or repeat them whole.
func TestAnEventThatComesTwiceMakesNoCallTwice(t *testing.T) {
	made := map[string]string{"read_file": emoji, "grep": `{"path":"x"}`}
	for _, cl := range clients() {
		for at := range 40 {
			r := full()
			r.Fault = modeltest.Fault{Kind: modeltest.FaultTwice, After: at}
			s := modeltest.New(t, r, full())
			a := patientlyAsk(t, cl, s)
			seen := map[string]bool{}
			for _, c := range a.reply.Blocks.Calls() {
				pieces := cl.wire == modeltest.Chat || cl.wire == modeltest.Messages
				if seen[c.Name] || !pieces && !sameJSON(c.Args, made[c.Name]) {
					t.Errorf("%s, event %d: a call %s %s", cl.name, at, c.Name, c.Args)
				}
				seen[c.Name] = true
			}
			if a.err == nil && a.reply.Usage != full().Usage {
				t.Errorf("%s, event %d: usage %+v", cl.name, at, a.reply.Usage)
			}
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
}

func TestAFaultThatDoesNotPassIsNotAskedAboutAgain(t *testing.T) {
	for _, cl := range clients() {
		for name, c := range map[string]struct {
			status int
			header http.Header
			body   string
			kind   model.Kind
		}{
			"request":   {400, nil, `{"error":{"message":"bad field","type":"invalid_request_error"}}`, model.KindRequest},
			"key":       {401, nil, `{"error":{"message":"bad key"}}`, model.KindAuth},
			"forbidden": {403, nil, `{"error":{"message":"no access"}}`, model.KindAuth},
			"missing":   {404, nil, `{"error":{"message":"no such model"}}`, model.KindRequest},
			"too large": {413, nil, `{"error":{"type":"request_too_large","message":"too big"}}`, model.KindOverflow},
			"overflow":  {400, nil, `{"error":{"message":"prompt is too long: 200001 tokens > 200000 maximum"}}`, model.KindOverflow},
			"quota":     {429, http.Header{"Retry-After": {"1"}}, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, model.KindQuota},
			"forbade":   {529, http.Header{"X-Should-Retry": {"false"}}, ``, model.KindServer},
			"a page":    {200, http.Header{"Content-Type": {"text/html"}}, "<!doctype html><title>Login</title>", model.KindProtocol},
		} {
			s := modeltest.New(t, modeltest.Reply{Fault: modeltest.Fault{Kind: modeltest.FaultStatus, Status: c.status, Header: c.header, Body: c.body}}, full())
			a := patientlyAsk(t, cl, s)
			sentence(t, cl.name+" "+name, a.err, c.kind)
			if n := len(s.Requests()); n != 1 || a.waits != nil || strings.Contains(a.err.Error(), "gave up") {
				t.Errorf("%s %s: %d requests, %v", cl.name, name, n, a.err)
			}
		}
	}
}

func TestAStatedWaitIsKeptToInEveryForm(t *testing.T) {
	const slow = `{"error":{"message":"slow down","type":"rate_limit_error"}}`
	for _, cl := range clients() {
		for name, c := range map[string]struct {
			status int
			header http.Header
			body   string
			want   time.Duration
		}{
			"seconds":       {429, http.Header{"Retry-After": {"30"}}, slow, 30 * time.Second},
			"date":          {429, http.Header{"Retry-After": {"{http}"}}, slow, 30 * time.Second},
			"milliseconds":  {429, http.Header{"Retry-After-Ms": {"30000"}}, slow, 30 * time.Second},
			"duration":      {429, http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"30s"}}, slow, 30 * time.Second},
			"RFC 3339":      {429, http.Header{"Anthropic-Ratelimit-Requests-Remaining": {"0"}, "Anthropic-Ratelimit-Requests-Reset": {"{rfc3339}"}}, slow, 30 * time.Second},
			"RetryInfo":     {429, nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"30s"}]}}`, 30 * time.Second},
			"words":         {429, nil, `{"error":{"message":"Please try again in 30s.","code":"rate_limit_exceeded"}}`, 30 * time.Second},
			"with overload": {529, http.Header{"Retry-After": {"30"}}, "", 30 * time.Second},
			"with 503":      {503, http.Header{"Retry-After": {"30"}}, "", 30 * time.Second},
			"unsaid":        {429, nil, slow, 500 * time.Millisecond},
		} {
			s := modeltest.New(t, modeltest.Reply{Fault: modeltest.Fault{Kind: modeltest.FaultStatus, Status: c.status, Header: c.header, Later: 30 * time.Second, Body: c.body}}, full())
			a := patientlyAsk(t, cl, s)
			if a.err != nil || len(a.waits) != 1 {
				t.Errorf("%s %s: %v %+v", cl.name, name, a.err, a.waits)
				continue
			}
			if got := a.waits[0].Left; got != c.want {
				t.Errorf("%s %s: waits %v, want %v", cl.name, name, got, c.want)
			}
		}
	}
}
