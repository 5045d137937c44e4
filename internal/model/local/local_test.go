package local

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// soon is a limit that tests reach, long one that they do not.
const soon, long = 300 * time.Millisecond, time.Minute

// listen starts a server on loopback and gives its port.
func listen(t *testing.T, f http.HandlerFunc) Port {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return portOf(t, s.Listener)
}

func portOf(t *testing.T, l net.Listener) Port {
	t.Helper()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return Port{Number: n}
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, body)
	}
}

// As Ollama, LM Studio, llama.cpp and vLLM answer, cut to what differs.
func TestServersAsTheyAnswerAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		models []string
		left   int
	}{
		"ollama": {`{"object":"list","data":[{"id":"nomic-embed-text:latest","object":"model","created":1,"owned_by":"library"},
			{"id":"gpt-oss:120b-cloud","object":"model"},{"id":"glm-5:cloud","object":"model"},
			{"id":"qwen3:8b","object":"model","created":1,"owned_by":"library"},{"id":"hf.co/unsloth/Qwen3-GGUF:Q4_K_M","object":"model"}]}` + "\n",
			[]string{"qwen3:8b", "hf.co/unsloth/Qwen3-GGUF:Q4_K_M"}, 3},
		"lm studio": {`{"data":[{"id":"openai/gpt-oss-20b","object":"model","owned_by":"organization_owner"},{"id":"text-embedding-nomic-embed-text-v1.5","object":"model"}],"object":"list"}`,
			[]string{"openai/gpt-oss-20b"}, 1},
		"llama.cpp": {`{"models":[{"name":"../models/a_b-8B.gguf","capabilities":["completion"]}],"object":"list","data":[{"id":"../models/a_b-8B.gguf","object":"model","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
			[]string{"../models/a_b-8B.gguf"}, 0},
		"vllm": {`{"object":"list","data":[{"id":"NousResearch/Meta-Llama-3-8B-Instruct","object":"model","owned_by":"vllm","max_model_len":8192,"permission":[{"id":"modelperm-1","object":"model_permission"}]}]}`,
			[]string{"NousResearch/Meta-Llama-3-8B-Instruct"}, 0},
	} {
		var got http.Header
		var path string
		p := listen(t, func(w http.ResponseWriter, r *http.Request) {
			got, path = r.Header.Clone(), r.Method+" "+r.RequestURI
			says(c.body)(w, r)
		})
		found := Find(context.Background(), []Port{p}, long)
		want := []Server{{Port: p, URL: fmt.Sprintf("http://127.0.0.1:%d", p.Number), Models: c.models, Left: c.left}}
		if d := cmp.Diff(want, found); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if path != "GET /v1/models" || got.Get("Authorization") != "" || got.Get("Cookie") != "" {
			t.Errorf("%s: asked %s with %v", name, path, got)
		}
	}
}

func TestWhatIsNoModelServerIsNotTakenForOne(t *testing.T) {
	elsewhere := 0
	other := listen(t, func(w http.ResponseWriter, r *http.Request) {
		elsewhere++
		says(`{"object":"list","data":[{"id":"a"}]}`)(w, r)
	})
	status := func(code int, kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Location", fmt.Sprintf("http://127.0.0.1:%d/v1/models", other.Number))
			w.WriteHeader(code)
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"a"}]}`)
		}
	}
	for name, f := range map[string]http.HandlerFunc{
		"a page":               status(200, "text/html"),
		"no type":              status(200, ""),
		"a redirect":           status(302, "application/json"),
		"a redirect that asks": status(307, "application/json"),
		"a refusal":            status(401, "application/json"),
		"not a list":           says(`{"object":"error","data":[{"id":"a"}]}`),
		"no object":            says(`{"data":[{"id":"a"}]}`),
		"an array":             says(`[{"id":"a"}]`),
		"no models":            says(`{"object":"list","data":[]}`),
		"null":                 says(`{"object":"list","data":null}`),
		"an id that is none":   says(`{"object":"list","data":[{"id":"a"},{"id":7}]}`),
		"two answers":          says(`{"object":"list","data":[{"id":"a"}]}{"object":"list","data":[{"id":"b"}]}`),
		"cut":                  says(`{"object":"list","data":[{"id":"a"}`),
		"only embeddings":      says(`{"object":"list","data":[{"id":"nomic-embed-text"}]}`),
		"too long":             says(`{"object":"list","data":[{"id":"a"}]` + strings.Repeat(" ", maxAnswer) + `}`),
		"deep":                 says(strings.Repeat("[", 100_000)),
		"a long head": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 2*maxHeader))
			says(`{"object":"list","data":[{"id":"a"}]}`)(w, r)
		},
	} {
		if found := Find(context.Background(), []Port{listen(t, f)}, long); found != nil {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if elsewhere > 0 {
		t.Errorf("a redirect was followed %d times", elsewhere)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := portOf(t, l)
	_ = l.Close()
	if found := Find(context.Background(), []Port{p, {Number: 70_000}, {Number: -1}}, long); found != nil {
		t.Errorf("where nobody listens: %+v", found)
	}
}

func TestNamesThatCouldSteerAreLeftOut(t *testing.T) {
	bad := []string{"", "a b", "a\u001b[2Jb", "a\nmodel: x", "a\u202eb", "а", "${env:OPENAI_API_KEY}", "$HOME", `a"b`, "a'b", "a#b", "{a}", "a,b", "*", "-a", ":a", "a\x00", "a\u00ff", "~/a", strings.Repeat("a", maxName+1)}
	body := `{"object":"list","data":[`
	for _, b := range bad {
		body += fmt.Sprintf(`{"id":%s},`, quote(b))
	}
	body += `{"id":"good"},{"id":"good"}]}`
	found := Find(context.Background(), []Port{listen(t, says(body))}, long)
	if len(found) != 1 || !cmp.Equal(found[0].Models, []string{"good"}) || found[0].Left != len(bad) {
		t.Errorf("%+v", found)
	}
}

// quote writes a string in JSON.
func quote(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return `"` + b.String() + `"`
}

func TestLongListsAreCut(t *testing.T) {
	var b strings.Builder
	for i := range maxModels + 5 {
		fmt.Fprintf(&b, `,{"id":"m%d"}`, i)
	}
	models, left := parse([]byte(`{"object":"list","data":[` + b.String()[1:] + `]}`))
	if len(models) != maxModels || left != 5 {
		t.Errorf("%d models, %d left", len(models), left)
	}
}

// Each server answers only once all have been asked.
func TestAllPortsAreAskedAtOnce(t *testing.T) {
	const n = 9
	var asked sync.WaitGroup
	asked.Add(n)
	var ports []Port
	for range n {
		ports = append(ports, listen(t, func(w http.ResponseWriter, r *http.Request) {
			asked.Done()
			asked.Wait()
			says(`{"object":"list","data":[{"id":"a"}]}`)(w, r)
		}))
	}
	found := Find(context.Background(), ports, long)
	if len(found) != n {
		t.Fatalf("%d of %d were found", len(found), n)
	}
	for i, s := range found {
		if s.Port != ports[i] {
			t.Errorf("%d is %+v, want %+v", i, s.Port, ports[i])
		}
	}
}

func TestServersThatKeepOneWaitingAreGivenUp(t *testing.T) {
	mute := listen(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	endless := listen(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	})
	// It takes a connection and never reads.
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.Close() }()
	good := listen(t, says(`{"object":"list","data":[{"id":"a"}]}`))
	found := Find(context.Background(), []Port{mute, endless, portOf(t, deaf), good}, soon)
	if len(found) != 1 || found[0].Port != good {
		t.Errorf("%+v", found)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if found := Find(ctx, []Port{mute, good}, long); found != nil {
		t.Errorf("after the person had gone: %+v", found)
	}
}

func FuzzAnswersGiveOnlyPlainNames(f *testing.F) {
	for _, s := range []string{`{"object":"list","data":[{"id":"a"}]}`, `{"object":"list","data":[{"id":"\u001b[2J"},{"id":"b:c/d"}]}`, `{"object":"list","data":[{"id":null}]}`, `[]`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		models, left := parse(data)
		if len(models) > maxModels || left < 0 {
			t.Fatalf("%d models, %d left", len(models), left)
		}
		for _, m := range models {
			if strings.Trim(m, `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/@+\`) != "" || m == "" || len(m) > maxName {
				t.Fatalf("%q", m)
			}
		}
	})
}
