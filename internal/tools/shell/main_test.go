package shell

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"jig/internal/process"
	"jig/internal/proto"
	"jig/internal/sandbox"
	"jig/internal/tool"
)

// told collects the failures that calls ended with.
var told struct {
	sync.Mutex
	set map[*tool.Failure]bool
}

// TestMain is also what the program's hidden commands are in these tests, and a program that says
// how it was called. At the end it sees to it that a run of all tests has told every sentence.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case sandbox.Command:
			os.Exit(sandbox.WardenMain(os.Args[2:]))
		case RedirectCommand:
			os.Exit(RedirectMain(os.Args[2:], os.Environ()))
		case "say":
			say(os.Args[2:])
			return
		}
	}
	code := m.Run()
	if code == 0 && runtime.GOOS == "linux" && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == "" {
		for _, f := range (&Shell{interp: interpreter{dialect: posix()}, tier: sandbox.None}).specify().Failures {
			if !told.set[f] {
				fmt.Printf("no test makes it say: %s\n", f.Form)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// say prints its arguments, one a line, and whether it could write where a sandbox would forbid it.
func say(args []string) {
	for _, a := range args {
		switch {
		case strings.HasPrefix(a, "write="):
			fmt.Println("write:", os.WriteFile(strings.TrimPrefix(a, "write="), []byte("x"), 0o600) == nil)
		case strings.HasPrefix(a, "env="):
			fmt.Printf("%s\n", os.Getenv(strings.TrimPrefix(a, "env=")))
		case a == "stderr":
			fmt.Fprintln(os.Stderr, "on stderr")
		default:
			fmt.Printf("%q\n", a)
		}
	}
}

// session is a set with a project, and what it reports.
type session struct {
	*testing.T
	*Shell
	root, outside string // outside is no place commands may write to
	mu            sync.Mutex
	notices       []tool.Notice
	jobsShown     [][]proto.Job
	changed       chan struct{}
	last          int
}

// apart is a folder that is not under /tmp, which every sandbox lets commands write to.
func apart(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "jig-shell-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// self is a copy of this program in dir.
func self(t *testing.T, dir string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "jig")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func begin(t *testing.T, change ...func(*Options)) *session {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base := apart(t)
	s := &session{T: t, root: filepath.Join(base, "project"), outside: filepath.Join(base, "outside"), changed: make(chan struct{}, 1)}
	for _, dir := range []string{s.root, s.outside} {
		s.must(os.Mkdir(dir, 0o755))
	}
	o := Options{
		Config: Config{AutoRun: true}, OS: runtime.GOOS, Root: s.root, Cwd: s.root, Home: s.outside, Temp: t.TempDir(),
		Binary: exe, Pid: os.Getpid(), Env: os.Environ(), Tier: sandbox.None,
		Limits: process.Limits{Grace: 300 * time.Millisecond},
		Yield:  10 * time.Minute, // however slow the machine is: tests of the yield set their own
	}
	for _, c := range change {
		c(&o)
	}
	s.Shell, err = New(o)
	s.must(err)
	s.Connect(s.post, s.show)
	t.Cleanup(func() { s.Close() })
	return s
}

// in gives the session a regime.
func in(tier sandbox.Tier) func(*Options) {
	return func(o *Options) {
		o.Tier = tier
		if tier == sandbox.Bwrap {
			o.Bwrap = "/usr/bin/bwrap"
		}
	}
}

func yieldAfter(d time.Duration) func(*Options) { return func(o *Options) { o.Yield = d } }

func (s *session) post(n tool.Notice) {
	s.mu.Lock()
	s.notices = append(s.notices, n)
	s.mu.Unlock()
	s.nudge()
}

func (s *session) show(key string, value any) {
	if key != proto.KeyJobs {
		s.Errorf("shown under %q", key)
	}
	list, _ := value.([]proto.Job)
	s.mu.Lock()
	s.jobsShown = append(s.jobsShown, list)
	s.mu.Unlock()
	s.nudge()
}

func (s *session) nudge() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// until waits for a state of what was reported.
func (s *session) until(what string, ok func() bool) {
	s.Helper()
	limit := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		good := ok()
		s.mu.Unlock()
		if good {
			return
		}
		select {
		case <-s.changed:
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			s.Fatalf("never: %s", what)
		}
	}
}

// notice waits for the next notice and gives its text.
func (s *session) notice() string {
	s.Helper()
	s.until("a notice", func() bool { return len(s.notices) > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.notices[0]
	s.notices = s.notices[1:]
	return n.Blocks.Text()
}

func (s *session) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

type args map[string]any

func (s *session) prepare(a any) (tool.Prepared, error) {
	s.Helper()
	raw, ok := a.(string)
	if !ok {
		b, err := json.Marshal(a)
		s.must(err)
		raw = string(b)
	}
	s.mu.Lock()
	s.last++
	id := fmt.Sprintf("c%d", s.last)
	s.mu.Unlock()
	p, err := s.Prepare(context.Background(), tool.Call{ID: id, Name: Name, Args: json.RawMessage(raw)})
	s.note(err)
	return p, err
}

// note records which failure was told. Any error must be one, or a cancellation.
func (s *session) note(err error) {
	s.Helper()
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	for _, f := range s.spec.Failures {
		if errors.Is(err, f) {
			told.Lock()
			if told.set == nil {
				told.set = map[*tool.Failure]bool{}
			}
			told.set[f] = true
			told.Unlock()
			return
		}
	}
	s.Errorf("failed with what is not in its list: %v", err)
}

// call makes a call to its end and gives its result; an error's sentence counts as one.
func (s *session) call(a any) tool.Result { return s.callWith(context.Background(), a) }

func (s *session) callWith(ctx context.Context, a any) tool.Result {
	s.Helper()
	p, err := s.prepare(a)
	var r tool.Result
	if err == nil {
		r, err = p.Run(ctx, nil)
		s.note(err)
	}
	if err != nil {
		r = tool.Text(err.Error())
		r.Failed = true
	}
	if t := r.Blocks.Text(); !utf8.ValidString(t) || blank(t) || len(t) > s.spec.Cap {
		s.Errorf("a result of %d bytes, valid text: %v", len(t), utf8.ValidString(t))
	}
	return r
}

func (s *session) sh(command string) string {
	s.Helper()
	return s.call(args{"command": command}).Blocks.Text()
}

// says compares what the model reads, byte for byte.
func (s *session) says(command, want string) {
	s.Helper()
	if got := s.sh(command); got != want {
		s.Errorf("%s\n got %q\nwant %q", command, brief(got), brief(want))
	}
}

func brief(s string) string {
	if len(s) > 1500 {
		return s[:700] + " … " + s[len(s)-700:]
	}
	return s
}

// eachTier runs a test in every regime of Linux.
func eachTier(t *testing.T, f func(t *testing.T, s *session), change ...func(*Options)) {
	for _, tier := range []sandbox.Tier{sandbox.Bwrap, sandbox.Namespaces, sandbox.Landlock, sandbox.None} {
		t.Run(string(tier), func(t *testing.T) {
			if tier == sandbox.Bwrap && testing.Short() {
				t.Skip("needs bubblewrap")
			}
			f(t, begin(t, append(slices.Clone(change), in(tier))...))
		})
	}
}
