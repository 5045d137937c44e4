package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"jig/internal/tool"
)

func TestResultsInTheirOrder(t *testing.T) {
	s := begin(t)
	s.says("echo out", "out\n")
	s.says("printf out", "out")
	s.says("true", "[command produced no output]")
	s.says("echo out; echo err >&2; exit 3", "out\nerr\n[exit code 3]")
	s.says("printf x; exit 1", "x\n[exit code 1]")
	s.says("exit 42", "[exit code 42]")
	s.says("kill -TERM $$", "[exit code 143]")
	s.says("kill -KILL $$", "[exit code 137]")
	s.says("false | tail -1", "[command produced no output]")
	s.says("set -o pipefail; false | tail -1", "[exit code 1]")
	s.says("no-such-program-here", s.interp.path+": line 1: no-such-program-here: command not found\n[exit code 127]")
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"command": "echo so far; sleep 60", "timeout": 1}, "so far\n[command timed out after 1s]"},
		{args{"command": "sleep 60", "timeout": "0.2"}, "[command timed out after 200ms]"},
		{args{"command": "pwd", "cwd": "nowhere"}, "failed to run: working directory " + s.root + "/nowhere: no such file or directory"},
		{args{"command": "pwd", "cwd": "/etc/passwd"}, "failed to run: working directory /etc/passwd: not a directory"},
	} {
		if r := s.call(c.a); r.Blocks.Text() != c.want || !r.Failed {
			t.Errorf("%v: %q", c.a, r.Blocks.Text())
		}
	}
	if r := s.call(args{"command": "true"}); r.Failed {
		t.Error("silence is an error")
	}
}

func TestDirectories(t *testing.T) {
	s := begin(t)
	s.must(os.MkdirAll(filepath.Join(s.root, "sub dir"), 0o755))
	s.must(os.Symlink(s.outside, filepath.Join(s.root, "link")))
	for cwd, want := range map[string]string{
		"": s.root, ".": s.root, "sub dir": s.root + "/sub dir", "sub dir/..": s.root, s.outside: s.outside, "link": s.root + "/link",
		"..": filepath.Dir(s.root), "~": s.outside, "/": "/",
	} {
		if got := s.call(args{"command": "pwd; cd /", "cwd": cwd}).Blocks.Text(); got != want+"\n" {
			t.Errorf("%q: %q, want %q", cwd, got, want)
		}
	}
}

func TestNothingCarriesOver(t *testing.T) {
	s := begin(t)
	s.sh("cd /; export A=1; f() { :; }; alias g=echo; set -e; umask 077")
	s.says("pwd; echo \"[$A]\"; type f g 2>&1 | grep -c 'not found'; umask", s.root+"\n[]\n2\n"+s.sh("umask"))
}

func TestCallsOfOneRoundRunAtTheSameTime(t *testing.T) {
	s := begin(t)
	s.must(syscall.Mkfifo(filepath.Join(s.root, "a"), 0o600))
	s.must(syscall.Mkfifo(filepath.Join(s.root, "b"), 0o600))
	results := make(chan string, 2)
	go func() { results <- s.sh("echo one > a; cat b") }() // each waits for the other
	go func() { results <- s.sh("cat a; echo two > b") }()
	got := <-results + <-results
	if got != "one\ntwo\n" && got != "two\none\n" {
		t.Errorf("%q", got)
	}
}

func TestACallReturnsWhenItsCommandExitsNotWhenAChildLetsGoOfThePipe(t *testing.T) {
	s := begin(t)
	s.says("sleep 300 & echo hi", "hi\n")
	s.says("setsid sleep 300 & echo hi", "hi\n")
	s.says("(sleep 300; echo late) & echo hi; exit 3", "hi\n[exit code 3]")
}

func TestATimeoutEndsTheWholeTree(t *testing.T) {
	s := begin(t)
	for name, command := range map[string]string{
		"a fifo":           "mkfifo p; (while :; do echo c; sleep 0.1; done) > p & cat p",
		"a deaf child":     "(trap '' TERM; sleep 300) & wait",
		"another session":  "setsid sleep 300 & sleep 300",
		"a double fork":    "(setsid sh -c '(sleep 300 &) ; sleep 300' &) ; sleep 300",
		"a deaf main":      "trap '' TERM; while :; do sleep 0.1; done",
		"nohup is no rest": "nohup sleep 300 >/dev/null 2>&1 & sleep 300",
	} {
		mark := filepath.Join(t.TempDir(), "alive")
		r := s.call(args{"command": "exec 9> " + mark + "; " + command, "timeout": 1})
		if !strings.HasSuffix(r.Blocks.Text(), "[command timed out after 1s]") {
			t.Errorf("%s: %q", name, r.Blocks.Text())
		}
		if left := holders(t, mark); len(left) > 0 {
			t.Errorf("%s: %q is still there", name, left)
		}
	}
}

// holders are the processes that have a file open, by their command lines.
func holders(t *testing.T, path string) (out []string) {
	t.Helper()
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && to == path {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(fd)), "cmdline"))
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

func TestEscEndsTheCommandWithItsTree(t *testing.T) {
	s := begin(t)
	mark := filepath.Join(t.TempDir(), "alive")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for len(holders(t, mark)) < 2 {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	r := s.callWith(ctx, args{"command": "exec 9> " + mark + "; echo so far; setsid sleep 300 & sleep 300"})
	if r.Blocks.Text() != "so far\n[command cancelled]" || !r.Failed {
		t.Errorf("%q", r.Blocks.Text())
	}
	if left := holders(t, mark); len(left) > 0 {
		t.Errorf("%q is still there", left)
	}
	p, err := s.prepare(args{"command": "touch ran"})
	s.must(err)
	if _, err := p.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.says("ls -A", "[command produced no output]")
}

func TestNobodyIsThereToAnswer(t *testing.T) {
	s := begin(t, func(o *Options) {
		o.Env = append(o.Env, "EDITOR=vim", "VISUAL=vim", "GIT_EDITOR=vim", "PAGER=less", "GIT_PAGER=less", "GIT_TERMINAL_PROMPT=1", "TERM=xterm-256color")
	})
	for command, want := range map[string]string{
		"cat":                      "[command produced no output]",
		"cat /dev/stdin":           "[command produced no output]",
		"seq 2 | cat < /dev/stdin": "1\n2\n",
		"grep x":                   "[exit code 1]",
		"read x; echo \"$?\"":      "1\n",
		"echo x > /dev/tty":        "",
		"echo $EDITOR $VISUAL $GIT_EDITOR $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM": "true true true cat cat 0 dumb\n",
	} {
		r := s.call(args{"command": command, "timeout": 20})
		if want == "" && !strings.Contains(r.Blocks.Text(), "No such device") || want != "" && r.Blocks.Text() != want {
			t.Errorf("%s: %q", command, r.Blocks.Text())
		}
	}
	r := s.call(args{"command": "cat", "background": true})
	if text := s.notice(); !strings.HasPrefix(text, "[background job b1 finished: exit 0 after <1s] cat") {
		t.Errorf("%q, %q", r.Blocks.Text(), text)
	}
}

func TestGitNeverWaitsForAPerson(t *testing.T) {
	s := begin(t)
	s.sh("git init -q . && git config user.email a@b && git config user.name n && echo 1 > f && git add f && git commit -qm one && echo 2 > f && git commit -qam two && echo 3 > f && git commit -qam three")
	for _, c := range []struct{ command, want string }{
		{"echo 4 > f; git commit -a", "Aborting commit due to empty commit message"},
		{"git -p log --oneline | cat", "three"}, {"git -p log --oneline", "three"},
		{"git stash -q; git rebase -i HEAD~2", "[command produced no output]"},
		{"git checkout -qb other HEAD~1; echo x > g; git add g; git commit -qm g; git checkout -q -; git merge other", "g"},
	} {
		r := s.call(args{"command": c.command, "timeout": 60})
		if text := r.Blocks.Text(); strings.Contains(text, "timed out") || !strings.Contains(text, c.want) && !strings.Contains(text, "Successfully rebased") {
			t.Errorf("%s: %q", c.command, text)
		}
	}
}

func TestNoProfileIsRead(t *testing.T) {
	s := begin(t)
	for _, name := range []string{".profile", ".bashrc", ".bash_profile"} {
		s.must(os.WriteFile(filepath.Join(s.outside, name), []byte("echo Welcome; alias ls='echo no'; exit 3\n"), 0o644))
	}
	s.says("HOME="+s.outside+" true; echo ok", "ok\n")
	b := begin(t, func(o *Options) { o.Env = append(o.Env, "HOME="+s.outside) })
	b.says("ls; echo ok", "ok\n")
}

func TestProgressAndEscapesNeverReachTheModel(t *testing.T) {
	s := begin(t)
	s.says(`for i in $(seq 1 5000); do printf '\rProgress %d%%' $i; done; echo; printf '\033[2A\033[2Kx\n'`, "Progress 5000%\nx\n")
	s.says(`printf 'a\0b\033]0;t\007\377\n'`, "ab\uFFFD\n")
	s.says(`printf '\342\202'; sleep 0.2; printf '\254'`, "€")
}

func TestAFailingEndIsNotLost(t *testing.T) {
	s := begin(t)
	got := s.sh("seq 1 200000; echo FATAL: real cause; exit 3")
	if !strings.HasPrefix(got, "1\n2\n") || !strings.HasSuffix(got, "\n200000\nFATAL: real cause\n[exit code 3]") ||
		!strings.Contains(got, "\n128\n[... 199489 lines omitted — pipe through head/tail/grep to narrow the output ...]\n199618\n") {
		t.Error(brief(got))
	}
	got = s.sh("echo first; head -c 600000 /dev/zero | tr '\\0' x; echo; exit 1")
	if !strings.HasPrefix(got, "first\nxxx") || !strings.HasSuffix(got, "xxx\n[exit code 1]") || !strings.Contains(got, fmt.Sprintf("\n[... %d bytes omitted ...]\n", 600007-(30<<10))) {
		t.Error(brief(got))
	}
	for shift := range 4 {
		got := s.sh(fmt.Sprintf("printf '%%%ds' ''; for i in $(seq 20000); do printf '\u20ac'; done", shift))
		if strings.ContainsRune(got, '\uFFFD') || len(got) > 32<<10 {
			t.Errorf("shifted by %d: %s", shift, brief(got))
		}
	}
}

func TestAGreatDealOfOutputTakesLittleMemory(t *testing.T) {
	s := begin(t)
	s.sh("yes | head -c 1M")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := s.sh("yes | head -c 200M")
	runtime.ReadMemStats(&after)
	if after.HeapSys > before.HeapSys+32<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before.HeapSys, after.HeapSys)
	}
	if !strings.HasPrefix(got, "y\ny\n") || len(got) > 4096 || !strings.Contains(got, fmt.Sprintf("[... %d lines omitted", 100<<20-512)) {
		t.Error(brief(got))
	}
}

func TestAVanishedDirectoryIsSaidAndPasses(t *testing.T) {
	s := begin(t)
	s.must(os.Mkdir(filepath.Join(s.root, "d"), 0o755))
	s.says("cd d && rm -rf \"$PWD\"; echo gone", "gone\n")
	s.says("echo hi", "hi\n")
	s.must(os.RemoveAll(s.root))
	s.says("echo hi", "failed to run: working directory "+s.root+": no such file or directory")
	if got := s.call(args{"command": "echo hi", "cwd": "/"}).Blocks.Text(); got != "hi\n" {
		t.Errorf("%q", got)
	}
	s.must(os.Mkdir(s.root, 0o755))
	s.says("echo hi > f; cat f", "hi\n")
}

func TestALongCommandRunsWholeOrNotAtAll(t *testing.T) {
	s := begin(t)
	command := func(n int) string {
		head, tail := "cat > f <<'E'\n", "\nE\nwc -c < f"
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	s.says(command(131071), fmt.Sprintln(131071-len("cat > f <<'E'\n")-len("\nE\nwc -c < f")+1))
	got := s.sh(command(131072))
	if !strings.HasPrefix(got, "failed to run: the command has 131072 bytes, and this system takes no more than 131071") || !strings.Contains(got, "write_file") {
		t.Error(got)
	}
	s.says("echo a\x00b", "failed to run: the command holds a NUL byte")
}

func TestAnInterpreterThatCannotRunFailsTheCall(t *testing.T) {
	s := begin(t, func(o *Options) { o.Env = append(o.Env, "JIG_SHELL=no-such-shell") })
	for range 2 {
		s.says("echo hi", `failed to run: JIG_SHELL names "no-such-shell", which is no executable file on this system`)
	}
	if s.Interpreter() != "(none)" {
		t.Error(s.Interpreter())
	}
	s = begin(t, func(o *Options) { o.Env = []string{"PATH=/nowhere"} })
	s.says("echo hi", "failed to run: bash is not installed, or not on PATH; JIG_SHELL can name another shell")
	s = begin(t, func(o *Options) { o.Env = append(o.Env, "JIG_SHELL=sh") })
	s.says("echo $0", s.interp.path+"\n")
	if s.Interpreter() != "sh" {
		t.Error(s.Interpreter())
	}
}

func TestSecretsStayOutOfCommands(t *testing.T) {
	s := begin(t, func(o *Options) {
		o.Env = append(o.Env, "OPENAI_API_KEY=sk-test", "API_KEY=sk-test", "my_token=sk-test", "DB_PASSWORD=sk-test", "X_SECRET=sk-test", "PROVIDER=sk-test", "KEYBOARD=de", "TOKENS=3", "JIG_CALL=other")
		o.Keys = []string{"PROVIDER"}
		o.Extra = []string{"DEPLOY_TOKEN=put-back", "PAGER=mine"}
	})
	s.says("env | grep -c sk-test", "0\n[exit code 1]")
	s.says("echo $KEYBOARD $TOKENS $DEPLOY_TOKEN $PAGER", "de 3 put-back mine\n")
	s.says("cat /proc/$PPID/environ 2> /dev/null | tr '\\0' '\\n' | grep -c sk-test", "0\n[exit code 1]")
	if got := s.sh("echo $JIG_CALL; env | grep -c ^JIG_CALL="); !regexp.MustCompile(`^c\d+\..*\n1\n$`).MatchString(got) {
		t.Errorf("%q", got)
	}
}

func TestTheTemporaryFolderIsThere(t *testing.T) {
	s := begin(t, func(o *Options) { o.Temp = filepath.Join(o.Temp, "not", "yet") })
	temp := s.opts.Temp
	s.says("echo $TMPDIR; mktemp | sed s/[^/]*$//; cat <<< x", temp+"\n"+temp+"/\nx\n")
	s.must(os.RemoveAll(temp))
	s.says("mktemp > /dev/null && echo ok", "ok\n")
}

func TestProgressIsTold(t *testing.T) {
	s := begin(t)
	p, err := s.prepare(args{"command": "sleep 1.3"})
	s.must(err)
	var cards []tool.Card
	if _, err := p.Run(context.Background(), func(c tool.Card) { cards = append(cards, c) }); err != nil {
		t.Fatal(err)
	}
	if len(cards) == 0 || cards[0].Title != "sleep 1.3" || cards[0].Text != "1s" {
		t.Errorf("%+v", cards)
	}
	if _, err := p.Run(context.Background(), nil); err == nil {
		t.Error("a call can be run twice")
	}
}
