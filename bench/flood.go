package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jig/internal/sandbox"
)

// flood is how many bytes one command prints.
const (
	flood = 300_000_000
	piece = 3_000_000 // of the file that is printed again and again, so that it stays in the cache
)

var floodKinds = []struct{ name, line string }{
	{"plain text", "internal/process/pump.go:%04d:\tthe quick brown fox jumps over the lazy dog\n"},
	{"coloured text", "\x1b[1;32minternal/process/pump.go\x1b[0m:%04d:\tthe \x1b[31mquick\x1b[0m brown fox\n"},
}

// floods measures how fast what a command prints is taken in, with its log on: by itself, in a run
// and through jig call. Beside them the same command writes to a file through a pipe, without jig.
func floods(b *bench) error {
	project, err := b.project()
	if err != nil {
		return err
	}
	heading(fmt.Sprintf("%d MB printed by one command", flood/1_000_000))
	for i, kind := range floodKinds {
		name := fmt.Sprintf("flood%d", i)
		var text bytes.Buffer
		for n := 0; text.Len() < piece; n++ {
			fmt.Fprintf(&text, kind.line, n%10000)
		}
		if err := os.WriteFile(filepath.Join(project, name), text.Bytes()[:piece], 0o644); err != nil {
			return err
		}
		if err := b.flood(project, kind.name, "cat"+strings.Repeat(" "+name, flood/piece)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) flood(project, name, command string) error {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return err
	}
	w, err := b.open(sandbox.None, project)
	if err != nil {
		return err
	}
	defer w.Close()
	log := filepath.Join(b.tmp, "log")
	var nowhere, file, alone, run, whole, idle, growth []float64
	for range max(b.runs/10, 2) {
		for _, m := range []struct {
			into *[]float64
			time func() (float64, error)
		}{
			{&nowhere, func() (float64, error) { return floodPlain(project, command, os.DevNull) }},
			{&file, func() (float64, error) { return floodPlain(project, command, log) }},
			{&alone, func() (float64, error) { return b.through(w, []string{bash, "-c", command}, project, log, flood) }},
			{&idle, func() (float64, error) { return b.floodCall(project, "true", "no output") }},
			{&whole, func() (float64, error) { return b.floodCall(project, command, " omitted ") }},
			{&run, func() (float64, error) {
				took, grown, err := b.floodRun(project, command)
				if grown != nil {
					growth = append(growth, *grown)
				}
				return took, err
			}},
		} {
			took, err := m.time()
			if err != nil {
				return err
			}
			*m.into = append(*m.into, took)
		}
	}
	speed := func(ms float64) float64 { return flood / 1000 / ms }
	floor := speed(median(file))
	rowSpeed := func(what string, ms float64, beside string) {
		rowOver(name+", "+what+", MB/s", speed(ms), 500, fmt.Sprintf("%.2f × %s", speed(ms)/floor, beside))
	}
	rowSpeed("the capture alone", median(alone), fmt.Sprintf("the same through cat into a file (%.0f MB/s; into /dev/null %.0f)", floor, speed(median(nowhere))))
	rowSpeed("in a run", median(run), "that")
	rowSpeed("jig call", median(whole)-median(idle), fmt.Sprintf("that; jig call took %.0f ms, and %.0f ms with true, which is taken off", median(whole), median(idle)))
	if growth == nil {
		return nil
	}
	row("  growth of the run's peak memory, MiB", median(growth), 4, fmt.Sprintf("at most %.2f", slices.Max(growth)))
	return nil
}

// floodPlain is the time in ms of the command with its output through a pipe into a file.
func floodPlain(project, command, to string) (float64, error) {
	c := exec.Command("bash", "-c", command+" | cat >"+to)
	c.Dir = project
	begin := time.Now()
	if err := c.Run(); err != nil {
		return 0, err
	}
	took := ms(time.Since(begin))
	if to == os.DevNull {
		return took, nil
	}
	return took, os.Remove(to)
}

// floodRun is the time in ms of a round with the command, from the model's answer to its next
// request, and how much more memory jig took at most than in a round before, in MiB;
// nil where nobody can say.
func (b *bench) floodRun(project, command string) (took float64, grown *float64, err error) {
	var peaks []int
	s, err := b.session(project, session{
		tools: shellTools, calls: []call{{"shell", `{"command":"true"}`}, {"shell", fmt.Sprintf(`{"command":%q}`, command)}},
		watch: func(pid, _ int) { peaks = append(peaks, peakNow(pid)) },
	})
	if err != nil {
		return 0, nil, err
	}
	if !strings.Contains(s.last, " omitted ") {
		return 0, nil, fmt.Errorf("the command did not print what it should: %.200q", s.last)
	}
	if peaks[1] > 0 {
		more := mib(peaks[2] - peaks[1])
		grown = &more
	}
	return ms(s.asked[2].Sub(s.asked[1])), grown, nil
}

// floodCall is the time in ms of a whole jig call, whose result must say so.
func (b *bench) floodCall(project, command, say string) (float64, error) {
	c := b.command(project, nil, "call", "--yes", "shell", fmt.Sprintf(`{"command":%q}`, command))
	begin := time.Now()
	out, err := c.CombinedOutput()
	took := ms(time.Since(begin))
	if err == nil && !strings.Contains(string(out), say) {
		err = fmt.Errorf("the result does not say %q", say)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %.200q", err, out)
	}
	return took, nil
}
