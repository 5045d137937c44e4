//go:build linux

package process

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Commands of all kinds, 16 at a time, ended at random moments. Nothing of them
// may be left: no process by its mark or its word, no descriptor, no goroutine.
func TestTwoThousandCommandsLeaveNothing(t *testing.T) {
	lines := []string{
		`true`,
		`sleep 0.01; echo done`,
		`sleep 300 & setsid sleep 300 & sleep 300`,
		`(env -i setsid bash -c 'exec -a "$0" sleep 300' "$W" &) ; sleep 300`,
		`trap '' TERM; sleep 300`,
		`for i in 1 2 3 4 5; do (exec bash -c 'exec sleep 300') & done; wait`,
		`yes`,
		`exec /no/such/thing`,
	}
	total := 2000
	if testing.Short() {
		total = 200
	}
	w := openWarden(t, Limits{Grace: 20 * time.Millisecond, Idle: -1})
	run(t, w, bash("true"))
	files, routines := descriptors(t), runtime.NumGoroutine()
	initFiles := initDescriptors(t, w)
	word := word(t)
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for n := range jobs {
				c := bash(lines[n%len(lines)])
				c.Env = append(c.Env, "W="+word)
				if n%5 == 0 {
					c.Timeout = time.Duration(1+rand.IntN(20)) * time.Millisecond
				}
				j, err := w.Start(c)
				if err != nil {
					t.Errorf("start: %v; the init said %q", err, w.said.String())
					continue
				}
				if n%len(lines) > 1 && n%len(lines) != 7 {
					time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond)
					j.Kill(Cancelled)
				}
				if n%3 == 0 {
					j.Kill(Cancelled)
				}
				finished(t, j)
			}
		})
	}
	for n := range total {
		jobs <- n
	}
	close(jobs)
	wg.Wait()
	if l := alive(t, word); len(l) > 0 {
		t.Errorf("%d processes are left, as %q", len(l), l[0])
	}
	eventually(t, "empty", w.Empty)
	eventually(t, "nobody under the init", func() bool { return len(descendants(w.hostpid, nil)) == 0 })
	if l := newTable(0, w.number).look(scope{}, false); len(l) > 0 {
		t.Errorf("marked processes are left: %+v", l)
	}
	eventually(t, fmt.Sprintf("%d goroutines as before", routines), func() bool { return runtime.NumGoroutine() <= routines })
	eventually(t, fmt.Sprintf("%d descriptors as before", files), func() bool { return descriptors(t) <= files })
	if n := initDescriptors(t, w); n > initFiles+1 {
		t.Errorf("the init had %d descriptors and has %d", initFiles, n)
	}
	w.mu.Lock()
	if len(w.jobs)+len(w.pumps)+len(w.starting) > 0 {
		t.Errorf("tables keep %d jobs, %d pumps, %d starts", len(w.jobs), len(w.pumps), len(w.starting))
	}
	w.mu.Unlock()
}

func descriptors(t *testing.T) int {
	l, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(l)
}

// initDescriptors counts as root can; another user may not look.
func initDescriptors(t *testing.T, w *Warden) int {
	l, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.hostpid))
	if err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	return len(l)
}
