package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"jig/internal/model/modeltest"
)

// fault is an error that a system call gives, for the files of the database alone where ends says which.
type fault struct {
	calls, errno string
	ends         []string
}

// faults are what a disk, a quota, a file system or a machine at its limits does.
var faults = []fault{
	{"pwrite64", "ENOSPC", []string{"", "-wal"}},
	{"pwrite64", "EDQUOT", []string{"-wal"}},
	{"pwrite64", "EIO", []string{"-wal"}},
	{"pwrite64", "EIO", []string{""}},
	{"pwrite64", "EFBIG", []string{"-wal"}},
	{"pwrite64", "ENOSPC", []string{"-shm"}},
	{"pread64", "EIO", []string{""}},
	{"pread64", "EIO", []string{"-wal"}},
	{"fsync,fdatasync", "EIO", []string{"", "-wal"}},
	{"fsync,fdatasync", "ENOSPC", []string{"", "-wal"}},
	{"ftruncate", "ENOSPC", []string{"-shm"}},
	{"ftruncate", "EIO", []string{"", "-wal", "-shm"}},
	{"?open,openat", "ENOSPC", []string{"", "-wal", "-shm"}},
	{"?open,openat", "EIO", []string{"", "-wal", "-shm"}},
	{"?open,openat", "EMFILE", []string{"-wal", "-shm"}},
	{"?open,openat", "EROFS", []string{"", "-wal", "-shm"}},
	{"mmap", "ENOMEM", []string{"-shm"}},
	{"fcntl", "EIO", []string{""}},
	{"fcntl", "ENOLCK", []string{"", "-shm"}},
	{"flock", "ENOLCK", nil},
	{"mkdirat,?chmod,fchmodat", "EACCES", nil},
	{"?unlink,unlinkat", "EIO", []string{"-wal", "-shm"}},
}

// talk is what the model does in a run whose log meets a fault: it reads much, so that the log grows.
func (s *scene) talk() []modeltest.Reply {
	var out []modeltest.Reply
	for i := range 12 {
		c := call(fmt.Sprint("t", i), "read_file", fmt.Sprintf(`{"path":"big.txt","offset":%d,"limit":500}`, 1+500*i))
		if i == 6 {
			c = edit("t6", 0)
		}
		out = append(out, modeltest.Reply{Text: fmt.Sprintf("Step %d.", i), Calls: []modeltest.Call{c}})
	}
	return append(out, modeltest.Reply{Text: "Done."})
}

// sentence checks what a person is told of a run that its log has ended: in one line what happened, where,
// and what to do.
func (s *scene) sentence(r *run, what string) {
	s.Helper()
	text := r.stderr.String()
	for _, bad := range []string{"panic", "goroutine ", "SIG", "fatal error"} {
		if strings.Contains(text, bad) {
			s.Errorf("%s: %s", what, text)
			return
		}
	}
	if r.code == 0 {
		return
	}
	line, more, _ := strings.Cut(text, "\n")
	known := strings.Contains(line, s.home) || strings.Contains(line, "jig.db") || strings.Contains(line, "session ")
	if r.code != 1 || !strings.HasPrefix(line, "jig: ") || !known || strings.Contains(line, "%!") || strings.Count(more, "\n") > 1 {
		s.Errorf("%s: exit code %d: %s", what, r.code, text)
	}
	if !strings.Contains(line, "; ") {
		s.Errorf("%s: what to do is not said: %s", what, text)
	}
	if last := r.stdout; len(last) == 0 || !strings.HasPrefix(last[len(last)-1], `{"type":"result"`) {
		s.Errorf("%s: no report", what)
	}
}

// TestAFaultOfTheDiskLosesNothing: wherever a system call fails that keeps a session, the run ends with a
// sentence, and the session opens and goes on with all that was said.
func TestAFaultOfTheDiskLosesNothing(t *testing.T) {
	used := newScene(t, "openai")
	used.serves(modeltest.Reply{Text: "Hello."})
	if r := used.jig("run", "-m", "hello"); r.code != 0 {
		t.Fatal(r.stderr.String())
	}
	var mu sync.Mutex
	runs, met, failed := 0, map[string]int{}, 0
	t.Run("faults", func(t *testing.T) {
		for i, f := range faults {
			for _, from := range []int{1, 2 + rand.IntN(10), 10 + rand.IntN(30)} {
				for _, goesOn := range []string{"+", ""} { // from then on, or once
					if testing.Short() && (i%4 > 0 || goesOn == "") {
						continue
					}
					what := fmt.Sprintf("%s %s from %d%s on %v", f.calls, f.errno, from, goesOn, f.ends)
					t.Run(what, func(t *testing.T) {
						t.Parallel()
						s := newScene(t, "openai")
						if i%3 > 0 {
							s.after(used)
						}
						trace := filepath.Join(t.TempDir(), "trace")
						wrap := []string{"strace", "-f", "--seccomp-bpf", "-y", "-o", trace, "-e", "trace=" + f.calls, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d%s", f.calls, f.errno, from, goesOn)}
						for _, end := range f.ends {
							wrap = append(wrap, "-P", filepath.Join(s.data(), "jig.db"+end))
						}
						code := s.meets(wrap, what, nil)
						data, err := os.ReadFile(trace)
						must(t, err)
						mu.Lock()
						defer mu.Unlock()
						runs++
						if strings.Contains(string(data), "(INJECTED)") {
							met[f.calls+" "+f.errno]++
						}
						failed += code
					})
				}
			}
		}
	})
	t.Logf("of %d runs %d failed; these met a fault: %v", runs, failed, met)
	if failed < runs/4 {
		t.Errorf("only %d of %d runs failed", failed, runs)
	}
	for _, f := range faults {
		if !testing.Short() && met[f.calls+" "+f.errno] == 0 {
			t.Errorf("no run met %s of %s", f.errno, f.calls)
		}
	}
}

// meets runs the session above in the hands of what makes the fault, and goes on without it.
func (s *scene) meets(wrap []string, what string, between func()) (code int) {
	s.Helper()
	server := s.serves(s.talk()...)
	r := s.wait(s.start(wrap, nil, "run", "-m", "begin", "--output-format", "jsonl"))
	if refused := server.Refused(); refused != nil {
		s.Errorf("%s: the provider refused: %q", what, refused)
	}
	s.sentence(r, what)
	if between != nil {
		between()
	}
	id, said, _ := s.told(r)
	log := s.look(id)
	if log == nil { // what was said to nobody is all that may be lost
		for len(said) > 0 && said[len(said)-1].Type == "ended" {
			said = said[:len(said)-1]
		}
	}
	s.keeps(said, log)
	s.whole(s.left(log))
	if log == nil {
		s.beginsAnew()
		return r.code
	}
	s.goesOn(id, log)
	return r.code
}

// TestAFullDiskLosesNothing: on a file system with no room left, too.
func TestAFullDiskLosesNothing(t *testing.T) {
	used := newScene(t, "openai")
	used.serves(modeltest.Reply{Text: "Hello."})
	if r := used.jig("run", "-m", "hello"); r.code != 0 {
		t.Fatal(r.stderr.String())
	}
	step := 24
	if testing.Short() {
		step = 160
	}
	var full atomic.Int32
	t.Run("sizes", func(t *testing.T) {
		for size := 48; size < 900; size += step {
			t.Run(fmt.Sprint(size, " KiB"), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, "openai")
				if size > 400 && size%48 == 0 { // there must be room for it
					s.after(used)
				}
				must(t, os.MkdirAll(s.data(), 0o700))
				kept := t.TempDir()
				// The mount is in a namespace that goes with the run, so what it holds is taken along.
				const script = `mount -t tmpfs -o mode=700,size=$1k tmpfs "$3" && shift && out=$1 data=$2 old=$3 && shift 3 || exit 99
				cp -a "$old"/. "$data"/ 2>/dev/null
				"$@"; code=$?
				"$1" list sessions >/dev/null 2>"$out/list" </dev/null || grep -q '^jig: .*; ' "$out/list" || code=98
				rm -f "$out/list"; cp -a "$data"/. "$out"/; exit $code`
				wrap := []string{"unshare", "-m"}
				if os.Getuid() != 0 {
					wrap = append(wrap, "-Ur")
				}
				old := t.TempDir()
				must(t, os.CopyFS(old, os.DirFS(s.data())))
				wrap = append(wrap, "sh", "-c", script, "sh", fmt.Sprint(size), kept, s.data(), old)
				code := s.meets(wrap, fmt.Sprint(size, " KiB"), func() {
					must(t, os.RemoveAll(s.data()))
					must(t, os.Rename(kept, s.data()))
				})
				full.Add(int32(code))
			})
		}
	})
	t.Logf("the disk was full in %d runs", full.Load())
	if full.Load() < 2 {
		t.Error("there was always room")
	}
}
