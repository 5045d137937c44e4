package modeltest_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/msg"
)

// kindOf is an error's kind, "" when it has none.
func kindOf(err error) model.Kind {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func ask(m model.Model, name string) (model.Reply, error) {
	return m.Stream(context.Background(), model.Request{Model: name, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
}

// sentence checks that an error is one line for a person, of a kind, without a secret.
func sentence(t *testing.T, who string, err error, kind model.Kind, parts ...string) {
	t.Helper()
	if kindOf(err) != kind {
		t.Errorf("%s: kind %q, want %q: %v", who, kindOf(err), kind, err)
		return
	}
	text := err.Error()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s: %q does not say %q", who, text, p)
		}
	}
	if strings.ContainsAny(text, "\r\n\t") || strings.Contains(text, modeltest.Key) || len([]rune(text)) > 600 {
		t.Errorf("%s: not one clean line: %q", who, text)
	}
}

func TestAStreamThatBreaksIsAnErrorWithWhatHadCome(t *testing.T) {
	reply := modeltest.Reply{Text: "some words", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: `{"path":"x"}`}}}
	for _, cl := range clients() {
		for after := range 6 {
			for kind, want := range map[modeltest.FaultKind]model.Kind{
				modeltest.FaultCut: model.KindNetwork, modeltest.FaultEnd: model.KindNetwork, modeltest.FaultError: model.KindServer,
			} {
				r := reply
				r.Fault = modeltest.Fault{Kind: kind, After: after}
				got, err := ask(cl.make(t, modeltest.New(t, r)), cl.model)
				sentence(t, cl.name+" "+string(kind), err, want)
				if after == 5 && got.Blocks.Text() == "" || got.Stop != "" {
					t.Errorf("%s %s: reply %+v", cl.name, kind, got)
				}
			}
		}
	}
}

func TestACutAfterTheFinishReasonLosesNothing(t *testing.T) {
	for _, cl := range clients() {
		// The last event is the end mark; all before it have come.
		n := 5
		switch cl.wire {
		case modeltest.Messages:
			n = 6
		case modeltest.Responses:
			n = 9
		}
		s := modeltest.New(t, modeltest.Reply{Text: "ok", Fault: modeltest.Fault{Kind: modeltest.FaultCut, After: n}})
		if got, err := ask(cl.make(t, s), cl.model); err != nil || got.Stop != model.StopEnd || got.Blocks.Text() != "ok" {
			t.Errorf("%s: %+v %v", cl.name, got, err)
		}
	}
}

func TestEveryStatusBecomesASentenceThatSaysWhatToDo(t *testing.T) {
	page := "<!DOCTYPE html><html><head><title>502\n Bad Gateway</title></head><body>x</body></html>"
	for _, cl := range clients() {
		for name, c := range map[string]struct {
			status int
			header http.Header
			body   string
			kind   model.Kind
			says   []string
		}{
			"bad request":     {400, nil, `{"error":{"message":"temperature: range: 0..1","type":"invalid_request_error"}}`, model.KindRequest, []string{"(400)", "temperature: range: 0..1"}},
			"overflow":        {400, nil, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`, model.KindOverflow, []string{"too long", "start a new one"}},
			"prompt too big":  {400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}`, model.KindOverflow, nil},
			"key":             {401, nil, `{"error":{"message":"Incorrect API key provided: ` + modeltest.Key + `"}}`, model.KindAuth, []string{"_API_KEY", "[secret]", "(401)"}},
			"forbidden":       {403, nil, `{"error":{"message":"no access"}}`, model.KindAuth, []string{"no access"}},
			"payment":         {402, nil, ``, model.KindQuota, []string{"billing"}},
			"not found":       {404, nil, `{"error":{"message":"model: gpt-99"}}`, model.KindRequest, []string{"gpt-99", "/v1", "url"}},
			"not found page":  {404, http.Header{"Content-Type": {"text/html"}}, page, model.KindRequest, []string{"http://127.0.0.1:", "/v1", `a web page titled "502 Bad Gateway"`}},
			"too large":       {413, nil, `{"error":{"type":"request_too_large","message":"too big"}}`, model.KindOverflow, []string{"too big"}},
			"limit":           {429, http.Header{"Retry-After": {"7"}}, `{"error":{"type":"rate_limit_error","message":"slow down"}}`, model.KindLimit, []string{"slow down", "wait"}},
			"quota":           {429, nil, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, model.KindQuota, []string{"exceeded your current quota"}},
			"credit":          {400, nil, `{"error":{"message":"Your credit balance is too low to access the API","type":"invalid_request_error"}}`, model.KindQuota, nil},
			"broken":          {500, nil, `{"error":"boom"}`, model.KindServer, []string{"boom", "try again later"}},
			"gateway":         {502, http.Header{"Content-Type": {"text/html"}}, page, model.KindServer, []string{"a web page"}},
			"overloaded":      {529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.KindServer, []string{"Overloaded"}},
			"text":            {503, nil, "upstream\nconnect error\t" + strings.Repeat("é", 2000), model.KindServer, []string{"upstream connect error"}},
			"list":            {400, nil, `[{"error":{"code":400,"message":"in a list"}}]`, model.KindRequest, []string{"in a list"}},
			"detail":          {422, nil, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, model.KindRequest, []string{"field required"}},
			"redirect":        {307, http.Header{"Location": {"https://elsewhere.example/v1"}}, "x", model.KindRequest, []string{"https://elsewhere.example/v1", "url"}},
			"error in 200":    {200, nil, `{"error":{"message":"no such model","type":"invalid_request_error"}}`, model.KindRequest, []string{"no such model"}},
			"error in stream": {200, http.Header{"Content-Type": {"text/event-stream"}}, "\n {\"error\":{\"message\":\"no such model\",\"type\":\"invalid_request_error\"}}", model.KindRequest, []string{"no such model"}},
			"plain in 200":    {200, http.Header{"Content-Type": {"text/plain"}}, `{"error":"over capacity","code":503}`, model.KindServer, []string{"over capacity"}},
			"code in stream":  {200, nil, `{"error":{"message":"slow down","code":429}}`, model.KindLimit, []string{"slow down"}},
			"page in 200":     {200, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, page, model.KindProtocol, []string{"text/html", "web page", "url"}},
			"empty 200":       {200, http.Header{"Content-Type": {"text/event-stream"}}, "\n", model.KindNetwork, []string{"empty"}},
			"other JSON":      {200, nil, `{"hello":1}`, model.KindProtocol, []string{"not with a model's reply"}},
			"other events":    {200, http.Header{"Content-Type": {"text/event-stream"}}, "data: <oops>\n\n", model.KindProtocol, nil},
			"error as event":  {200, http.Header{"Content-Type": {"text/event-stream"}}, "data: {\"type\":\"error\",\"error\":{\"message\":\"boom\",\"type\":\"api_error\"}}\n\n", model.KindServer, []string{"boom"}},
		} {
			s := modeltest.New(t, modeltest.Reply{Fault: modeltest.Fault{Kind: modeltest.FaultStatus, Status: c.status, Header: c.header, Body: c.body}})
			_, err := ask(cl.make(t, s), cl.model)
			sentence(t, cl.name+" "+name, err, c.kind, c.says...)
			var e *model.Error
			if errors.As(err, &e) && c.status != 200 && e.Status != c.status {
				t.Errorf("%s %s: status %d", cl.name, name, e.Status)
			}
			if name == "limit" && e.After != 7*time.Second {
				t.Errorf("%s: after %v", cl.name, e.After)
			}
		}
	}
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	for who, u := range map[string]string{
		"refused": "http://127.0.0.1:1", "name": "http://no-such-host.invalid", "TLS": "", "no scheme": "localhost:8080", "nonsense": "::", "secret": "https://user:hunter22@no-such-host.invalid/v1?key=hunter22",
	} {
		if who == "TLS" {
			plain := httptest.NewServer(http.NotFoundHandler())
			plain.Config.ErrorLog = log.New(io.Discard, "", 0)
			defer plain.Close()
			u = strings.Replace(plain.URL, "http:", "https:", 1)
		}
		for _, cl := range clients() {
			_, err := ask(open(t, cl.open(openai.Options{URL: u, Key: modeltest.Key})), "m")
			kind, says := model.KindNetwork, "url"
			if who == "no scheme" || who == "nonsense" {
				kind, says = model.KindRequest, "base URL"
			}
			sentence(t, who, err, kind, says)
			if strings.Contains(err.Error(), "hunter22") {
				t.Errorf("%s: %v", who, err)
			}
		}
	}
}

func TestAnUntrustedCertificateIsNamed(t *testing.T) {
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	defer tls.Close()
	_, err := ask(open(t, openai.New(openai.Options{URL: tls.URL})), "m")
	sentence(t, "certificate", err, model.KindNetwork, "certificate")
}

func TestCancellingEndsASilentStreamAtOnceAndLeavesNothingBehind(t *testing.T) {
	for _, cl := range clients() {
		for after := range 3 {
			s := modeltest.New(t, modeltest.Reply{Text: "some words", Fault: modeltest.Fault{Kind: modeltest.FaultSilent, After: after}})
			ctx, cancel := context.WithCancel(context.Background())
			heard := make(chan struct{}, 100)
			m := cl.make(t, s)
			done := make(chan error, 1)
			go func() {
				_, err := m.Stream(ctx, model.Request{Model: cl.model, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, func(model.Delta) { heard <- struct{}{} })
				done <- err
			}()
			for len(s.Requests()) == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
			select {
			case err := <-done:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s after %d events: %v", cl.name, after, err)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s after %d events: still waiting", cl.name, after)
			}
		}
	}
}

func TestACancelledContextSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, cl := range clients() {
		s := modeltest.New(t, modeltest.Reply{Text: "x"})
		_, err := cl.make(t, s).Stream(ctx, model.Request{Model: cl.model, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
		if !errors.Is(err, context.Canceled) || len(s.Requests()) != 0 {
			t.Errorf("%s: %v, %d requests", cl.name, err, len(s.Requests()))
		}
	}
}

func TestRequestsGoThroughTheProxyWithExtraHeaders(t *testing.T) {
	for _, cl := range clients() {
		s := modeltest.New(t, modeltest.Reply{Text: "ok"})
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Host != "model.invalid" || r.Header.Get("X-Team") != "blue" || r.Header.Get("User-Agent") != "mine" {
				t.Errorf("%s: %s %v", cl.name, r.URL, r.Header)
			}
			target, _ := url.Parse(s.URL)
			r.URL.Host, r.URL.Scheme, r.RequestURI = target.Host, "http", ""
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
			buf := make([]byte, 4096)
			for {
				n, err := res.Body.Read(buf)
				_, _ = w.Write(buf[:n])
				if err != nil {
					return
				}
			}
		}))
		at, _ := url.Parse(proxy.URL)
		o := openai.Options{URL: "http://model.invalid", Key: modeltest.Key, Proxy: http.ProxyURL(at), Headers: map[string]string{"x-team": "blue", "user-agent": "mine"}}
		if _, err := ask(open(t, cl.open(o)), cl.model); err != nil {
			t.Errorf("%s: %v", cl.name, err)
		}
		proxy.Close()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestAKeyIsNotNeededOnTheOwnMachine(t *testing.T) {
	for _, cl := range clients() {
		s := modeltest.New(t, modeltest.Reply{Text: "ok"})
		s.Keyless = true
		m := open(t, cl.open(openai.Options{URL: s.URL}))
		if _, err := ask(m, cl.model); err != nil || s.Requests()[0].Header.Get("Authorization") != "" {
			t.Errorf("%s: %v", cl.name, err)
		}
		s.Keyless = false
		_, err := ask(m, cl.model)
		sentence(t, cl.name, err, model.KindAuth, "wants a key", "_API_KEY")
	}
}
