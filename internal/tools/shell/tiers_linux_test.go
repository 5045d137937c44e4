package shell

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jig/internal/sandbox"
)

func TestWhatIsPromisedOfTheSandbox(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	reach := fmt.Sprintf("(exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null && echo reached || echo blocked", listener.Addr().(*net.TCPAddr).Port)
	cache, extra := apart(t), apart(t)
	eachTier(t, func(t *testing.T, s *session) {
		for _, dir := range []string{s.root, s.opts.Temp, "/tmp", cache, extra, s.outside, "/var/tmp"} {
			file := filepath.Join(dir, fmt.Sprintf("w%d", time.Now().UnixNano()))
			got := s.sh("echo x > " + file + " && rm " + file + " && echo yes")
			inside := dir != s.outside && dir != "/var/tmp"
			if want := inside || s.tier == sandbox.None; (got == "yes\n") != want {
				t.Errorf("writing to %s: %q", dir, got)
			}
		}
		want := "blocked\n"
		if s.tier == sandbox.None {
			want = "reached\n"
		}
		s.says(reach, want)
		s.says("sleep 300 & echo hi", "hi\n")
		if s.tier != sandbox.Landlock {
			port := freePort(t)
			s.says(fmt.Sprintf("python3 -m http.server %d --bind 127.0.0.1 > /dev/null 2>&1 & echo $! > server", port), "[command produced no output]")
			s.says(fmt.Sprintf("for i in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/%d) 2> /dev/null && echo up && break; sleep 0.1; done", port), "up\n")
			s.says("kill $(cat server)", "[command produced no output]")
		}
		r := s.call(args{"command": "sleep 300", "timeout": 1, "background": true})
		if !strings.Contains(r.Blocks.Text(), "background job b1 (pid ") || !strings.HasPrefix(s.notice(), "[background job b1 finished: timed out after 1s]") {
			t.Errorf("%q", r.Blocks.Text())
		}
	}, func(o *Options) { o.Cache = cache; o.Config.Write = []string{extra} })
	eachTier(t, func(t *testing.T, s *session) { s.says(reach, "reached\n") }, func(o *Options) { o.Config.Network = true })
}

// freePort is one that nobody listened on a moment ago.
func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestAReplacedRootIsWritableAgain(t *testing.T) {
	eachTier(t, func(t *testing.T, s *session) {
		s.says("echo 1 > f", "[command produced no output]")
		job := s.call(args{"command": "while [ ! -e /tmp/" + filepath.Base(filepath.Dir(s.root)) + " ]; do sleep 0.1; done; echo on", "background": true, "cwd": "/"})
		s.must(os.Rename(s.root, s.root+".old"))
		s.must(os.Mkdir(s.root, 0o755))
		s.says("echo 2 > f && cat f", "2\n")
		s.sh("touch /tmp/" + filepath.Base(filepath.Dir(s.root)))
		if text := s.notice(); !strings.HasSuffix(text, "\non\n") {
			t.Errorf("%s: %q, %q", s.tier, job.Blocks.Text(), text)
		}
		s.sh("rm /tmp/" + filepath.Base(filepath.Dir(s.root)))
	})
}

func TestAnInitThatEndedIsReplaced(t *testing.T) {
	eachTier(t, func(t *testing.T, s *session) {
		s.says("echo one", "one\n")
		first := s.rooms.inside.now
		select {
		case <-first.Gone():
		case <-time.After(30 * time.Second):
			t.Fatal("an idle init stays")
		}
		s.says("echo two", "two\n")
		if s.rooms.inside.now == first {
			t.Error("a command ran in an init that is gone")
		}
	}, func(o *Options) { o.Limits.Idle = 100 * time.Millisecond })
}

func TestASandboxThatCannotBeEnteredRunsNothing(t *testing.T) {
	s := begin(t, in(sandbox.Bwrap), func(o *Options) { o.Bwrap = "/usr/bin/false" })
	got := s.sh("touch " + s.outside + "/x")
	if !strings.HasPrefix(got, "failed to run: the sandbox (bwrap) could not be entered: ") {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(s.outside, "x")); err == nil {
		t.Error("the command ran all the same")
	}
}

func TestCachesPointToAWritablePlace(t *testing.T) {
	cache := apart(t)
	show := "echo $GOCACHE $npm_config_cache $PIP_CACHE_DIR"
	s := begin(t, in(sandbox.Namespaces), func(o *Options) { o.Cache = cache })
	s.says(show, fmt.Sprintf("%s/go-build %s/npm %s/pip\n", cache, cache, cache))
	s = begin(t, in(sandbox.Namespaces), func(o *Options) {
		o.Cache, o.Env = cache, append(o.Env, "GOCACHE=/mine")
		o.Config.Write = []string{filepath.Join(o.Home, ".npm"), o.Home + "/.cache/pip"}
	})
	s.says(show, "/mine\n")
	s = begin(t, func(o *Options) { o.Cache = cache })
	s.says(show, "[command produced no output]")
}
