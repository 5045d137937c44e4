//go:build linux

package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inNamespace opens a warden whose init is the first process of a PID namespace.
func inNamespace(t *testing.T, l Limits) *Warden {
	launch := initLaunch(t, l)
	args := []string{"unshare", "--pid", "--fork", "--mount-proc"}
	if os.Getuid() != 0 {
		args = append(args, "--user", "--map-current-user")
	}
	launch.Args = append(args, launch.Args...)
	launch.Path = needs(t, "unshare")
	return openLaunch(t, launch)
}

func TestInANamespaceBothNumbersOfAProcessAreKnown(t *testing.T) {
	w := inNamespace(t, Limits{})
	c, word := tree(t, `echo $$; exec -a "$W" sleep 300`)
	j := start(t, w, c)
	printed(t, j, "\n")
	eventually(t, "the program runs", func() bool { return len(alive(t, word+"\x00300")) == 1 })
	if text(j) != itoa(j.Pid())+"\n" {
		t.Errorf("the command calls itself %q, the job %d", text(j), j.Pid())
	}
	if p := strings.Fields(alive(t, word+"\x00300")[0])[0]; p != itoa(j.HostPid()) || j.HostPid() == j.Pid() {
		t.Errorf("on the machine it is %s, not %d", p, j.HostPid())
	}
	j.Kill(Cancelled)
	finished(t, j)
	eventually(t, "empty", w.Empty)
}

func TestInANamespaceTreesEndAndSoDoesEverything(t *testing.T) {
	w := inNamespace(t, Limits{Grace: 100 * time.Millisecond})
	for _, name := range []string{"empty environment", "ignores TERM", "double fork"} {
		c, word := tree(t, trees[name])
		j := start(t, w, c)
		printed(t, j, "ready")
		j.Kill(Cancelled)
		finished(t, j)
		if l := alive(t, word); len(l) > 0 {
			t.Errorf("%s: left %q", name, l)
		}
	}
	c, word := tree(t, trees["ignores TERM"])
	j := start(t, w, c)
	printed(t, j, "ready")
	if err := w.Close(); err != nil || len(alive(t, word)) > 0 {
		t.Errorf("left %q, %v", alive(t, word), err)
	}
	if s := finished(t, j); !s.Cancelled || s.Lost {
		t.Errorf("%+v", s)
	}
}

// upper is a filter with something it has not settled: the last line.
type upper struct{ line []byte }

func (u *upper) Push(p []byte) []byte {
	u.line = append(u.line, p...)
	i := strings.LastIndexByte(string(u.line), '\n') + 1
	out := []byte(strings.ToUpper(string(u.line[:i])))
	u.line = u.line[i:]
	return out
}

func (u *upper) Rest() []byte { return []byte(strings.ToUpper(string(u.line))) }

func TestFilterChangesTheEndsAndNotTheLog(t *testing.T) {
	w := openWarden(t, Limits{})
	c := bash(`echo one; printf tw; sleep 0.1; echo o; printf three`)
	c.Filter, c.Log = &upper{}, filepath.Join(t.TempDir(), "log")
	_, out := run(t, w, c)
	log, _ := os.ReadFile(c.Log)
	if out != "ONE\nTWO\nTHREE" || string(log) != "one\ntwo\nthree" {
		t.Errorf("%q, logged %q", out, log)
	}
}

// A flood is filtered while the next piece of it is read.
func TestFilterOfAFloodSeesEveryPieceInItsTurn(t *testing.T) {
	w := openWarden(t, Limits{KeepFree: -1})
	const last = 2_000_000
	c := bash(`seq -f 'line %.0f' ` + itoa(last))
	c.Filter, c.Log = &upper{}, filepath.Join(t.TempDir(), "log")
	j := start(t, w, c)
	for done := false; !done; {
		select {
		case <-j.Done():
			done = true
		case <-time.After(time.Millisecond):
			if o := j.Output(); len(o.Head) > 5 && !strings.HasPrefix(string(o.Head), "LINE 1\n") {
				t.Fatalf("meanwhile it begins with %.40q", o.Head)
			}
		}
	}
	o := j.Output()
	log, err := os.Stat(c.Log)
	if err != nil || o.Lines != last || o.Bytes != log.Size() {
		t.Errorf("%d lines and %d bytes, logged %d, %v", o.Lines, o.Bytes, log.Size(), err)
	}
	n := last - strings.Count(string(o.Tail), "\n") + 2 // the number of the line after the first newline in the tail
	_, tail, _ := strings.Cut(string(o.Tail), "\n")
	for i, line := range strings.Split(strings.TrimSuffix(tail, "\n"), "\n") {
		if want := "LINE " + itoa(n+i); line != want {
			t.Fatalf("%q where %q was printed", line, want)
		}
	}
}
