package shell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"jig/internal/sandbox"
)

func TestAJigCallRunsOutsideWithItsRedirectionsAndKeys(t *testing.T) {
	s, bin := leavingSession(t, func(o *Options) {
		o.Env = append(o.Env, "OPENAI_API_KEY=sk-test")
	})
	there := filepath.Join(s.outside, "there")
	for _, c := range []struct{ command, want string }{
		{bin + " say write=" + there + " env=OPENAI_API_KEY env=PWD", "write: true\nsk-test\n" + s.root + "\n"},
		{bin + " say 'a b' \"c'd\" e\\ f $x", "$x stays inside"},
		{bin + ` say 'a b' "c'd" e\ f ''`, `"a b"` + "\n" + `"c'd"` + "\n\"e f\"\n\"\"\n"},
		{bin + " say env=GIT_EDITOR env=TMPDIR", "true\n" + s.opts.Temp + "\n"},
		{bin + " say write=" + there + " stderr", "write: true\non stderr\n"},
		{bin + " say a stderr > " + s.outside + "/out 2>&1", "[command produced no output]"},
		{bin + " say a stderr 2>&1 > " + s.outside + "/out2", "on stderr\n"},
		{bin + " say b &>> " + s.outside + "/out", "[command produced no output]"},
		{bin + " say c > " + s.outside + "/no/such", "jig: open " + s.outside + "/no/such: no such file or directory\n[exit code 1]"},
	} {
		if strings.Contains(c.want, "stays inside") {
			if _, ok := s.leaves(c.command, s.root); ok {
				t.Errorf("%s leaves", c.command)
			}
			continue
		}
		s.says(c.command, c.want)
	}
	for name, want := range map[string]string{"out": "\"a\"\non stderr\n\"b\"\n", "out2": "\"a\"\n"} {
		if b, err := os.ReadFile(filepath.Join(s.outside, name)); string(b) != want {
			t.Errorf("%s holds %q, %v", name, b, err)
		}
	}
	if fi, err := os.Stat(filepath.Join(s.outside, "out")); err != nil || fi.Mode().Perm()&0o600 != 0o600 {
		t.Error(fi, err)
	}
}

// TestWhoeverLendsToAJigIsToldWhenItEnded: what a jig outside gets reaches it alone, and its end is
// told once, before anybody reads of it, however it came.
func TestWhoeverLendsToAJigIsToldWhenItEnded(t *testing.T) {
	var mu sync.Mutex
	begun, over := 0, 0
	var refuse error
	s, bin := leavingSession(t, func(o *Options) {
		o.Env = append(o.Env, "LENT=nothing")
		o.Child = func() ([]string, func(), error) {
			mu.Lock()
			defer mu.Unlock()
			if refuse != nil {
				return nil, func() { t.Error("the end of what never began was told") }, refuse
			}
			begun++
			return []string{"LENT=5"}, func() { mu.Lock(); defer mu.Unlock(); over++ }, nil
		}
	})
	counts := func(what string, b, o int) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if begun != b || over != o {
			t.Errorf("%s: %d begun and %d over, want %d and %d", what, begun, over, b, o)
		}
	}
	s.says("echo $LENT", "nothing\n")
	s.says(bin+" say env=LENT | cat", "nothing\n")
	counts("inside", 0, 0)
	s.says(bin+" say env=LENT", "5\n")
	counts("called", 1, 1)
	s.says(bin+" say env=LENT 2>&1", "5\n")
	counts("redirected", 2, 2)
	s.call(args{"command": bin + " say", "background": true})
	_ = s.notice()
	counts("in the background", 3, 3)
	s.call(args{"command": bin + " say < " + s.outside + "/none"})
	counts("not started", 4, 4)
	s.call(args{"command": bin + " say < none", "background": true})
	_ = s.notice()
	counts("not started in the background", 5, 5)
	s.call(args{"command": bin + " say", "cwd": s.outside})
	counts("inside, because of its folder", 5, 5)
	refuse = errors.New("nothing is left")
	s.says(bin+" say", "failed to run: nothing is left")
	counts("refused", 5, 5)
}

func TestEverythingElseStaysInside(t *testing.T) {
	s, bin := leavingSession(t, func(o *Options) { o.Env = append(o.Env, "OPENAI_API_KEY=sk-test") })
	there := filepath.Join(s.outside, "there")
	say := bin + " say write=" + there + " env=OPENAI_API_KEY"
	for _, command := range []string{
		say + " | cat", say + "; true", say + " && true", "true && " + say, say + " $(true)", "V=1 " + say, "exec " + say, "bash -c '" + say + "'",
		say + " # note", say + " < <(true)", say + "\n", "(" + say + ")", "cp " + bin + " x; ./x say write=" + there + " env=OPENAI_API_KEY",
	} {
		if got := s.sh(command); got != "write: false\n\n" {
			t.Errorf("%q: %q", command, got)
		}
	}
	if _, err := os.Stat(there); err == nil {
		t.Error("something was written outside")
	}
}

func TestAReplacedProgramStaysInside(t *testing.T) {
	s, bin := leavingSession(t)
	p, err := s.prepare(args{"command": bin + " say hi"})
	if err != nil || p.Ask == nil {
		t.Fatalf("%+v, %v", p.Plan, err)
	}
	other := self(t, apart(t))
	s.must(os.Rename(other, bin))
	if _, ok := s.leaves(bin+" say hi", s.root); ok {
		t.Error("a program that took the place of the running one leaves")
	}
	_, err = p.Run(t.Context(), nil)
	s.note(err)
	if err == nil || err.Error() != "failed to run: the program of this command is not the running jig any more" {
		t.Errorf("what was allowed before ran: %v", err)
	}
}

func TestAProgramThatCommandsCouldReplaceDoesNotLeave(t *testing.T) {
	dir := apart(t)
	for name, c := range map[string]func(*Options){
		"the root holds it":            func(o *Options) { o.Root = dir },
		"a write: path holds it":       func(o *Options) { o.Config.Write = []string{filepath.Dir(dir)} },
		"a write: path is the program": func(o *Options) { o.Config.Write = []string{filepath.Join(dir, "jig")} },
		"a write: path is a link there": func(o *Options) {
			l := filepath.Join(apart(t), "l") // one in the root is no writable place at all
			_ = os.Symlink(dir, l)
			o.Config.Write = []string{l}
		},
		"the cache holds it":                    func(o *Options) { o.Cache = dir },
		"the system cannot say what is running": func(o *Options) { o.Binary = "" },
		"there is no sandbox":                   func(o *Options) { o.Tier = sandbox.None },
	} {
		bin := self(t, dir)
		s := begin(t, in(sandbox.Namespaces), func(o *Options) { o.Binary = bin }, c)
		if _, ok := s.leaves(bin+" say hi", s.root); ok {
			t.Errorf("%s, and yet it leaves", name)
		}
	}
}
