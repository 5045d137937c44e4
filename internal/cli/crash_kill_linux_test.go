package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jig/internal/model/modeltest"
)

func call(id, name, args string) modeltest.Call {
	return modeltest.Call{ID: id, Name: name, Args: args}
}

func shell(id, command string) modeltest.Call {
	return call(id, "shell", fmt.Sprintf(`{"command":%q}`, command))
}

func edit(id string, from int) modeltest.Call {
	return call(id, "edit_file", fmt.Sprintf(`{"path":"big.txt","old_string":"v=%d;","new_string":"v=%d;"}`, from, from+1))
}

// work is what the model does in a run that is cut short: it reads, leaves a job running, edits, runs
// commands, and takes its time over its words.
func (s *scene) work() []modeltest.Reply {
	slow := func(r modeltest.Reply) modeltest.Reply {
		r.Text = "First I say what I am going to do, which takes a while."
		r.Fault = modeltest.Fault{Kind: modeltest.FaultLate, After: 2, Later: 120 * time.Millisecond}
		return r
	}
	takes := "printf a >>marks; sleep 0.15; printf b >>marks"
	return []modeltest.Reply{
		slow(modeltest.Reply{Calls: []modeltest.Call{call("a1", "read_file", `{"path":"count.txt"}`), call("a2", "read_file", `{"path":"big.txt","limit":2}`)}}),
		{Calls: []modeltest.Call{call("b1", "shell", fmt.Sprintf(`{"command":"sleep %s","background":true}`, s.nap))}},
		slow(modeltest.Reply{Calls: []modeltest.Call{edit("c1", 0), shell("c2", takes), call("c3", "write_file", `{"path":"new.txt","content":"new\n"}`), edit("c4", 1)}}),
		{Text: "Three at once.", Calls: []modeltest.Call{shell("d1", takes), shell("d2", "sleep 0.1; echo two"), shell("d3", "echo three"), edit("d4", 2)}},
		{Calls: []modeltest.Call{edit("e1", 3), edit("e2", 4), edit("e3", 5), shell("e4", takes)}},
		slow(modeltest.Reply{}),
	}
}

const versions = 7 // of the big file

// killing is one way to kill.
type killing struct {
	kind string
	goal bool
	// when says of a line whether the time to the kill begins; nil is the start of the run.
	when   func(line string) bool
	within time.Duration
	wrap   func(s *scene, trace string, try int) []string // kills by itself
}

func begins(what string) func(string) bool {
	return func(line string) bool { return strings.Contains(line, what) }
}

// strikes kills at the entry of the first of the system calls that has to do with the paths, once a thread
// has made n of them to any file.
func strikes(trace string, n int, calls string, paths ...string) []string {
	out := []string{"strace", "-f", "--seccomp-bpf", "-y", "-o", trace, "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d+", calls, n)}
	for _, p := range paths {
		out = append(out, "-P", p)
	}
	return out
}

// inTransaction kills while the frames of a transaction are written, in a later one rather than the first.
func inTransaction(s *scene, trace string, try int) []string {
	return strikes(trace, max(1, 20>>try)+rand.IntN(max(1, 24>>try)), "pwrite64", filepath.Join(s.data(), "jig.db-wal"))
}

// killings are the ways to kill, by turns.
var killings = []killing{
	{kind: "transaction", wrap: inTransaction},
	{kind: "stream", when: begins(`"type":"delta"`), within: 120 * time.Millisecond},
	{kind: "command", when: begins(`"tool":"shell","show":"group","plan":{"title":"[shell printf`), within: 150 * time.Millisecond},
	{kind: "edit", when: begins(`"tool":"edit_file"`), within: 12 * time.Millisecond},
	{kind: "edit, at a system call", wrap: func(s *scene, trace string, try int) []string {
		calls := []string{"linkat", "renameat"}
		return strikes(trace, 1+rand.IntN(max(1, 4>>try)), calls[rand.IntN(len(calls))])
	}},
	{kind: "transaction", wrap: inTransaction},
	{kind: "anywhere", goal: true, within: 900 * time.Millisecond},
}

// kills is what is known of the kills so far.
type kills struct {
	mu   sync.Mutex
	fell map[string]int
}

func (k *kills) count(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fell[what]++
}

// unbroken is what the last request of a run sends that nobody cuts short.
func unbroken(t *testing.T, goal bool) (s *scene, messages []string) {
	s = newScene(t, "openai")
	server := s.serves(s.work()...)
	r := s.start(nil, nil, s.arguments(goal)...)
	for len(server.Requests()) < len(s.work()) { // then it waits for its job
		time.Sleep(10 * time.Millisecond)
	}
	must(t, r.cmd.Process.Signal(syscall.SIGINT))
	s.wait(r)
	all := server.Requests()
	return s, s.messages(all[len(s.work())-1].Body)
}

func (s *scene) arguments(goal bool) []string {
	args := []string{"run", "-m", "begin", "--output-format", "jsonl"}
	if goal {
		args = append(args, "--goal", "count to seven")
	}
	return args
}

// jobNames are what the names of a background job's process and output have of their own.
var jobNames = regexp.MustCompile(`\(pid \d+\)|jig-jobs/[\d-]+`)

// messages are the messages of a request, with the folders that no two runs have in common left out.
func (s *scene) messages(body []byte) []string {
	s.Helper()
	var q struct{ Messages []json.RawMessage }
	must(s.T, json.Unmarshal(body, &q))
	var out []string
	for _, m := range q.Messages {
		one := strings.NewReplacer(s.root, "ROOT", s.home, "HOME", s.nap, "NAP").Replace(string(m))
		out = append(out, jobNames.ReplaceAllString(one, "JOB"))
	}
	return out
}

// TestAKillAnywhereLosesNothing: whenever a run is killed, its session opens at once and goes on, with
// all that was said, and what was cut short is ended once and told as what it is.
func TestAKillAnywhereLosesNothing(t *testing.T) {
	n, least := 300, 20
	if testing.Short() {
		n, least = 18, -1
	}
	k := &kills{fell: map[string]int{}}
	reference := map[bool][]string{}
	used, plain := unbroken(t, false)
	_, reference[true] = unbroken(t, true)
	reference[false] = plain
	t.Run("kills", func(t *testing.T) {
		for i := range n {
			how := killings[i%len(killings)]
			t.Run(fmt.Sprint(how.kind, " ", i), func(t *testing.T) {
				t.Parallel()
				dialect := "openai"
				if i/len(killings)%4 == 3 {
					dialect = "anthropic"
				}
				for try := range 8 { // a time may have been too late
					s := newScene(t, dialect)
					if i%9 != 8 { // else it makes the database, too
						s.after(used)
					}
					if kill(s, k, how, reference[how.goal], i, try) {
						return
					}
				}
				t.Error("no run was killed before it ended by itself")
			})
		}
	})
	t.Logf("of %d kills fell: %v", n, k.fell)
	for _, what := range []string{"command", "edit", "transaction", "stream"} {
		if k.fell[what] <= least {
			t.Errorf("only %d kills fell inside a %s", k.fell[what], what)
		}
	}
}

// kill kills one run and sees what becomes of its session.
func kill(s *scene, k *kills, how killing, reference []string, i, try int) bool {
	server := s.serves(s.work()...)
	trace := filepath.Join(s.TempDir(), "trace")
	var wrap []string
	if how.wrap != nil {
		wrap = how.wrap(s, trace, try)
	}
	after := func() time.Duration { return time.Duration(rand.Int64N(int64(how.within))) }
	times := rand.IntN(3) // which of the lines it is
	begun, over := make(chan struct{}, 1), make(chan struct{}, 1)
	r := s.start(wrap, func(line string) {
		if strings.Contains(line, `"stop":"end"`) { // from now on it waits for its job
			over <- struct{}{}
		}
		if how.when == nil || !how.when(line) {
			return
		}
		if times--; times == -1 {
			begun <- struct{}{}
		}
	}, s.arguments(how.goal)...)
	gone := make(chan struct{})
	go func() { r.all.Wait(); close(gone) }()
	byItself := false
	if how.within > 0 {
		if how.when != nil {
			select {
			case <-begun:
			case <-gone:
			case <-over:
			}
		}
		time.Sleep(after())
	} else {
		select {
		case <-gone:
			byItself = true
		case <-over:
		}
	}
	killed := r.kill()
	s.wait(r)
	if how.wrap != nil {
		data, err := os.ReadFile(trace)
		must(s.T, err)
		killed = byItself && strings.Contains(string(data), "+++ killed by SIGKILL +++")
	}
	if !killed {
		return false
	}
	s.nothingRuns()
	id, said, streaming := s.told(r)
	if id == "" && how.kind != "anywhere" && how.wrap == nil {
		return false
	}
	log := s.look(id)
	s.keeps(said, log)
	l := s.left(log)
	sent := server.Requests()
	if how.kind == "transaction" && log != nil {
		k.count("transaction")
	}
	if streaming && l.replies < len(sent) {
		k.count("stream")
	}
	for _, id := range l.open {
		switch l.begun[id] {
		case "shell":
			k.count("command")
		case "edit_file", "write_file":
			k.count("edit")
		default:
			continue
		}
		break
	}
	s.whole(l)
	if log == nil {
		k.count("start")
		s.beginsAnew()
		return true
	}
	now := s.goesOn(id, log)
	s.same(l, log, sent, now, reference)
	if i%4 == 0 {
		s.goesOnAgain(id)
	}
	return true
}

// nothingRuns checks that what a killed run had started is gone.
func (s *scene) nothingRuns() {
	s.Helper()
	until := time.Now().Add(patient)
	for {
		found := ""
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		must(s.T, err)
		for _, p := range all {
			if data, err := os.ReadFile(p); err == nil && strings.Contains(string(data), s.nap) {
				found = string(data)
			}
		}
		if found == "" {
			return
		}
		if time.Now().After(until) {
			s.Fatalf("%q is still running", found)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// whole checks that a file that was being changed is the old one or the new one.
func (s *scene) whole(l left) {
	s.Helper()
	data, err := os.ReadFile(filepath.Join(s.root, "big.txt"))
	must(s.T, err)
	known := false
	for v := range versions {
		known = known || string(data) == bigFile(v)
	}
	if !known {
		s.Errorf("the file is neither old nor new: %d bytes, %.20q", len(data), data)
	}
	if data, err := os.ReadFile(filepath.Join(s.root, "new.txt")); err == nil && string(data) != "new\n" {
		s.Errorf("the new file is %q", data)
	}
	entries, err := os.ReadDir(s.root)
	must(s.T, err)
	for _, e := range entries {
		if !slices.Contains([]string{".git", "big.txt", "count.txt", "new.txt", "marks", ".jig-draft.tmp"}, e.Name()) {
			s.Errorf("%s is left", e.Name())
		}
	}
}

// same checks that what is sent begins, byte for byte, with what was sent before, and up to the call that
// was cut short with what an unbroken session sends.
func (s *scene) same(l left, log []fact, before []modeltest.Request, now []byte, reference []string) {
	s.Helper()
	got := s.messages(now)
	if n := len(before); n > 0 && before[n-1].Refused == "" {
		var last, next map[string]json.RawMessage
		must(s.T, json.Unmarshal(before[n-1].Body, &last))
		must(s.T, json.Unmarshal(now, &next))
		for key, was := range last {
			if key != "messages" && string(was) != string(next[key]) {
				s.Errorf("%s was %s and is %s", key, was, next[key])
			}
		}
		was := s.messages(before[n-1].Body)
		for i, m := range was {
			if i >= len(got) {
				s.Fatalf("message %d is gone: %s", i+1, m)
			}
			is := got[i]
			if s.dialect == "anthropic" { // the mark of what is to be cached moves on
				m, is = unmarked(m), unmarked(is)
			}
			if i == len(was)-1 { // what a person says after what they said is added to it
				m = strings.TrimRight(m, `"}]`)
				is = is[:min(len(is), len(m))]
			}
			if is != m {
				s.Fatalf("message %d was\n%s\nand is\n%s", i+1, m, got[i])
			}
		}
	}
	if s.dialect != "openai" {
		return
	}
	var names []string // the provider's, in the order of ours
	for _, r := range s.work() {
		for _, c := range r.Calls {
			names = append(names, c.ID)
		}
	}
	open := map[string]bool{}
	for _, id := range l.open {
		var n int
		_, err := fmt.Sscanf(id, "call%d", &n)
		must(s.T, err)
		open[names[n-1]] = true
	}
	for i, m := range got {
		var v struct {
			Role    string
			ID      string `json:"tool_call_id"`
			Content json.RawMessage
		}
		must(s.T, json.Unmarshal([]byte(m), &v))
		if v.Role == "user" && i > 1 {
			return // what follows is new
		}
		if i >= len(reference) {
			s.Fatalf("message %d is more than an unbroken session sends: %s", i+1, m)
		}
		switch {
		case open[v.ID]:
			if !strings.Contains(m, "it is not known whether this ran") && !strings.Contains(m, "not run: ") {
				s.Errorf("the result of a call that was cut short is %s", m)
			}
		case m != reference[i] && !strings.HasSuffix(strings.TrimRight(m, `"}`), "go on"):
			s.Fatalf("message %d is\n%s\nand an unbroken session sends\n%s", i+1, m, reference[i])
		}
	}
}

func unmarked(m string) string {
	return strings.ReplaceAll(m, `,"cache_control":{"type":"ephemeral"}`, "")
}
