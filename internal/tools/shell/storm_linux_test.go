package shell

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jig/internal/sandbox"
	"jig/internal/tool"
)

// TestStartedAndEndedAtRandomNothingIsLeft runs many commands beside each other, cancels, kills and
// lets them run out, and then looks for what they were marked with.
func TestStartedAndEndedAtRandomNothingIsLeft(t *testing.T) {
	goroutines, descriptors := runtime.NumGoroutine(), openDescriptors(t)
	for _, tier := range []sandbox.Tier{sandbox.Namespaces, sandbox.None} {
		s := begin(t, in(tier), yieldAfter(60*time.Millisecond))
		mark := filepath.Join(t.TempDir(), "alive")
		commands := []string{"true", "sleep 0.05", "sleep 300", "setsid sleep 300 & sleep 300", "(trap '' TERM; sleep 300) & echo x", "yes | head -c 300000", "setsid sleep 300 & exit 3", "echo x; sleep 0.1 &"}
		var all sync.WaitGroup
		for w := range 16 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(w), 7))
				for range 15 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(80)+1)*time.Millisecond)
					a := args{"command": "exec 9> " + mark + "; " + commands[r.IntN(len(commands))], "background": r.IntN(6) == 0}
					if r.IntN(3) == 0 {
						a["timeout"] = fmt.Sprintf("%.2f", 0.01+r.Float64()/10)
					}
					res := s.callWith(ctx, a)
					cancel()
					if res.Job != "" && r.IntN(2) == 0 {
						s.Kill(res.Job)
					}
				}
			})
		}
		all.Wait()
		for id := 1; id < 300; id++ {
			s.Kill(fmt.Sprintf("b%d", id))
		}
		s.until("no job is left", func() bool { n := len(s.jobsShown); return n == 0 || s.jobsShown[n-1] == nil })
		note := s.Close()
		for _, h := range holders(t, mark) { // setsid is a way to detach from the session, so it may go on
			if note == "" || h != "sleep 300 " {
				t.Errorf("%s: %q is left, and %q is said", tier, h, note)
			}
		}
		for _, pid := range pidsHolding(mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for i := 0; runtime.NumGoroutine() > goroutines || len(openDescriptors(t)) > len(descriptors); i++ {
		if i == 100 {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, descriptors %q; before %d, %q\n%s", runtime.NumGoroutine(), openDescriptors(t), goroutines, descriptors, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// openDescriptors are what this process has open.
func openDescriptors(t *testing.T) (out []string) {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		to, _ := os.Readlink("/proc/self/fd/" + n.Name())
		out = append(out, to)
	}
	return out
}

func BenchmarkTrue(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/bash", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, tier := range []sandbox.Tier{sandbox.None, sandbox.Landlock, sandbox.Namespaces, sandbox.Bwrap} {
		b.Run(string(tier), func(b *testing.B) {
			exe, err := os.Executable()
			if err != nil {
				b.Fatal(err)
			}
			o := Options{Config: Config{AutoRun: true}, OS: runtime.GOOS, Root: b.TempDir(), Temp: b.TempDir(), Home: "/root", Binary: exe, Pid: os.Getpid(), Env: os.Environ()}
			in(tier)(&o)
			s, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			for b.Loop() {
				p, err := s.Prepare(context.Background(), tool.Call{ID: "c", Name: Name, Args: []byte(`{"command":"true"}`)})
				if err != nil {
					b.Fatal(err)
				}
				if r, err := p.Run(context.Background(), nil); err != nil || !strings.Contains(r.Blocks.Text(), "no output") {
					b.Fatal(r, err)
				}
			}
		})
	}
}
