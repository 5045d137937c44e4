package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"jig/internal/agent"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/store"
	"jig/internal/tool"
)

// TestASecondProcessIsToldWhoWritesTheSession: one process at a time writes a session, and one that was
// killed writes none.
func TestASecondProcessIsToldWhoWritesTheSession(t *testing.T) {
	s := newScene(t, "openai")
	late := modeltest.Fault{Kind: modeltest.FaultLate, After: 3, Later: time.Minute}
	server := s.serves(modeltest.Reply{Text: "Begun."}, modeltest.Reply{Text: "This takes a while.", Fault: late}, modeltest.Reply{Text: "Aside."}, modeltest.Reply{Text: "Here again."})
	first := s.jig("run", "-m", "begin", "--output-format", "jsonl")
	id, _, _ := s.told(first)
	writing := make(chan bool, 1)
	r := s.start(nil, func(line string) {
		if strings.Contains(line, `"type":"delta"`) {
			writing <- true
		}
	}, "resume", id, "-m", "and then", "--output-format", "jsonl")
	<-writing

	name, err := os.Hostname()
	must(t, err)
	for _, args := range [][]string{{"resume", id, "-m", "x"}, {"resume", id, "--rewind", "1"}, {"resume", id, "--retry"}} {
		second := s.jig(args...)
		want := fmt.Sprintf("jig: session %s is open in another jig (pid %d on %s, since ", id, r.cmd.Process.Pid, name)
		if text := second.stderr.String(); second.code != 1 || !strings.HasPrefix(text, want) || !strings.Contains(text, "--fork") || strings.Count(text, "\n") != 1 || len(second.stdout) > 0 {
			t.Errorf("%v: exit code %d, %q", args, second.code, text)
		}
	}
	aside := s.jig("resume", id, "--fork", "-m", "aside", "--output-format", "jsonl")
	copied, said, _ := s.told(aside)
	if aside.code != 0 || copied == id || !strings.Contains(aside.stdout[len(aside.stdout)-1], "Aside.") {
		t.Errorf("a copy: exit code %d, %s", aside.code, aside.stderr.String())
	}
	s.keeps(said, s.look(copied))
	before := s.look(id)
	if !s.left(before).turn {
		t.Error("the copy ended the turn of the other")
	}
	r.kill()
	s.wait(r)
	third := s.jig("resume", id, "-m", "again", "--output-format", "jsonl")
	if third.code != 0 || !strings.Contains(third.stdout[len(third.stdout)-1], "Here again.") {
		t.Errorf("once the other was killed: exit code %d, %s", third.code, third.stderr.String())
	}
	s.keeps(before, s.look(id))
	if refused := server.Refused(); refused != nil {
		t.Errorf("the provider refused: %q", refused)
	}
}

// TestRunsAndTheirChildrenWriteOneDatabaseAtOnce: also when none of them finds one.
func TestRunsAndTheirChildrenWriteOneDatabaseAtOnce(t *testing.T) {
	const parents = 6
	s := newScene(t, "openai")
	self, err := built()
	must(t, err)
	config := "agents:\n  child: {model: \"c:m\"}\n"
	var providers string
	add := func(name string, replies ...modeltest.Reply) {
		server := modeltest.New(t, replies...)
		t.Cleanup(func() {
			if refused := server.Refused(); refused != nil {
				t.Errorf("%s: the provider refused: %q", name, refused)
			}
		})
		providers += fmt.Sprintf("  %s: {type: openai, url: %q, key: %s}\n", name, server.URL, modeltest.Key)
	}
	for i := range parents {
		name := fmt.Sprint("p", i)
		config += fmt.Sprintf("  %s: {model: \"%s:m\", tools: {code: {}, shell: {auto_run: true}}}\n", name, name)
		look := modeltest.Reply{Calls: []modeltest.Call{call("l1", "read_file", `{"path":"big.txt","limit":300}`), call("l2", "list_dir", `{}`)}}
		child := self + " run child -m task"
		add(name, look, look, modeltest.Reply{Calls: []modeltest.Call{shell("c1", child+" & "+child+"; wait")}}, look, modeltest.Reply{Text: "Done."})
	}
	script := filepath.Join(s.home, "child.yaml") // a child has no network
	s.write(script, "version: 1\nreplies:\n  - text: The child is done.\n")
	providers += fmt.Sprintf("  c: {type: replay, url: %q}\n", script)
	s.write(filepath.Join(s.home, ".config/jig/config.yaml"), "providers:\n"+providers+config)

	var runs []*run
	for i := range parents {
		runs = append(runs, s.start(nil, nil, "run", fmt.Sprint("p", i), "-m", "begin", "--output-format", "jsonl"))
	}
	for _, r := range runs {
		s.wait(r)
		id, said, _ := s.told(r)
		if r.code != 0 || strings.Count(strings.Join(r.stdout, ""), "The child is done.") < 2 {
			t.Errorf("exit code %d: %s", r.code, r.stderr.String())
		}
		log := s.look(id)
		s.keeps(said, log)
		if l := s.left(log); l.turn || len(l.open) > 0 || len(said) != len(log) {
			t.Errorf("%s: %d facts were said, %d are kept; %+v", id, len(said), len(log), l)
		}
	}
	d, err := store.Open(filepath.Join(s.data(), "jig.db"))
	must(t, err)
	defer d.Close()
	all, err := d.List(store.Query{})
	must(t, err)
	if len(all) != 3*parents {
		t.Errorf("%d sessions, want %d", len(all), 3*parents)
	}
	for _, i := range all {
		if i.Held || i.State != "done" || s.left(s.look(i.ID)).turn {
			t.Errorf("%+v", i)
		}
	}
}

// poison is what a model says that no log and no request may be spoilt by: half a character, control
// characters, bytes that are no text. The calls bring more of it.
const poison = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"half \ud800 nul \u0000 title \u001b]0;t\u0007 bytes ` + "\xff\xfe" + `"},"finish_reason":null}]}

data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[` +
	`{"index":0,"id":"a1","type":"function","function":{"name":"shell","arguments":"{\"command\":\"printf 'a\\\\0b\\\\033]0;t\\\\007\\\\377\\\\n'\"}"}},` +
	`{"index":1,"id":"a2","type":"function","function":{"name":"shell","arguments":"{\"command\":\"echo half \\ud800 nul \\u0000\"}"}},` +
	`{"index":2,"id":"a3","type":"function","function":{"name":"write_file","arguments":"{\"path\":\"p\",\"content\":\"\ud800\u0000\u001b` + "\xff" + `\"}"}},` +
	`{"index":3,"id":"a4","type":"function","function":{"name":"sh\ud800ell\u0000","arguments":"{}"}}]},"finish_reason":null}]}

data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`

const plain = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Done."},"finish_reason":"stop"}]}

data: [DONE]

`

// halves finds half a character that is written as an escape.
var halves = regexp.MustCompile(`[^\\](\\\\)*\\u[dD][89a-fA-F]`)

func TestPoisonIsKeptReadAgainAndSentAgain(t *testing.T) {
	s := newScene(t, "openai")
	var mu sync.Mutex
	var bodies [][]byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, body)
		n := len(bodies)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		if n == 1 {
			_, _ = io.WriteString(w, poison)
			return
		}
		_, _ = io.WriteString(w, plain)
	}))
	defer server.Close()
	s.at(server.URL)
	r := s.jig("run", "-m", "begin \xff \x1b]0;t\x07", "--output-format", "jsonl")
	id, said, _ := s.told(r)
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr.String())
	}
	for _, l := range r.stdout {
		if strings.ContainsFunc(l, func(c rune) bool {
			return c < ' ' || c == utf8.RuneError && !strings.Contains(l, "\uFFFD") || c >= 0x7f && c < 0xa0
		}) {
			t.Errorf("a terminal would be steered by %q", l)
		}
	}
	s.keeps(said, s.look(id))
	again := s.jig("resume", id, "-m", "go on \xff", "--output-format", "jsonl")
	if again.code != 0 || again.stderr.Len() > 0 {
		t.Fatalf("exit code %d: %s", again.code, again.stderr.String())
	}
	s.keeps(said, s.look(id))
	if len(bodies) != 3 {
		t.Fatalf("%d requests", len(bodies))
	}
	for _, b := range bodies {
		if !json.Valid(b) || !utf8.Valid(b) || halves.Match(b) {
			t.Errorf("sent was %q", b)
		}
	}
	was, is := s.messages(bodies[1]), s.messages(bodies[2])
	if len(was) != 7 || len(is) != len(was)+2 || !slices.Equal(was, is[:len(was)]) {
		t.Errorf("what was sent again is not what was sent:\n%q\n%q", was, is)
	}
	if !strings.Contains(was[3], "a") || strings.Contains(was[3], `\u001b`) || strings.Contains(was[3], `\u0000`) {
		t.Errorf("the result of the command is %s", was[3])
	}
}

// echo is a model that calls a tool with what it was told last and then says it.
type echo struct{}

func (echo) Stream(_ context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	if results := last.Blocks; len(results) > 0 {
		if res, ok := results[0].(msg.Result); ok {
			tell(model.Delta{Text: res.Blocks.Text()})
			return model.Reply{Blocks: msg.Blocks{msg.Text{Text: res.Blocks.Text()}}, Stop: model.StopEnd}, nil
		}
	}
	args, err := json.Marshal(last.Blocks.Text())
	return model.Reply{Blocks: msg.Blocks{msg.Call{Name: "echo", Args: string(args)}}, Stop: model.StopCalls}, err
}

type echoTool struct{}

func (echoTool) Specs() []tool.Spec {
	return []tool.Spec{{Name: "echo", Input: json.RawMessage(`{"type":"object"}`)}}
}

func (echoTool) Prepare(_ context.Context, c tool.Call) (tool.Prepared, error) {
	return tool.Prepared{Plan: tool.Plan{Title: "[echo]", Together: true}, Run: func(context.Context, func(tool.Card)) (tool.Result, error) {
		return tool.Text(string(c.Args)), nil
	}}, nil
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(all)
}

// TestAThousandSessionsAreWrittenAtOnce by one host into one database.
func TestAThousandSessionsAreWrittenAtOnce(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	goroutines, open := runtime.NumGoroutine(), descriptors(t)
	path := filepath.Join(t.TempDir(), "jig.db")
	d, err := store.Open(path)
	must(t, err)
	table, err := agent.Bind(echoTool{})
	must(t, err)
	h := host.New()
	ids := make([]string, n)
	logs := make([]*store.Session, n)
	var all sync.WaitGroup
	for i := range ids {
		ids[i] = store.NewID()
		logs[i] = d.New(ids[i])
		all.Go(func() {
			id, err := h.Open(host.Setup{ID: ids[i], Log: logs[i], Alone: true, Began: proto.Began{Agent: "a", Provider: "p", Model: "m"},
				Turn: func(context.Context) (agent.Turn, error) { return agent.Turn{Model: echo{}, Tools: table}, nil }})
			if err != nil {
				t.Error(err)
				return
			}
			if err := h.Do(context.Background(), id, proto.Submit{Text: "I am " + id}); err != nil {
				t.Error(err)
				return
			}
			for e := range h.Watch(context.Background(), id, 0) {
				if end, ok := e.Fact.(proto.Ended); ok {
					if end.Why != proto.Done {
						t.Errorf("%s: %+v", id, end)
					}
					return
				}
			}
		})
	}
	all.Wait()
	h.Close()
	most := 0
	begin, read := make(chan struct{}), make(chan struct{})
	for i, id := range ids { // all are read at once, too
		all.Go(func() { <-begin; readsAs(t, d, logs[i], id) })
	}
	close(begin)
	go func() { all.Wait(); close(read) }()
	for reading := true; reading; {
		most = max(most, descriptors(t)-open)
		select {
		case <-read:
			reading = false
		default:
		}
	}
	t.Logf("%d descriptors more were open at most", most)
	if most > 60 {
		t.Errorf("%d descriptors more were open while all was read", most)
	}
	list, err := d.List(store.Query{})
	if err != nil || len(list) != n {
		t.Errorf("%d sessions are listed, %v", len(list), err)
	}
	must(t, d.Close())
	for range 100 { // what ends needs a moment to be gone
		if runtime.NumGoroutine() <= goroutines && descriptors(t) <= open {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines and %d descriptors are left, there were %d and %d", runtime.NumGoroutine(), descriptors(t), goroutines, open)
}

// readsAs lets go of a log and checks that it is folded to what was said in that session.
func readsAs(t *testing.T, d *store.DB, log *store.Session, id string) {
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	facts, err := d.Facts(id)
	if err != nil {
		t.Error(err)
	}
	st := session.Fold(facts)
	said := `"I am ` + id + `"`
	var got []string
	for _, m := range st.Messages {
		got = append(got, fmt.Sprint(m.Role, ":", m.Blocks.Text()))
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case msg.Call:
				got = append(got, b.Args)
			case msg.Result:
				got = append(got, b.Blocks.Text())
			}
		}
	}
	want := []string{"user:I am " + id, "assistant:", said, "user:", said, "assistant:" + said}
	if !slices.Equal(got, want) || st.Turn || len(session.Resume(st)) > 0 {
		t.Errorf("%s: %q, want %q", id, got, want)
	}
}
