//go:build linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// median runs each of fs in turn, n times, and gives the median time of each in
// milliseconds: side by side, because this machine's load changes.
func median(n int, fs ...func()) []float64 {
	took := make([][]float64, len(fs))
	for range n {
		for i, f := range fs {
			start := time.Now()
			f()
			took[i] = append(took[i], float64(time.Since(start).Nanoseconds())/1e6)
		}
	}
	out := make([]float64, len(fs))
	for i := range fs {
		slices.Sort(took[i])
		out[i] = took[i][n/2]
	}
	return out
}

// BenchmarkCommand compares a command through the warden with a plain exec.
func BenchmarkCommand(b *testing.B) {
	w := openWarden(b, Limits{})
	dir := b.TempDir()
	for _, argv := range [][]string{{"/bin/true"}, {"/bin/bash", "-c", "true"}} {
		b.Run(filepath.Base(argv[0]), func(b *testing.B) {
			n := 0
			run := func(log string) {
				j, err := w.Start(Command{Argv: argv, Env: os.Environ(), Dir: dir, Log: log})
				if err != nil {
					b.Fatal(err)
				}
				<-j.Done()
			}
			ms := median(max(b.N, 3),
				func() {
					c := exec.Command(argv[0], argv[1:]...)
					c.Dir = dir
					_, _ = c.CombinedOutput()
				},
				func() { run("") },
				func() { n++; run(filepath.Join(dir, fmt.Sprint(filepath.Base(argv[0]), b.N, "-", n))) },
			)
			b.ReportMetric(ms[0], "plain-ms")
			b.ReportMetric(ms[1], "warden-ms")
			b.ReportMetric(ms[1]-ms[0], "added-ms")
			b.ReportMetric(ms[2]-ms[0], "added-with-log-ms")
		})
	}
}

// BenchmarkFlood is how fast output goes from a command into the log and the
// bounded ends.
func BenchmarkFlood(b *testing.B) {
	const size = 300 << 20
	w := openWarden(b, Limits{})
	for _, log := range []bool{false, true} {
		b.Run(fmt.Sprintf("log=%v", log), func(b *testing.B) {
			b.SetBytes(size)
			for range b.N {
				c := Command{Argv: []string{"/bin/bash", "-c", fmt.Sprintf("head -c %d /dev/zero", size)}, Env: os.Environ()}
				if log {
					c.Log = filepath.Join(b.TempDir(), "log")
				}
				j, err := w.Start(c)
				if err != nil {
					b.Fatal(err)
				}
				<-j.Done()
				if o := j.Output(); o.Bytes != size {
					b.Fatalf("%d bytes of %d", o.Bytes, size)
				}
				if log {
					_ = os.Remove(c.Log)
				}
			}
		})
	}
}
