package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
)

// These tests are a client of a session with a person: they send commands and look at events, as a
// screen does, and the commands of the shell are real.

// step answers one request.
type step func(ctx context.Context) (model.Reply, error)

// scripted is a model that plays steps and keeps what it was asked.
type scripted struct {
	mu    sync.Mutex
	steps []step
	sent  [][]msg.Message
}

func (s *scripted) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	s.mu.Lock()
	n := len(s.sent)
	s.sent = append(s.sent, r.Messages)
	s.mu.Unlock()
	if n >= len(s.steps) {
		return model.Reply{}, fmt.Errorf("request %d was not expected", n+1)
	}
	return s.steps[n](ctx)
}

func replies(text string) step {
	return func(context.Context) (model.Reply, error) {
		return model.Reply{Blocks: msg.Blocks{msg.Text{Text: text}}, Stop: model.StopEnd}, nil
	}
}

// runs is a round of shell calls, each given by its command; & at the start puts it in the background.
func runs(commands ...string) step {
	return func(context.Context) (model.Reply, error) {
		r := model.Reply{Stop: model.StopCalls}
		for _, c := range commands {
			c, background := strings.CutPrefix(c, "&")
			args, err := json.Marshal(map[string]any{"command": c, "background": background})
			if err != nil {
				return r, err
			}
			r.Blocks = append(r.Blocks, msg.Call{Name: "shell", Args: string(args)})
		}
		return r, nil
	}
}

func tooMany(after time.Duration) step {
	return func(context.Context) (model.Reply, error) {
		return model.Reply{}, &model.Error{Kind: model.KindLimit, After: after, Text: "too many requests"}
	}
}

// person is a client of one session.
type person struct {
	*testing.T
	model *scripted
	host  *host.Host
	id    string
	root  string
	jig   string // the program, where no command may write

	mu   sync.Mutex
	seen []proto.Event
	more chan struct{}
}

// sit opens a session whose commands run in a tier, with the settings of its shell.
func sit(t *testing.T, tier, settings string, steps ...step) *person {
	t.Helper()
	above, err := os.UserCacheDir()
	if err != nil || strings.HasPrefix(above, os.TempDir()+"/") {
		above, err = os.Getwd()
	}
	must(t, err)
	must(t, os.MkdirAll(above, 0o755))
	away, err := os.MkdirTemp(above, "jig-test-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(away) })
	p := &person{T: t, model: &scripted{steps: steps}, host: host.New(), root: t.TempDir(), jig: filepath.Join(away, "jig"), more: make(chan struct{}, 1)}
	self, err := exec.LookPath("jig") // this test as the program
	must(t, err)
	must(t, exec.Command("cp", self, p.jig).Run()) // by another process, so that nobody has it open for writing
	must(t, os.Mkdir(filepath.Join(p.root, ".git"), 0o755))
	file := filepath.Join(away, "config.yaml")
	must(t, os.WriteFile(file, []byte("agents:\n  default: {model: \"openai:m\", tools: {shell: {"+settings+"}}}\n"), 0o644))

	w := World{Out: os.Stdout, Err: os.Stderr, Home: away, Temp: t.TempDir(), Binary: p.jig, Cwd: p.root, GOOS: "linux", Now: time.Now,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + away}}
	w.Getenv = func(name string) (string, bool) {
		v, ok := map[string]string{"PATH": os.Getenv("PATH"), testOnlyTier: tier, testOnlyYield: "10m"}[name]
		return v, ok
	}
	o := Options{Config: file}
	s, cfg, err := load(w, o)
	must(t, err)
	plan, err := prepare(w, s, cfg, o)
	must(t, err)
	p.id, err = p.host.Open(plan.setup(p.model, false))
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		for e := range p.host.Watch(ctx, p.id, 0) {
			p.mu.Lock()
			p.seen = append(p.seen, e)
			p.mu.Unlock()
			select {
			case p.more <- struct{}{}:
			default:
			}
		}
	})
	t.Cleanup(func() { p.host.Close(); cancel(); watching.Wait() })
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *person) do(c proto.Command) {
	p.Helper()
	must(p.T, p.host.Do(context.Background(), p.id, c))
}

// until waits until what was seen so far is as wanted.
func (p *person) until(what string, ok func([]proto.Event) bool) {
	p.Helper()
	limit := time.After(30 * time.Second)
	for {
		p.mu.Lock()
		good := ok(p.seen)
		p.mu.Unlock()
		if good {
			return
		}
		select {
		case <-p.more:
		case <-limit:
			p.Fatalf("never: %s; seen: %s", what, p.story())
		}
	}
}

// ends waits for the n-th end of a turn and gives it.
func (p *person) ends(n int) (end proto.Ended) {
	p.Helper()
	p.until(fmt.Sprintf("the end of turn %d", n), func(seen []proto.Event) bool {
		left := n
		for _, e := range seen {
			if f, ok := e.Fact.(proto.Ended); ok {
				if left--; left == 0 {
					end = f
					return true
				}
			}
		}
		return false
	})
	return end
}

// jobs waits until the list of jobs, as it is shown, has a length again.
func (p *person) jobs(n int) {
	p.Helper()
	p.until(fmt.Sprintf("%d jobs", n), func(seen []proto.Event) bool {
		now := -1
		for _, e := range seen {
			if e.Key == proto.KeyJobs {
				list, _ := e.Now.([]proto.Job)
				now = len(list)
			}
		}
		return now == n
	})
}

// asked waits for the n-th question and answers it.
func (p *person) asked(n int, c proto.Choice) (q proto.Asked) {
	p.Helper()
	p.until(fmt.Sprintf("question %d", n), func(seen []proto.Event) bool {
		left := n
		for _, e := range seen {
			if f, ok := e.Fact.(proto.Asked); ok {
				if left--; left == 0 {
					q = f
					return true
				}
			}
		}
		return false
	})
	p.do(proto.Answer{Call: q.Call, By: "test", Choice: c})
	return q
}

// file waits for a file that a command makes.
func (p *person) file(name string) {
	p.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.root, name)); err == nil {
			return
		}
		if time.Now().After(end) {
			p.Fatalf("%s never came; seen: %s", name, p.story())
		}
	}
}

func (p *person) touch(name string) {
	p.Helper()
	must(p.T, os.WriteFile(filepath.Join(p.root, name), nil, 0o644))
}

// read is what the model was sent last in its n-th request: as many messages as asked for, as text.
func (p *person) read(n, last int) string {
	p.Helper()
	p.model.mu.Lock()
	defer p.model.mu.Unlock()
	if len(p.model.sent) < n {
		p.Fatalf("%d requests", len(p.model.sent))
	}
	all := p.model.sent[n-1]
	var out []string
	for _, m := range all[len(all)-last:] {
		text := m.Blocks.Text()
		for _, b := range m.Blocks {
			if r, ok := b.(msg.Result); ok {
				text += r.Blocks.Text()
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "|")
}

func (p *person) requests() int {
	p.model.mu.Lock()
	defer p.model.mu.Unlock()
	return len(p.model.sent)
}

// silent gives the model time to be woken, and sees that it was not: it has had n requests.
func (p *person) silent(n int) {
	p.Helper()
	time.Sleep(200 * time.Millisecond)
	if got := p.requests(); got != n {
		p.Errorf("%d requests instead of %d: something woke the model", got, n)
	}
}

// results are what calls ended with, in the order of the log, and how often a person was asked.
func (p *person) results() (texts []string, questions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.seen {
		switch f := e.Fact.(type) {
		case proto.Closed:
			texts = append(texts, f.Result.Blocks.Text())
		case proto.Asked:
			questions++
		}
	}
	return texts, questions
}

func (p *person) story() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, e := range p.seen {
		fmt.Fprintf(&b, "\n%T%+v %s %v", e.Fact, e.Fact, e.Key, e.Now)
	}
	return b.String()
}

const waits = "until test -e go; do sleep 0.02; done; echo went"

const notice1 = "[background job b1 finished: exit 0 after "

func TestAnEndedJobWakesTheModelOnce(t *testing.T) {
	p := sit(t, "none", "auto_run: true", runs("&"+waits), replies("started"), replies("noted"))
	p.do(proto.Submit{Text: "go"})
	p.ends(1)
	p.jobs(1)
	p.touch("go")
	p.ends(2)
	p.jobs(0)
	if got := p.read(3, 1); !strings.HasPrefix(got, notice1) || !strings.HasSuffix(got, "] "+waits+"\nwent\n") {
		t.Errorf("the model read %q", got)
	}
}

func TestAMessageLandsBetweenRoundsOrAtTheEnd(t *testing.T) {
	p := sit(t, "none", "auto_run: true", runs("touch begun; "+waits), replies("both seen"), replies("and that"))
	p.do(proto.Submit{Text: "go"})
	p.file("begun")
	p.do(proto.Submit{Text: "later", When: proto.AtEnd})
	p.do(proto.Submit{Text: "now"})
	p.touch("go")
	p.ends(2)
	if got := p.read(2, 2); got != "went\n|now" {
		t.Errorf("between the rounds the model read %q", got)
	}
	if got := p.read(3, 1); got != "later" {
		t.Errorf("at the end the model read %q", got)
	}
}

func TestANoticeLandsInARunningTurn(t *testing.T) {
	p := sit(t, "none", "auto_run: true", runs("&true"), runs("touch begun; "+waits), replies("seen"))
	p.do(proto.Submit{Text: "go"})
	p.file("begun")
	p.jobs(0)
	p.touch("go")
	p.ends(1)
	all := p.read(2, 1) + p.read(3, 2) // it may have been done before the second request
	if !strings.Contains(all, notice1) || p.requests() != 3 {
		t.Errorf("the model read %q in %d requests", all, p.requests())
	}
}

func TestEscEndsTheCommandAndTheTurnGoesOn(t *testing.T) {
	p := sit(t, "none", "auto_run: true", runs("&"+waits), runs("echo so far; setsid sleep 300 & touch begun; sleep 300"), replies("went on"), replies("noted"))
	p.do(proto.Submit{Text: "go"})
	p.file("begun")
	p.do(proto.Esc{})
	if end := p.ends(1); end.Why != proto.Done {
		t.Errorf("%+v", end)
	}
	if got := p.read(3, 1); got != "so far\n[command cancelled]" {
		t.Errorf("the model read %q", got)
	}
	// The job was not in the way of it, and reports as ever: that turn was not stopped.
	p.touch("go")
	p.ends(2)
	if got := p.read(4, 1); !strings.HasPrefix(got, notice1) {
		t.Errorf("the model read %q", got)
	}
}

func TestAfterAStopANoticeWaitsForThePerson(t *testing.T) {
	p := sit(t, "none", "auto_run: true", runs("&"+waits), runs("touch begun; sleep 300"), replies("both seen"))
	p.do(proto.Submit{Text: "go"})
	p.file("begun")
	p.do(proto.Stop{})
	if end := p.ends(1); end.Why != proto.Interrupted {
		t.Errorf("%+v", end)
	}
	p.touch("go")
	p.jobs(0) // its notice was posted before it left the list
	p.silent(2)
	p.do(proto.Submit{Text: "go on"})
	p.ends(2)
	got := p.read(3, 2)
	notice, message, _ := strings.Cut(got, "|")
	if !strings.HasPrefix(notice, notice1) || message != "go on" || p.requests() != 3 {
		t.Errorf("the model read %q in %d requests", got, p.requests())
	}
}

func TestARateLimitHoldsNotices(t *testing.T) {
	p := sit(t, "none", "auto_run: true", runs("&"+waits), tooMany(time.Hour), replies("both seen"))
	p.do(proto.Submit{Text: "go"})
	if end := p.ends(1); !end.Limited || end.After != time.Hour {
		t.Fatalf("%+v", end)
	}
	p.touch("go")
	p.jobs(0)
	p.silent(2)
	p.do(proto.Submit{Text: "try"})
	p.ends(2)
	got := p.read(3, 2)
	notice, message, _ := strings.Cut(got, "|")
	if !strings.HasPrefix(notice, notice1) || message != "try" || p.requests() != 3 {
		t.Errorf("the model read %q in %d requests", got, p.requests())
	}

	// When the limit passes, the model is asked again without anybody's doing.
	p = sit(t, "none", "auto_run: true", runs("echo went"), tooMany(10*time.Millisecond), replies("through"))
	p.do(proto.Submit{Text: "go"})
	if end := p.ends(1); end.Error != "" || p.requests() != 3 {
		t.Errorf("%+v, %d requests", end, p.requests())
	}
}

func TestWithoutASandboxEachCommandIsAskedAbout(t *testing.T) {
	p := sit(t, "none", "", runs("echo once"), runs("touch denied"), runs("echo session"), runs("echo unasked", "echo together"), replies("done"))
	p.do(proto.Submit{Text: "go"})
	q := p.asked(1, proto.Once)
	if q.Question.Scope != "shell:inside" || q.Question.Text != "shell: run echo once" || q.Question.Covers != "every shell command, each with your full permissions" {
		t.Errorf("%+v", q.Question)
	}
	p.asked(2, proto.Deny)
	p.asked(3, proto.Session)
	p.ends(1)
	got, questions := p.results()
	want := []string{"once\n", "shell was not run: the user declined this call — do not try it again unless they ask for it", "session\n", "unasked\n", "together\n"}
	if strings.Join(got, "|") != strings.Join(want, "|") || questions != 3 {
		t.Errorf("%d questions, %q", questions, got)
	}
	if _, err := os.Stat(filepath.Join(p.root, "denied")); err == nil {
		t.Error("what was denied ran")
	}
}

// In a sandbox only what leaves it is asked about. It waits for the calls before it and holds up
// those after it, since a batch has nobody to ask.
func TestInASandboxOnlyWhatLeavesIsAskedAbout(t *testing.T) {
	for _, tier := range []string{"bwrap", "namespaces", "landlock"} {
		t.Run(tier, func(t *testing.T) {
			if tier == "bwrap" && testing.Short() {
				t.Skip("needs bwrap")
			}
			var p *person
			leaves := func(note string) string { return p.jig + " list providers > " + filepath.Dir(p.jig) + "/" + note }
			later := func(commands func() []string) step {
				return func(ctx context.Context) (model.Reply, error) { return runs(commands()...)(ctx) }
			}
			p = sit(t, tier, "",
				later(func() []string {
					return []string{"sleep 0.3; touch before; echo inside", leaves("first"), "test -e before && echo after"}
				}),
				later(func() []string { return []string{leaves("denied")} }),
				later(func() []string { return []string{leaves("session")} }),
				later(func() []string { return []string{leaves("unasked"), "touch " + filepath.Dir(p.jig) + "/never"} }),
				replies("done"))
			p.do(proto.Submit{Text: "go"})
			q := p.asked(1, proto.Once)
			if q.Question.Scope != "shell:outside" || !strings.HasPrefix(q.Question.Text, "shell: run "+filepath.Dir(filepath.Dir(p.jig))) || !strings.HasSuffix(q.Question.Text, " (outside the sandbox)") {
				t.Errorf("%+v", q.Question)
			}
			if _, err := os.Stat(filepath.Join(p.root, "before")); err != nil {
				t.Error("asked before the call in front of it was done")
			}
			p.asked(2, proto.Deny)
			p.asked(3, proto.Session)
			p.ends(1)
			got, questions := p.results()
			if len(got) != 7 || questions != 3 {
				t.Fatalf("%d questions, %q", questions, got)
			}
			for i, want := range []string{"inside\n", "[command produced no output]", "after\n", "shell was not run: the user declined", "[command produced no output]", "[command produced no output]"} {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("call %d: %q", i+1, got[i])
				}
			}
			for name, want := range map[string]bool{"first": true, "denied": false, "session": true, "unasked": true, "never": false} {
				if _, err := os.Stat(filepath.Join(filepath.Dir(p.jig), name)); (err == nil) != want {
					t.Errorf("%s: written outside: %v", name, err == nil)
				}
			}
		})
	}
}
