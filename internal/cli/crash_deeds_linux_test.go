package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"jig/internal/model/modeltest"
	"jig/internal/session"
	"jig/internal/store"
)

// kept is a home with sessions, one of which was exported: what a command finds that changes what is kept.
type kept struct {
	*scene
	long  string            // the session that the commands are given
	lines map[string]string // all sessions, as they are kept
	file  map[string][]byte // the long one's, by ending
	came  int               // how many facts an import of it has
}

func newKept(t *testing.T) *kept {
	t.Helper()
	k := &kept{scene: newScene(t, "openai"), file: map[string][]byte{}}
	k.serves(k.talk()...)
	r := k.jig("run", "-m", "begin", "--output-format", "jsonl")
	k.long, _, _ = k.told(r)
	k.serves(modeltest.Reply{Text: "Hello."}, modeltest.Reply{Text: "Good day."})
	for _, text := range []string{"hello", "good day"} {
		if r := k.jig("run", "-m", text); r.code != 0 {
			t.Fatal(r.stderr.String())
		}
	}
	for _, end := range []string{"jsonl", "html"} {
		to := filepath.Join(k.root, "p."+end)
		if r := k.jig("export", k.long, "--to", to); r.code != 0 {
			t.Fatal(r.stderr.String())
		}
		data, err := os.ReadFile(to)
		must(t, err)
		k.file[end] = data
	}
	k.lines = k.keptLines(k.data())
	other := newScene(t, "openai").after(k.scene)
	other.serves()
	if r := other.jig("resume", filepath.Join(k.root, "p.jsonl")); r.code != 0 {
		t.Fatal(r.stderr.String())
	}
	now := other.keptLines(other.data())
	for id, lines := range now {
		if k.lines[id] == "" {
			k.came = strings.Count(lines, "\n")
		}
	}
	return k
}

// keptLines reads all sessions out of a copy of the database, which must be whole.
func (s *scene) keptLines(data string) (lines map[string]string) {
	s.Helper()
	dir := s.TempDir()
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(data, "jig.db"+end))
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
	all, err := d.List(store.Query{})
	must(s.T, err)
	lines = map[string]string{}
	for _, i := range all {
		facts, err := d.Facts(i.ID)
		must(s.T, err)
		if left := session.Resume(session.Fold(facts)); i.State != store.Running && len(left) > 0 {
			s.Errorf("session %s was left in order, and %d facts are missing", i.ID, len(left))
		}
		var b strings.Builder
		for line, err := range d.Lines(i.ID, 0) {
			must(s.T, err)
			b.Write(line)
			b.WriteByte('\n')
		}
		lines[i.ID] = b.String()
	}
	return lines
}

// deed is a command that writes, other than a run.
type deed struct {
	name string
	args func(k *kept, s *scene) []string
	// check says what must hold besides: all sessions but the long one are as they were.
	check func(k *kept, s *scene, r *run, now map[string]string)
}

// out is where an export goes.
func (s *scene) out(end string) string { return filepath.Join(s.home, "out", "o."+end) }

func exports(end string) deed {
	return deed{"export " + end, func(k *kept, s *scene) []string { return []string{"export", k.long, "--to", s.out(end)} },
		func(k *kept, s *scene, r *run, now map[string]string) {
			if now[k.long] != k.lines[k.long] {
				s.Error("an export changed the session")
			}
			there, err := os.ReadDir(filepath.Dir(s.out(end)))
			must(s.T, err)
			if len(there) == 0 && r.code != 0 {
				return
			}
			got, err := os.ReadFile(s.out(end))
			if err != nil || !bytes.Equal(got, k.file[end]) || len(there) != 1 {
				s.Errorf("exit code %d, %d files, of %d bytes %d are there: %s", r.code, len(there), len(k.file[end]), len(got), r.stderr.String())
			}
		}}
}

// isGone checks that a session was removed whole, or not at all.
func isGone(k *kept, s *scene, r *run, now map[string]string) {
	if now[k.long] == "" {
		return
	}
	if now[k.long] != k.lines[k.long] {
		s.Error("half of a session is left")
	}
	if r.code == 0 || len(r.stdout) > 0 && !strings.HasPrefix(r.stdout[0], "deleted 0") {
		s.Errorf("exit code %d, %q, but it is there", r.code, r.stdout)
	}
}

var deeds = []deed{
	{"resume --compact", func(k *kept, _ *scene) []string { return []string{"resume", k.long, "--compact"} }, func(k *kept, s *scene, r *run, now map[string]string) {
		more, whole := strings.CutPrefix(now[k.long], k.lines[k.long])
		if !whole {
			s.Error("the session has lost something")
		}
		if r.code == 0 && !strings.Contains(more, `"type":"compacted"`) {
			s.Errorf("the summary is not kept: %s%s", r.stderr.String(), more)
		}
	}},
	{"resume FILE", func(k *kept, _ *scene) []string { return []string{"resume", filepath.Join(k.root, "p.jsonl")} }, func(k *kept, s *scene, r *run, now map[string]string) {
		if now[k.long] != k.lines[k.long] {
			s.Error("the other session is changed")
		}
		for id, lines := range now {
			if k.lines[id] == "" && strings.Count(lines, "\n") != k.came {
				s.Errorf("of %d facts %d are there", k.came, strings.Count(lines, "\n"))
			}
		}
		if len(r.stdout) > 0 && now[r.stdout[0]] == "" || r.code == 0 && len(now) == len(k.lines) {
			s.Errorf("it says %q, but there is none", r.stdout)
		}
	}},
	{"sessions delete", func(k *kept, _ *scene) []string { return []string{"sessions", "delete", k.long} }, isGone},
	{"sessions prune", func(*kept, *scene) []string { return []string{"sessions", "prune", "--keep", "2"} }, isGone},
	exports("jsonl"), exports("html"),
}

// does lets a command meet a fault and checks what is left.
func (k *kept) does(s *scene, d deed, wrap []string, what string, between func()) (code int) {
	s.Helper()
	must(s.T, os.MkdirAll(filepath.Dir(s.out("x")), 0o700))
	server := s.serves(modeltest.Reply{Text: "SUMMARY: files were read"})
	temp := s.TempDir()
	r := s.wait(s.start(append(slices.Clone(wrap), "env", "TMPDIR="+temp), nil, d.args(k, s)...))
	if between != nil {
		between()
	}
	s.saysWhatToDo(r, what)
	now := s.keptLines(s.data())
	for id, lines := range k.lines {
		if id != k.long && now[id] != lines {
			s.Errorf("%s: another session is changed", what)
		}
	}
	d.check(k, s, r, now)
	if s.Failed() {
		s.Logf("%s: exit code %d, %q, %s", what, r.code, r.stdout, r.stderr.String())
	}
	if server.Refused() != nil {
		s.Errorf("%s: the provider refused: %q", what, server.Refused())
	}
	for id := range now { // one that is new, or the long one, or any
		if k.lines[id] != "" && now[k.long] != "" && id != k.long {
			continue
		}
		server := s.serves(modeltest.Reply{Text: "Resumed."})
		r := s.jig("resume", id, "-m", "go on")
		if r.code != 0 || server.Refused() != nil || len(server.Requests()) != 1 {
			s.Errorf("%s: exit code %d, refused %q: %s", what, r.code, server.Refused(), r.stderr.String())
		}
		break
	}
	return r.code
}

// saysWhatToDo checks that a failure is one line: what happened, where, and what to do.
func (s *scene) saysWhatToDo(r *run, what string) {
	s.Helper()
	text := r.stderr.String()
	for _, bad := range []string{"panic", "goroutine ", "SIG", "fatal error", "%!"} {
		if strings.Contains(text, bad) {
			s.Errorf("%s: %s", what, text)
		}
	}
	if r.code == 0 {
		return
	}
	failures := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "jig: ") {
			s.Errorf("%s: %q", what, text)
		}
		if !strings.HasPrefix(line, "jig: warning: ") {
			failures++
			if known := strings.Contains(line, s.home) || strings.Contains(line, s.root) || strings.Contains(line, "session "); !known || !strings.Contains(line, "; ") {
				s.Errorf("%s: what to do is not said: %s", what, line)
			}
		}
	}
	if r.code != 1 || failures != 1 {
		s.Errorf("%s: exit code %d: %q", what, r.code, text)
	}
}

// TestAFaultOfTheDiskHarmsNothingThatACommandChanges: not only runs meet a disk that fails.
func TestAFaultOfTheDiskHarmsNothingThatACommandChanges(t *testing.T) {
	k := newKept(t)
	var mu sync.Mutex
	met, failed := map[string]int{}, map[string]int{}
	inject := func(d deed, f fault, from int, goesOn string, paths func(s *scene) []string) {
		what := fmt.Sprintf("%s: %s %s from %d%s on %v", d.name, f.calls, f.errno, from, goesOn, f.ends)
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "openai").after(k.scene)
			s.root = k.root // a project of the sessions'; nothing here changes its files
			trace := filepath.Join(t.TempDir(), "trace")
			wrap := []string{"strace", "-f", "--seccomp-bpf", "-y", "-o", trace, "-e", "trace=" + f.calls, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d%s", f.calls, f.errno, from, goesOn)}
			for _, p := range paths(s) {
				wrap = append(wrap, "-P", p)
			}
			code := k.does(s, d, wrap, what, nil)
			data, err := os.ReadFile(trace)
			must(t, err)
			mu.Lock()
			defer mu.Unlock()
			if bytes.Contains(data, []byte("(INJECTED)")) {
				met[d.name]++
			}
			failed[d.name] += code
		})
	}
	t.Run("faults", func(t2 *testing.T) {
		t = t2
		for _, d := range deeds {
			for i, f := range faults {
				if testing.Short() && i%4 > 0 || d.name == "export html" { // the other export reads the same
					continue
				}
				goesOn := []string{"", "+"}[rand.IntN(2)]
				if f.errno == "ENOLCK" {
					goesOn = "" // it is waited for, as for another process
				}
				inject(d, f, 1+rand.IntN(3), goesOn, func(s *scene) (paths []string) {
					for _, end := range f.ends {
						paths = append(paths, filepath.Join(s.data(), "jig.db"+end))
					}
					return paths
				})
			}
		}
		for _, end := range []string{"jsonl", "html"} {
			for _, f := range []fault{{"write", "ENOSPC", nil}, {"write", "EIO", nil}, {"fsync", "EIO", nil}, {"?open,openat", "EDQUOT", nil}} {
				inject(exports(end), f, 1+rand.IntN(2), "", func(s *scene) []string { return []string{s.out(end)} })
			}
		}
	})
	t.Logf("met %v, failed %v", met, failed)
	for _, d := range deeds {
		if met[d.name] == 0 {
			t.Errorf("%s met no fault", d.name)
		}
	}
}

// TestAFullDiskHarmsNothingThatACommandChanges: on a file system with little room left, too.
func TestAFullDiskHarmsNothingThatACommandChanges(t *testing.T) {
	k := newKept(t)
	var mu sync.Mutex
	full := map[string]int{}
	t.Run("rooms", func(t *testing.T) {
		for _, d := range deeds {
			for i, room := range []int{4, 40, 100, 300, 600, 1200} { // KiB
				if testing.Short() && i%3 > 0 {
					continue
				}
				what := fmt.Sprintf("%s with %d KiB", d.name, room)
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					s := newScene(t, "openai").after(k.scene)
					s.root = k.root
					left := t.TempDir()
					// What is mounted goes with the run, so it is taken along.
					const script = `room=$1 home=$2 left=$3 && shift 3 && cp -a "$home"/. "$left"/ || exit 99
					size=$(($(du -sk "$left" | cut -f1) + room))
					mount -t tmpfs -o mode=700,size="$size"k tmpfs "$home" && cp -a "$left"/. "$home"/ || exit 99
					"$@"; code=$?
					rm -rf "$left"/* "$left"/.[a-z]* && cp -a "$home"/. "$left"/ || exit 99
					exit $code`
					wrap := []string{"unshare", "-m"}
					if os.Getuid() != 0 {
						wrap = append(wrap, "-Ur")
					}
					wrap = append(wrap, "sh", "-c", script, "sh", fmt.Sprint(room), s.home, left)
					code := k.does(s, d, wrap, what, func() {
						must(t, os.RemoveAll(s.home))
						must(t, os.Rename(left, s.home))
					})
					mu.Lock()
					defer mu.Unlock()
					full[d.name] += code
				})
			}
		}
	})
	t.Logf("the disk was full in %v", full)
	for _, d := range deeds {
		if full[d.name] == 0 {
			t.Errorf("%s always had room", d.name)
		}
	}
}
