//go:build unix

package cli_test

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jig/internal/model/modeltest"
)

// trouble is one row of the manual's table of faults.
type trouble struct {
	name    string
	dialect string // "" is openai
	fault   modeltest.Fault
	bytes   int    // cuts the stream into writes of so many bytes
	url     string // instead of a scripted provider's
}

func status(code int, header map[string]string, body string) modeltest.Fault {
	h := http.Header{}
	for k, v := range header {
		h.Set(k, v)
	}
	return modeltest.Fault{Kind: modeltest.FaultStatus, Status: code, Header: h, Body: body, Later: 4 * time.Minute}
}

func complaint(message, kind string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":%q}}`, message, kind)
}

const htmlPage = "<!doctype html><html><head><title>Bad Gateway</title></head><body>nginx</body></html>"

// troubles are what may go wrong with a provider.
func troubles(t *testing.T) []trouble {
	slow := complaint("slow down", "rate_limit_error")
	html := map[string]string{"Content-Type": "text/html"}
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	plain := httptest.NewServer(http.NotFoundHandler())
	for _, s := range []*httptest.Server{untrusted, plain} {
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		t.Cleanup(s.Close)
	}
	untrusted.StartTLS()
	in := func(k modeltest.FaultKind, calls, after int) modeltest.Fault {
		return modeltest.Fault{Kind: k, Calls: calls, After: after}
	}
	half := in(modeltest.FaultCut, 1, 1)
	half.Half = true
	wrong := in(modeltest.FaultType, 0, 0)
	wrong.Header = http.Header{"Content-Type": {"text/html"}}
	info := `{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"240s"}]}}`
	return []trouble{
		{name: "the host name is unknown", url: "http://no-such-host.invalid"},
		{name: "nobody listens", url: "http://127.0.0.1:1"},
		{name: "a certificate that is not trusted", url: untrusted.URL},
		{name: "no TLS where there should be", url: strings.Replace(plain.URL, "http:", "https:", 1)},
		{name: "400", fault: status(400, nil, complaint("temperature: range 0..1", "invalid_request_error"))},
		{name: "401", fault: status(401, nil, complaint("Incorrect API key", "invalid_request_error"))},
		{name: "403", fault: status(403, nil, complaint("No access to this model", "permission_error"))},
		{name: "404", fault: status(404, nil, complaint("The model m does not exist", "invalid_request_error"))},
		{name: "413", fault: status(413, nil, complaint("Request exceeds the maximum size", "request_too_large"))},
		{name: "the conversation is too long", fault: status(400, nil, `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`)},
		{name: "the quota is used up", fault: status(429, map[string]string{"Retry-After": "1"}, complaint("You exceeded your current quota", "insufficient_quota"))},
		{name: "an account without money, told as a limit", fault: status(429, nil, complaint("Your account is suspended due to insufficient balance", "exceeded_current_quota_error"))},
		{name: "a request that is more than a minute's limit", fault: status(429, nil, complaint("Request too large for m on tokens per min (TPM): Limit 30000, Requested 50000", "tokens"))},
		{name: "429, without a word of how long", fault: status(429, nil, slow)},
		{name: "429, `Retry-After` in seconds", fault: status(429, map[string]string{"Retry-After": "240"}, slow)},
		{name: "429, `Retry-After` as a date", fault: status(429, map[string]string{"Retry-After": "{http}"}, slow)},
		{name: "429, `retry-after-ms`", fault: status(429, map[string]string{"Retry-After-Ms": "240000"}, slow)},
		{name: "429, `x-ratelimit-reset-tokens`", fault: status(429, map[string]string{"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "4m0s"}, slow)},
		{name: "429, `anthropic-ratelimit-requests-reset`", dialect: "anthropic", fault: status(429, map[string]string{"Anthropic-Ratelimit-Requests-Remaining": "0", "Anthropic-Ratelimit-Requests-Reset": "{rfc3339}"}, slow)},
		{name: "429, Google's `RetryInfo`", dialect: "gemini", fault: status(429, nil, info)},
		{name: "429 for an hour", fault: status(429, map[string]string{"Retry-After": "3600"}, slow)},
		{name: "500", fault: status(500, nil, complaint("internal error", "server_error"))},
		{name: "529", dialect: "anthropic", fault: status(529, nil, "")},
		{name: "a gateway's page, 502", fault: status(502, html, htmlPage)},
		{name: "a page with status 200", fault: status(200, html, strings.Replace(htmlPage, "Bad Gateway", "Log in", 1))},
		{name: "a text with status 200", fault: status(200, nil, "error code: 1015")},
		{name: "204", fault: status(204, nil, "")},
		{name: "an answer of another dialect", fault: status(200, map[string]string{"Content-Type": "text/event-stream"}, "data: <oops>\n\n")},
		{name: "torn down before the first byte", fault: in(modeltest.FaultCut, 0, 0)},
		{name: "torn down after a call", fault: in(modeltest.FaultCut, 1, 0)},
		{name: "torn down between two calls, in the middle of an event", fault: half},
		{name: "ended without a reason", fault: in(modeltest.FaultEnd, 0, 3)},
		{name: "an error in the stream", fault: in(modeltest.FaultError, 1, 0)},
		{name: "no answer", fault: in(modeltest.FaultMute, 0, 0)},
		{name: "silence in the middle", fault: in(modeltest.FaultSilent, 0, 3)},
		{name: "silence after a call", fault: in(modeltest.FaultSilent, 1, 0)},
		{name: "nothing but keep-alives", fault: in(modeltest.FaultAlive, 0, 3)},
		{name: "characters cut in two", bytes: 1},
		{name: "an event twice", fault: in(modeltest.FaultTwice, 0, 0)},
		{name: "an event of 5 MB", fault: in(modeltest.FaultLong, 0, 2)},
		{name: "a wrong content type", fault: wrong},
		{name: "no end mark", fault: in(modeltest.FaultOpen, 0, 0)},
		{name: "a stream that never ends", fault: in(modeltest.FaultLinger, 0, 0)},
	}
}

// haste is how many times faster the observed runs wait than they say.
const haste = 150

// TestFaultTableIsCurrent: what the manual says of each fault is what a run did that met it.
func TestFaultTableIsCurrent(t *testing.T) {
	rows := troubles(t)
	seen := make([]string, len(rows))
	var all sync.WaitGroup
	some := make(chan struct{}, 12)           // most of them only wait
	for i, r := range slices.Backward(rows) { // the slow ones are at the end
		all.Go(func() {
			some <- struct{}{}
			defer func() { <-some }()
			seen[i] = watch(t, r)
		})
	}
	all.Wait()
	path := filepath.Join("..", "..", "docs", "faults.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- generated: faults -->\n", "<!-- end -->"
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/faults.md has no place for the table")
	}
	want := head + begin + "\n| fault | tries | longest wait | on standard error within a second | the `waiting` line within a second | last sentence | exit code |\n|---|---|---|---|---|---|---|\n" +
		strings.Join(seen, "") + "\n" + end + tail
	switch {
	case flag.Lookup("update").Value.String() == "true":
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(page):
		for _, row := range seen {
			if !strings.Contains(rest, row) {
				t.Errorf("observed:\n%s", row)
			}
		}
		t.Error("docs/faults.md is stale: run make generate")
	}
}

var port = regexp.MustCompile(`127\.0\.0\.1(:\d+)?`)

// watch observes a fault until every wait was seen: they are so short here that a reader who is not
// fast enough only gets the newest.
func watch(t *testing.T, r trouble) string {
	for range 5 {
		if row, whole := observe(t, r); whole {
			return row
		}
	}
	t.Errorf("%s: not every try had a wait that was shown", r.name)
	return ""
}

// observe makes a run meet a fault again and again, and gives the row of what came of it.
func observe(t *testing.T, r trouble) (row string, whole bool) {
	url := r.url
	var s *modeltest.Server
	if url == "" {
		reply := modeltest.Reply{Text: "All is well.", Fault: r.fault, Bytes: r.bytes}
		if r.fault.Calls > 0 {
			reply.Calls = []modeltest.Call{{ID: "a", Name: "write_file", Args: `{"path":"one","content":"1"}`}, {ID: "b", Name: "write_file", Args: `{"path":"two","content":"2"}`}}
		}
		s = modeltest.New(t)
		for range 40 {
			s.Add(reply)
		}
		url = s.URL
	}
	dialect := r.dialect
	if dialect == "" {
		dialect = "openai"
	}
	run := start(t, config(dialect, url), haste)
	run.wait()
	for _, made := range []string{"one", "two"} {
		if _, err := os.Stat(filepath.Join(run.dir, made)); err == nil {
			t.Errorf("%s: a call of a reply that broke off was run", r.name)
		}
	}
	waits, silent := run.waits(t), run.silent()
	tries := len(waits) + 1
	if s != nil && len(s.Requests()) != tries || len(waits) > 0 && waits[len(waits)-1].Try != tries {
		return "", false
	}
	mute := r.fault.Kind == modeltest.FaultMute || r.fault.Kind == modeltest.FaultSilent || r.fault.Kind == modeltest.FaultAlive
	if mute && silent != 30 {
		return "", false
	}
	stderr := slices.Clone(run.stderr)
	if !mute { // a machine that is busy makes any answer seem slow
		stderr = slices.DeleteFunc(stderr, func(l line) bool { return strings.Contains(l.text, " has sent nothing") })
	}
	var total time.Duration
	for _, w := range waits {
		total += time.Duration(w.Seconds*float64(time.Second)) + silentFor(w.Why)
	}
	last := ""
	if len(stderr) > 0 {
		last = strings.TrimPrefix(stderr[len(stderr)-1].text, "jig: ")
	}
	total += silentFor(last)
	if m := usedUp.FindStringSubmatch(last); m != nil {
		total, _ = time.ParseDuration(m[1])
	}
	if mute && total > 10*time.Minute {
		return "", false // two limits that are half a second apart are here as good as one
	}
	if total.Round(time.Second) > 10*time.Minute {
		t.Errorf("%s: %s are more than is waited in all", r.name, total)
	}
	first, event := "", ""
	known := run.said
	if s != nil && len(s.Requests()) > 0 {
		known = s.Requests()[0].At
	}
	switch {
	case mute:
		if l := stderr[0]; l.at.Sub(known.Add(30*time.Second/haste)) < time.Second {
			first = "after 30s: " + strings.TrimPrefix(l.text, "jig: ")
			event = fmt.Sprintf("after 30s: kind silence, %gs of it, try 1", silent)
		}
	case len(waits) > 0:
		known = known.Add(silentFor(waits[0].Why) / haste)
		if l := stderr[0]; l.at.Sub(known) < time.Second {
			first = strings.TrimPrefix(l.text, "jig: ")
		}
		if w := waits[0]; w.at.Sub(known) < time.Second {
			event = fmt.Sprintf(`kind %s, %gs left, try %d`, w.Kind, w.Seconds, w.Try)
			if w.Tries > 0 {
				event += fmt.Sprintf(" of %d", w.Tries)
			}
		}
	case len(stderr) > 0 && stderr[0].at.Sub(known) < time.Second:
		first = "the last sentence"
	}
	if last == "" {
		last = "none: the answer comes"
		if run.reply(t) != "All is well." {
			t.Errorf("%s: the answer is %q", r.name, run.reply(t))
		}
	}
	cells := []string{r.name, fmt.Sprint(tries), total.Round(time.Second).String(), first, event, last, fmt.Sprint(run.code)}
	for i, c := range cells {
		if c == "" {
			c = "–"
		}
		cells[i] = strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "P_API_KEY", "NAME_API_KEY").Replace(port.ReplaceAllString(c, "HOST"))
	}
	return "| " + strings.Join(cells, " | ") + " |\n", true
}

var silence = regexp.MustCompile(`sent (?:no answer|nothing more|nothing but keep-alives|nothing) for (\S+)`)

// usedUp finds how long was waited when a silence used that up.
var usedUp = regexp.MustCompile(`sent nothing.* in the last try \(.*?(\S+) is the longest that is waited`)

// silentFor is how long nothing came, by what is said of it.
func silentFor(why string) time.Duration {
	m := silence.FindStringSubmatch(why)
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(m[1])
	return d
}
