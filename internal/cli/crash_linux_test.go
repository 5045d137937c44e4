package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jig/internal/model/modeltest"
	"jig/internal/store"
)

// scene is a project in which a session runs, is cut short and goes on, with a home of its own.
type scene struct {
	*testing.T
	home, root string
	dialect    string
	nap        string // how long what runs in the background sleeps; nothing else on the machine does as long
}

const bigLines = 8_000

// bigFile is a file whose rewriting takes a while, in the version that an edit makes of it.
func bigFile(version int) string {
	return fmt.Sprintf("v=%d;\n", version) + strings.Repeat("one of many lines that stay as they are\n", bigLines)
}

func newScene(t *testing.T, dialect string) *scene {
	t.Helper()
	dir := t.TempDir()
	s := &scene{T: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "p"), dialect: dialect, nap: fmt.Sprintf("300.%09d", rand.IntN(1e9))}
	s.write(filepath.Join(s.root, ".git", "HEAD"), "")
	s.write(filepath.Join(s.root, "big.txt"), bigFile(0))
	s.write(filepath.Join(s.root, "count.txt"), "one\ntwo\nthree\n")
	return s
}

// after lets a scene begin with what another left in its home: a database, and what is known of the
// machine.
func (s *scene) after(other *scene) *scene {
	s.Helper()
	for _, dir := range []string{".local/share/jig", ".local/state/jig"} {
		files, err := filepath.Glob(filepath.Join(other.home, dir, "*.*"))
		must(s.T, err)
		for _, f := range files {
			data, err := os.ReadFile(f)
			must(s.T, err)
			to := filepath.Join(s.home, dir, filepath.Base(f))
			must(s.T, os.MkdirAll(filepath.Dir(to), 0o700))
			must(s.T, os.WriteFile(to, data, 0o600))
		}
	}
	return s
}

func (s *scene) write(path, text string) {
	s.Helper()
	must(s.T, os.MkdirAll(filepath.Dir(path), 0o755))
	must(s.T, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *scene) data() string { return filepath.Join(s.home, ".local/share/jig") }

// serves lets the next runs be answered by a new provider.
func (s *scene) serves(replies ...modeltest.Reply) *modeltest.Server {
	s.Helper()
	server := modeltest.New(s.T, replies...)
	s.at(server.URL)
	return server
}

func (s *scene) at(url string) {
	s.write(filepath.Join(s.home, ".config/jig/config.yaml"), fmt.Sprintf("providers:\n  p: {type: %s, url: %q, key: %s}\nagents:\n  default: {model: \"p:%s\", tools: {code: {auto_write: true}, shell: {auto_run: true}}}\n",
		s.dialect, url, modeltest.Key, names[s.dialect]))
}

// run is one run of the program.
type run struct {
	cmd    *exec.Cmd
	mu     sync.Mutex
	stdout []string // whole lines
	stderr bytes.Buffer
	all    sync.WaitGroup
	code   int
}

// patient is how long a run may take that only hangs if it takes longer.
const patient = time.Minute

// built is the program as it is shipped: hundreds of runs of this test in its place, which the race
// detector slows down, would take too long. It lies where the scripts' program does and is removed with it.
var built = sync.OnceValues(func() (string, error) {
	self, err := exec.LookPath("jig")
	if err != nil {
		return "", err
	}
	out := filepath.Join(filepath.Dir(self), "built", "jig")
	c := exec.Command("go", "build", "-o", out, "jig/cmd/jig")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, said)
	}
	return out, nil
})

// start starts the program, in the hands of another one where wrap is given. each is told every line of
// its output as it comes.
func (s *scene) start(wrap []string, each func(line string), args ...string) *run {
	s.Helper()
	self, err := built()
	must(s.T, err)
	args = append(append(slices.Clone(wrap), self), args...)
	r := &run{cmd: exec.Command(args[0], args[1:]...)}
	r.cmd.Dir = s.root
	r.cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0", "GODEBUG=asyncpreemptoff=1"}
	r.cmd.Stderr = &r.stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that who wraps it can be ended with it
	out, err := r.cmd.StdoutPipe()
	must(s.T, err)
	must(s.T, r.cmd.Start())
	r.all.Go(func() {
		for b := bufio.NewReader(out); ; {
			line, err := b.ReadString('\n')
			if err != nil {
				_, _ = io.Copy(io.Discard, out)
				return
			}
			r.mu.Lock()
			r.stdout = append(r.stdout, strings.TrimSuffix(line, "\n"))
			r.mu.Unlock()
			if each != nil {
				each(line)
			}
		}
	})
	return r
}

// kill ends the run as nothing else does, and reports whether there was anything to end.
func (r *run) kill() bool { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) == nil }

// wait waits for the end, which must come.
func (s *scene) wait(r *run) *run {
	s.Helper()
	hung := time.AfterFunc(patient, func() { r.kill() })
	r.all.Wait()
	err := r.cmd.Wait()
	if !hung.Stop() {
		s.Errorf("the run had to be ended: %s", r.stderr.String())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.code = exit.ExitCode()
	} else {
		must(s.T, err)
	}
	return r
}

func (s *scene) jig(args ...string) *run {
	s.Helper()
	return s.wait(s.start(nil, nil, args...))
}

// fact is a line of the log, as far as a test looks into it.
type fact struct {
	Type, Call, Tool, Notice, Why, Error, Status, By string
	Seq                                              uint64
	Message                                          struct {
		Role   string
		Blocks []struct{ Type, Text, ID, Name string }
	}
	Result struct {
		Blocks     []struct{ Text string }
		Job, Label string
	}
	line string
}

func (f fact) text() string {
	out := ""
	for _, b := range f.Message.Blocks {
		out += b.Text
	}
	for _, b := range f.Result.Blocks {
		out += b.Text
	}
	return out
}

func factOf(t *testing.T, line string) fact {
	t.Helper()
	f := fact{line: line}
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return f
}

// told is what a run has said: the facts of its output and the session's id. streaming says that what
// it said last belongs to a reply that was still coming.
func (s *scene) told(r *run) (id string, facts []fact, streaming bool) {
	s.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.stdout {
		if strings.HasPrefix(line, `{"type":"session"`) {
			var v struct{ ID string }
			must(s.T, json.Unmarshal([]byte(line), &v))
			id = v.ID
			continue
		}
		f := factOf(s.T, line)
		if f.Seq > 0 {
			facts = append(facts, f)
		}
		streaming = f.Type == "delta"
	}
	return id, facts, streaming
}

// look reads a log out of a copy of the database, so that the program itself is the first to open what
// was left. nil is a session that is not there.
func (s *scene) look(id string) []fact {
	s.Helper()
	dir := s.TempDir()
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(s.data(), "jig.db"+end))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			s.Fatal(err)
		}
		if err == nil {
			must(s.T, os.WriteFile(filepath.Join(dir, "jig.db"+end), data, 0o600))
		}
	}
	d, err := store.Open(filepath.Join(dir, "jig.db"))
	must(s.T, err)
	defer d.Close()
	if _, err := d.Find(id); err != nil {
		return nil
	}
	var out []fact
	for line, err := range d.Lines(id, 0) {
		must(s.T, err)
		out = append(out, factOf(s.T, string(line)))
	}
	return out
}

// left is what a log says of what was going on when it ends.
type left struct {
	open    []string // calls without a result, in order
	begun   map[string]string
	jobs    map[string]string // the report of each job that was running
	goal    bool
	turn    bool
	replies int
}

func (s *scene) left(facts []fact) left {
	l := left{begun: map[string]string{}, jobs: map[string]string{}}
	for i, f := range facts {
		if f.Seq != uint64(i+1) {
			s.Fatalf("fact %d has the number %d", i+1, f.Seq)
		}
		switch f.Type {
		case "said":
			l.turn = true
			if f.Message.Role == "assistant" {
				l.replies++
			}
			for _, b := range f.Message.Blocks {
				if b.Type == "call" {
					l.open = append(l.open, b.ID)
				}
			}
			delete(l.jobs, f.Notice)
		case "opened":
			l.begun[f.Call] = f.Tool
		case "closed":
			l.open = slices.DeleteFunc(l.open, func(id string) bool { return id == f.Call })
			if f.Result.Job != "" {
				l.jobs[f.Call] = fmt.Sprintf("[background job %s killed: jig ended] %s", f.Result.Job, f.Result.Label)
			}
		case "goal":
			l.goal = f.Status == "active"
		case "ended":
			l.turn = false
		}
	}
	return l
}

// ended checks the facts that end what was left open: each thing once, and nothing else.
func (s *scene) ended(l left, repair []fact) {
	s.Helper()
	jobs := map[string]int{}
	var closed []string
	goals, ends := 0, 0
	for _, f := range repair {
		switch f.Type {
		case "closed":
			closed = append(closed, f.Call)
			want := "interrupted: it is not known whether this ran"
			if l.begun[f.Call] == "" {
				want = "not run: "
			}
			if !strings.HasPrefix(f.text(), want) {
				s.Errorf("the result of %s (%s) is %q", f.Call, l.begun[f.Call], f.text())
			}
		case "said":
			if f.text() != l.jobs[f.Notice] || f.Notice == "" {
				s.Errorf("the notice of %q is %q", f.Notice, f.text())
			}
			jobs[f.Notice]++
		case "goal":
			goals++
			if f.Status != "blocked" || f.Why != "jig ended" || f.By != "jig" {
				s.Errorf("the goal: %s", f.line)
			}
		case "ended":
			ends++
			if f.Why != "interrupted" || f.Error == "" {
				s.Errorf("the turn: %s", f.line)
			}
		case "began": // what it runs on is another version of jig's or another configuration
		default:
			s.Errorf("not asked for: %s", f.line)
		}
	}
	if !slices.Equal(closed, l.open) {
		s.Errorf("calls %v were ended, %v were open", closed, l.open)
	}
	if len(jobs) != len(l.jobs) || goals != one(l.goal) || ends != one(l.turn || len(l.jobs) > 0) {
		s.Errorf("%d jobs, %d goals and %d turns were ended; open were %v", len(jobs), goals, ends, l)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// keeps checks that what a run said is in the log, byte for byte. Before its first reply came a run may
// be gone without a trace.
func (s *scene) keeps(said, log []fact) {
	s.Helper()
	for _, f := range said {
		if f.Seq > uint64(len(log)) {
			if log == nil && (f.Type == "began" || f.Type == "goal" || f.Type == "said" && f.Message.Role == "user") {
				continue
			}
			s.Errorf("lost: %s", f.line)
		} else if got := log[f.Seq-1].line; got != f.line {
			s.Errorf("fact %d was said to be\n%s\nand is\n%s", f.Seq, f.line, got)
		}
	}
}

// goesOn resumes what was cut short and checks all that is promised of it. It gives what the first
// request sent.
func (s *scene) goesOn(id string, before []fact) (sent []byte) {
	s.Helper()
	l := s.left(before)
	version, _ := os.ReadFile(filepath.Join(s.root, "big.txt"))
	head, _, _ := bytes.Cut(version, []byte(";"))
	edit := modeltest.Call{ID: "f1", Name: "edit_file", Args: fmt.Sprintf(`{"path":"big.txt","old_string":"%s;","new_string":"v=99;"}`, head)}
	again := edit
	again.ID = "f3"
	server := s.serves(modeltest.Reply{Calls: []modeltest.Call{edit}},
		modeltest.Reply{Calls: []modeltest.Call{{ID: "f2", Name: "read_file", Args: `{"path":"big.txt","limit":1}`}, again}}, modeltest.Reply{Text: "Resumed."})
	draft := filepath.Join(s.root, ".jig-draft.tmp")
	if _, err := os.Stat(draft); err == nil { // it belongs to nobody once it has some age
		must(s.T, os.Chtimes(draft, time.Time{}, time.Now().Add(-time.Hour)))
	}
	r := s.jig("resume", id, "-m", "go on", "--output-format", "jsonl")
	if r.code != 0 || r.stderr.Len() > 0 {
		s.Errorf("exit code %d: %s", r.code, r.stderr.String())
	}
	if refused := server.Refused(); refused != nil {
		s.Errorf("the provider refused: %q", refused[0])
	}
	after := s.look(id)
	s.keeps(before, after)
	repair := after[len(before):]
	at := slices.IndexFunc(repair, func(f fact) bool { return f.Notice == "goal" || f.Type == "said" && f.text() == "go on" })
	if at < 0 {
		s.Fatalf("nobody went on: %d facts, exit code %d, %s", len(after), r.code, r.stderr.String())
	}
	s.ended(l, repair[:at])
	var results []string
	for _, f := range repair[at:] {
		if f.Type == "closed" {
			results = append(results, f.text())
		}
	}
	all := server.Requests()
	if len(all) != 3 || len(results) != 3 {
		s.Fatalf("%d requests, %d results", len(all), len(results))
	}
	if results[0] != "big.txt has not been read in this session — read it with read_file before modifying it" {
		s.Errorf("an edit of a file that this process did not read says %q", results[0])
	}
	if now, _ := os.ReadFile(filepath.Join(s.root, "big.txt")); string(now) != bigFile(99) {
		s.Errorf("once it was read, the edit says %q", results[2])
	}
	if _, err := os.Stat(draft); err == nil {
		s.Error("a draft is left where another change was made since")
	}
	return all[0].Body
}

// beginsAnew checks that a session can begin where one left nothing.
func (s *scene) beginsAnew() {
	s.Helper()
	server := s.serves(modeltest.Reply{Text: "Begun."})
	r := s.jig("run", "-m", "hello", "--output-format", "jsonl")
	id, said, _ := s.told(r)
	if r.code != 0 || server.Refused() != nil {
		s.Errorf("exit code %d: %s %q", r.code, r.stderr.String(), server.Refused())
	}
	s.keeps(said, s.look(id))
}

// goesOnAgain resumes a second time: nothing more is to be ended.
func (s *scene) goesOnAgain(id string) {
	s.Helper()
	before := s.look(id)
	server := s.serves(modeltest.Reply{Text: "Again."})
	r := s.jig("resume", id, "-m", "and on", "--output-format", "jsonl")
	if r.code != 0 || server.Refused() != nil {
		s.Errorf("exit code %d: %s %q", r.code, r.stderr.String(), server.Refused())
	}
	after := s.look(id)
	s.keeps(before, after)
	var types []string
	for _, f := range after[len(before):] {
		types = append(types, f.Type)
	}
	if got := strings.Join(types, " "); got != "said said ended" {
		s.Errorf("a session that was in order was added %q to", got)
	}
}
