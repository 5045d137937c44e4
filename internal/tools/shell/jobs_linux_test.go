package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"jig/internal/tool"
)

func TestACommandThatOutlastsTheYieldBecomesAJob(t *testing.T) {
	s := begin(t, yieldAfter(500*time.Millisecond))
	r := s.call(args{"command": "echo so far; while [ ! -e go ]; do sleep 0.05; done; echo rest; exit 3"})
	log := s.logs.dir + "/b1.log"
	want := regexp.MustCompile(`^Still running after 500ms as background job b1 \(pid (\d+)\)\. Output so far:\nso far\n` +
		"A notice with its exit status and output arrives when it finishes; do not poll \\(`tail -f " + log + "` only if you need progress\\)\\.$")
	if !want.MatchString(r.Blocks.Text()) || r.Failed || r.Job != "b1" {
		t.Errorf("%q %+v", r.Blocks.Text(), r)
	}
	if r.Card == nil || r.Card.Text != "still running after 500ms → background job b1\nso far" {
		t.Errorf("%+v", r.Card)
	}
	if base := filepath.Join(s.opts.Temp, "jig-jobs", fmt.Sprint(os.Getpid()), "b1.log"); log != base {
		t.Errorf("the log is %s", log)
	}
	s.mu.Lock()
	shown := s.jobsShown[len(s.jobsShown)-1]
	s.mu.Unlock()
	if len(shown) != 1 || shown[0].ID != "b1" || shown[0].Call != "c1" || shown[0].Log != log || shown[0].Label == "" || fmt.Sprint(shown[0].Pid) != want.FindStringSubmatch(r.Blocks.Text())[1] || time.Since(shown[0].Start) > time.Minute {
		t.Errorf("%+v", shown)
	}
	s.sh("touch go")
	text := s.notice()
	if !regexp.MustCompile(`^\[background job b1 finished: exit 3 after (<1s|\ds)\] echo so far; while \[ ! -e go \]; do sleep 0\.05; done; echo rest;…\nso far\nrest\n$`).MatchString(text) {
		t.Errorf("%q", text)
	}
	s.until("the list is empty", func() bool { return s.jobsShown[len(s.jobsShown)-1] == nil })
	if b, err := os.ReadFile(log); string(b) != "so far\nrest\n" {
		t.Errorf("the log holds %q, %v", b, err)
	}
}

func TestAJobWithoutOutputSaysSo(t *testing.T) {
	s := begin(t, yieldAfter(200*time.Millisecond))
	r := s.call(args{"command": "while [ ! -e go ]; do sleep 0.05; done"})
	if !regexp.MustCompile(`^Still running after 200ms as background job b1 \(pid \d+\)\. No output so far\.\nA notice with`).MatchString(r.Blocks.Text()) {
		t.Errorf("%q", r.Blocks.Text())
	}
	s.sh("touch go")
	if text := s.notice(); strings.Contains(text, "\n") || !strings.HasPrefix(text, "[background job b1 finished: exit 0 after ") {
		t.Errorf("%q", text)
	}
}

func TestABackgroundCallReturnsAtOnce(t *testing.T) {
	s := begin(t)
	r := s.call(args{"command": "echo started; while [ ! -e go ]; do sleep 0.05; done", "background": true})
	log := s.logs.dir + "/b1.log"
	if !regexp.MustCompile(`^Started background job b1 \(pid \d+\)\. Output: `+log+"\nA notice with its exit status and output arrives when it finishes; run `tail -n 50 "+log+"` to see progress meanwhile\\.$").MatchString(r.Blocks.Text()) || r.Job != "b1" {
		t.Errorf("%q", r.Blocks.Text())
	}
	s.says("until grep started "+log+"; do sleep 0.05; done; touch go", "started\n")
	if text := s.notice(); !strings.HasSuffix(text, "\nstarted\n") {
		t.Errorf("%q", text)
	}
}

// TestThereIsNoMomentBetweenAJobAndItsNotice: whoever sees the job gone has its notice.
func TestThereIsNoMomentBetweenAJobAndItsNotice(t *testing.T) {
	s := begin(t)
	var order []string
	s.Connect(func(tool.Notice) { s.mu.Lock(); order = append(order, "notice"); s.mu.Unlock() },
		func(_ string, v any) {
			s.mu.Lock()
			order = append(order, fmt.Sprint("gone ", v == nil))
			s.mu.Unlock()
		})
	s.call(args{"command": "true", "background": true})
	s.until("gone", func() bool { return len(order) == 3 })
	if got := strings.Join(order, ", "); got != "gone false, notice, gone true" {
		t.Error(got)
	}
}

func TestATimeoutCountsFromTheStartAcrossTheYield(t *testing.T) {
	s := begin(t, yieldAfter(700*time.Millisecond))
	r := s.call(args{"command": "echo x; setsid sleep 300 & sleep 300", "timeout": 1})
	if r.Job != "b1" {
		t.Fatalf("%q", r.Blocks.Text())
	}
	if text := s.notice(); text != "[background job b1 finished: timed out after 1s] echo x; setsid sleep 300 & sleep 300\nx\n" {
		t.Errorf("%q", text)
	}
	s.call(args{"command": "sleep 300", "timeout": 1, "background": true})
	if text := s.notice(); text != "[background job b2 finished: timed out after 1s] sleep 300" {
		t.Errorf("%q", text)
	}
}

func TestEscDoesNotReachAJobAndKillDoes(t *testing.T) {
	s := begin(t, yieldAfter(300*time.Millisecond))
	ctx, cancel := context.WithCancel(context.Background())
	mark := filepath.Join(t.TempDir(), "alive")
	r := s.callWith(ctx, args{"command": "exec 9> " + mark + "; echo x; (trap '' TERM; sleep 300) & setsid sleep 300 & sleep 300"})
	cancel()
	s.says("sleep 0.1; echo still", "still\n")
	if r.Job != "b1" || len(holders(t, mark)) == 0 {
		t.Fatalf("%q", r.Blocks.Text())
	}
	if s.Kill("b2") || !s.Kill("b1") {
		t.Error("the wrong job is known")
	}
	if text := s.notice(); !strings.HasPrefix(text, "[background job b1 finished: killed] exec 9> ") || !strings.HasSuffix(text, "\nx\n") {
		t.Errorf("%q", text)
	}
	if left := holders(t, mark); len(left) > 0 {
		t.Errorf("%q is still there", left)
	}
}

func TestSixteenJobsAtATime(t *testing.T) {
	s := begin(t, yieldAfter(300*time.Millisecond))
	for i := range 16 {
		if r := s.call(args{"command": "while [ ! -e go ]; do sleep 0.2; done", "background": true}); r.Job != fmt.Sprintf("b%d", i+1) {
			t.Fatalf("%q", r.Blocks.Text())
		}
	}
	if r := s.call(args{"command": "true", "background": true}); r.Blocks.Text() != "too many background jobs running (16); wait for one to finish" || !r.Failed {
		t.Errorf("%q", r.Blocks.Text())
	}
	const note = "(16 background jobs were running, so this call was waited for to its end.)\n"
	s.says("sleep 0.6; echo end", note+"end\n")
	s.says("echo short", "short\n")
	if r := s.call(args{"command": "sleep 300", "timeout": 1}); r.Blocks.Text() != note+"[command timed out after 1s]" {
		t.Errorf("%q", r.Blocks.Text())
	}
	s.sh("touch go")
	s.until("16 notices", func() bool { return len(s.notices) == 16 })
	s.until("the list is empty", func() bool { return s.jobsShown[len(s.jobsShown)-1] == nil })
	if r := s.call(args{"command": "true", "background": true}); r.Job != "b17" {
		t.Errorf("%q", r.Blocks.Text())
	}
}

// TestSixteenJobsAreNotExceededByARace: places are taken before commands start.
func TestSixteenJobsAreNotExceededByARace(t *testing.T) {
	s := begin(t, func(o *Options) { o.MaxJobs = 3 })
	results := make(chan tool.Result, 10)
	for range 10 {
		go func() { results <- s.call(args{"command": "sleep 300", "background": true}) }()
	}
	started := map[string]bool{}
	for range 10 {
		if r := <-results; !r.Failed {
			started[r.Job] = true
		}
	}
	if len(started) != 3 || !started["b1"] || !started["b2"] || !started["b3"] {
		t.Errorf("%v", started)
	}
}

func TestABackgroundCallThatDoesNotStartIsNoJob(t *testing.T) {
	s := begin(t)
	r := s.call(args{"command": "true", "background": true, "cwd": "nowhere"})
	if !r.Failed || !strings.HasPrefix(r.Blocks.Text(), "failed to run: ") || r.Job != "" {
		t.Errorf("%q", r.Blocks.Text())
	}
	if r := s.call(args{"command": "true", "background": true}); r.Job != "b1" {
		t.Errorf("%q", r.Blocks.Text())
	}
}

func TestJobsEndWithTheSessionAndWhatDetachedItselfGoesOn(t *testing.T) {
	s := begin(t)
	plain, detached := filepath.Join(t.TempDir(), "plain"), filepath.Join(t.TempDir(), "detached")
	s.call(args{"command": "exec 9> " + plain + "; sleep 300", "background": true})
	s.sh("exec 9> " + plain + "; sleep 300 &")
	s.sh("exec 9> " + detached + "; setsid sleep 299 > /dev/null 2>&1 &")
	s.until("it has detached itself", func() bool { h := holders(t, detached); return len(h) == 1 && h[0] == "sleep 299 " })
	note := s.Close()
	if left := holders(t, plain); len(left) > 0 {
		t.Errorf("%q is still there", left)
	}
	left := holders(t, detached)
	for _, pid := range pidsHolding(detached) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if len(left) != 1 || !regexp.MustCompile(`^1 process that detached itself goes on: sleep 299 \(pid \d+\)$`).MatchString(note) {
		t.Errorf("%q; %q", note, left)
	}
	if len(s.notices) > 0 {
		t.Errorf("notices after the end: %+v", s.notices)
	}
	s.says("echo x", "failed to run: the session is over")
}

func pidsHolding(path string) (out []int) {
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && to == path {
			var pid int
			_, _ = fmt.Sscanf(fd, "/proc/%d/", &pid)
			out = append(out, pid)
		}
	}
	return out
}

func TestALogThatWouldFillTheDiskEndsItsCommand(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.KeepFree = 1 << 62 })
	const flood = "yes | head -c 5M; sleep 300"
	if r := s.call(args{"command": flood}); !strings.HasPrefix(r.Blocks.Text(), "y\ny\n") || !strings.HasSuffix(r.Blocks.Text(), "\n[command "+fullText+"]") || !r.Failed {
		t.Error(brief(r.Blocks.Text()))
	}
	s.call(args{"command": flood, "background": true})
	if text := s.notice(); !strings.HasPrefix(text, "[background job b1 finished: killed] "+flood+"\ny\n") || !strings.HasSuffix(text, "\n[it "+fullText+"]") {
		t.Error(brief(text))
	}
	s.says("echo a few words", "a few words\n")
}

func TestAnInitThatACommandEndedIsSaid(t *testing.T) {
	s := begin(t)
	s.says("echo x; sleep 0.5; kill -9 $PPID; sleep 300", "x\n[failed to run: "+lostText+"]")
	s.says("echo on", "on\n")
	s.call(args{"command": "echo x; sleep 0.5; kill -9 $PPID; sleep 300", "background": true})
	if text := s.notice(); text != "[background job b1 finished: killed] echo x; sleep 0.5; kill -9 $PPID; sleep 300\nx\n["+lostText+"]" {
		t.Errorf("%q", text)
	}
}

func TestLogsOfForegroundCallsAreRemoved(t *testing.T) {
	s := begin(t)
	s.sh("echo x; exit 1")
	s.call(args{"command": "sleep 300", "timeout": "0.1"})
	if names, err := os.ReadDir(s.logs.dir); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestCommandsCannotChooseWhereLogsAreWritten(t *testing.T) {
	s := begin(t)
	s.sh("true")
	dir := s.logs.dir
	s.says(fmt.Sprintf("ln -s %s/planted %s/b1.log; ln -s %s/planted %s/b2.log", s.outside, dir, s.outside, dir), "[command produced no output]")
	r := s.call(args{"command": "echo secret", "background": true})
	s.notice()
	if r.Job != "b3" {
		t.Errorf("%q", r.Blocks.Text())
	}
	s.says(fmt.Sprintf("mv %s %s.moved && ln -s %s %s", dir, dir, s.outside, dir), "[command produced no output]")
	s.call(args{"command": "echo secret", "background": true})
	s.notice()
	if names, err := os.ReadDir(s.outside); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	s.says(fmt.Sprintf("rm -rf %s %s.moved", dir, dir), "[command produced no output]")
	s.says("echo on", "on\n")
	if r := s.call(args{"command": "echo secret", "background": true}); !strings.Contains(r.Blocks.Text(), dir+"/b5.log") {
		t.Errorf("%q", r.Blocks.Text())
	}
}

func TestTwoSessionsOfOneProcessShareTheFolder(t *testing.T) {
	a := begin(t)
	b := begin(t, func(o *Options) { o.Temp = a.opts.Temp })
	one := a.call(args{"command": "echo a; sleep 300", "background": true})
	two := b.call(args{"command": "echo b", "background": true})
	if one.Job != "b1" || two.Job != "b2" || a.logs.dir != b.logs.dir {
		t.Errorf("%s, %s", one.Job, two.Job)
	}
	b.notice()
	a.Close()
	b.Close()
	c := begin(t, func(o *Options) { o.Temp = a.opts.Temp })
	if r := c.call(args{"command": "true", "background": true}); r.Job != "b1" {
		t.Errorf("a number of a process that is gone is not used again: %s", r.Job)
	}
	a.must(os.Symlink(a.outside, filepath.Join(a.opts.Temp, "jig-jobs", "1")))
	d := begin(t, func(o *Options) { o.Temp, o.Pid = a.opts.Temp, 1 })
	if r := d.call(args{"command": "true", "background": true}); !strings.Contains(r.Blocks.Text(), "/jig-jobs/1-1/b1.log") {
		t.Errorf("%q", r.Blocks.Text())
	}
}

// The program writes logs where commands can put links, and follows none of them.
func TestNoLinkTakesTheLogsElsewhere(t *testing.T) {
	eachTier(t, func(t *testing.T, s *session) {
		temp := s.opts.Temp
		for _, planted := range []string{
			"rm -rf " + temp + "/jig-jobs; ln -s " + s.outside + " " + temp + "/jig-jobs",
			"rm -rf " + temp + "/jig-jobs*; ln -s " + s.outside + "/new " + temp + "/jig-jobs",
			fmt.Sprintf("rm -rf %[1]s/jig-jobs*; mkdir %[1]s/jig-jobs; ln -s %[2]s %[1]s/jig-jobs/%[3]d", temp, s.outside, os.Getpid()),
			fmt.Sprintf("rm -rf %[1]s/jig-jobs*; ln -s %[2]s %[1]s/jig-jobs; ln -s %[2]s %[1]s/jig-jobs-%[3]d", temp, s.outside, os.Getuid()),
		} {
			s.says(planted, "[command produced no output]")
			log := regexp.MustCompile(`/\S+\.log`).FindString(s.call(args{"command": "echo x", "background": true}).Blocks.Text())
			t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(log)) })
			if b, err := os.ReadFile(log); err != nil || string(b) != "x\n" && len(b) > 0 {
				t.Errorf("%s: the log %s holds %q, %v", planted, log, b, err)
			}
			if names, _ := os.ReadDir(s.outside); len(names) > 0 {
				t.Fatalf("%s: outside there is %v", planted, names)
			}
		}
	})
}

// Whoever waits for the session to be done must not find it so while the end of a job is untold.
func TestAJobIsInTheListUntilItsEndIsTold(t *testing.T) {
	s := begin(t)
	still := make(chan int, 1)
	s.Connect(func(tool.Notice) {
		s.jobs.mu.Lock()
		defer s.jobs.mu.Unlock()
		still <- len(s.jobs.list)
	}, s.show)
	s.call(args{"command": "exit 3", "background": true})
	select {
	case n := <-still:
		if n != 1 {
			t.Errorf("%d jobs were in the list when the end of the only one was told", n)
		}
	case <-time.After(20 * time.Second):
		t.Error("no end was told")
	}
}
