//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// disturb plays another session's command that makes every trial in a folder look as if it had
// written outside.
func disturb(t *testing.T, dir string) (stop func() int) {
	t.Helper()
	over, made := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-over:
				made <- n
				return
			case <-time.After(time.Millisecond):
			}
			found, _ := filepath.Glob(filepath.Join(dir, "jig-try-*", "out"))
			for _, out := range found {
				if os.WriteFile(filepath.Join(out, "written"), nil, 0o600) == nil {
					n++
				}
			}
		}
	}()
	return func() int { close(over); return <-made }
}

func TestATrialIsNotJudgedByWhatOthersWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		temp := w.folder(t, "/tmp")
		stop := disturb(t, temp)
		c := exec.Command(w.binary, "detect", w.bwrap)
		c.SysProcAttr, c.Env, c.Dir = asUser(who), []string{"TMPDIR=" + temp, atOnce}, "/"
		out, err := c.CombinedOutput()
		if stop() == 0 {
			t.Error("nothing was disturbed")
		}
		if want := fmt.Sprintf("%s\n%s: works\n", Bwrap, Bwrap); err != nil || string(out) != want {
			t.Errorf("as %d: %v %s", who, err, out)
		}
	}
}
