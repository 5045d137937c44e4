package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const rounds = 100

// config is an agent with the whole code toolset on the server at %s.
const config = `providers:
  bench: {type: openai, url: %q}
agents:
  default: {model: "bench:m", tools: {code: {auto_write: true}}}
`

// runs measures whole runs: how long until the model is asked, what a round costs, what memory 100
// rounds take, how large the first request is.
func runs(b *bench) error {
	project := filepath.Join(b.tmp, "project")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(project, "hello.txt"), []byte("hello\n"), 0o644); err != nil {
		return err
	}
	var start, round, bash []float64
	var peak, first int
	for range b.runs {
		floor, err := timed(exec.Command("bash", "-c", "true"))
		if err != nil {
			return err
		}
		bash = append(bash, floor)
		s, r, err := b.run(project)
		if err != nil {
			return err
		}
		start, round = append(start, s.first), append(round, r)
		peak, first = max(peak, s.peak), s.bytes
	}
	floor := median(bash)
	fmt.Printf("%-44s %10s %10s   %s\n", "a whole run", "figure", "goal", "beside it, in the same run")
	row("process start → first model request, ms", median(start), 20, fmt.Sprintf("%.1f × bash -c true (%.2f ms)", median(start)/floor, floor))
	row("one round with a tool (read_file), ms", median(round), floor+1, fmt.Sprintf("%.2f × bash -c true; the goal is that + 1 ms", median(round)/floor))
	row(fmt.Sprintf("peak memory after %d rounds, MiB", rounds), float64(peak)/1024, 30, "")
	row("first request with the code toolset, bytes", float64(first), 8192, "")
	return nil
}

func row(what string, figure, goal float64, beside string) {
	mark := " "
	if figure > goal {
		mark = "!"
	}
	fmt.Printf("%-44s %10.2f %10.2f %s %s\n", what, figure, goal, mark, beside)
}

// seen is what the server and the system saw of a run.
type seen struct {
	first       float64 // ms from the start of the process to its first request
	peak, bytes int     // KiB, bytes
}

// run runs jig for 100 rounds and gives what a round took in ms.
func (b *bench) run(project string) (seen, float64, error) {
	m, err := serve(rounds)
	if err != nil {
		return seen{}, 0, err
	}
	defer m.close()
	cfg := filepath.Join(b.tmp, "config.yaml")
	if err := os.WriteFile(cfg, fmt.Appendf(nil, config, m.url), 0o600); err != nil {
		return seen{}, 0, err
	}
	c := exec.Command(b.jig, "-c", cfg, "-m", "go")
	c.Dir = project
	c.Env = append(os.Environ(), "HOME="+b.tmp, "OPENAI_API_KEY=bench")
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	begin := time.Now()
	if err := c.Run(); err != nil {
		return seen{}, 0, fmt.Errorf("%w: %s", err, errs.String())
	}
	if len(m.asked) != rounds+1 || out.String() != "done\n" {
		return seen{}, 0, fmt.Errorf("%d requests, answer %q", len(m.asked), out.String())
	}
	s := seen{first: ms(m.asked[0].Sub(begin)), bytes: m.first, peak: peakKiB(c.ProcessState)}
	return s, ms(m.asked[rounds].Sub(m.asked[0])) / rounds, nil
}

// calls times one search as a model makes it, through jig call, with its limit of 100 matches.
func calls(b *bench) error {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	tree := filepath.Join(strings.TrimSpace(string(out)), "src")
	fmt.Printf("%-44s %10s %10s   %s\n", "jig call grep in Go's source, 100 at most", "ms", "rg -m, ms", "")
	for _, pattern := range []string{"runtime_pollUnblock", "return", "no_such_text_anywhere"} {
		var ours, theirs []float64
		for range b.runs {
			c := exec.Command(b.jig, "call", "grep", fmt.Sprintf(`{"pattern":%q}`, pattern))
			c.Dir = tree
			c.Env = append(os.Environ(), "HOME="+b.tmp)
			t, err := timed(c)
			if err != nil {
				return err
			}
			r := exec.Command(ripgrep(), "-n", "--no-heading", "-m", "100", "-j2", pattern, tree)
			u, err := timed(r)
			if err != nil {
				return err
			}
			ours, theirs = append(ours, t), append(theirs, u)
		}
		fmt.Printf("%-44s %10.1f %10.1f   × %.2f\n", pattern, median(ours), median(theirs), median(ours)/median(theirs))
	}
	return nil
}

func ripgrep() string {
	if p := os.Getenv("JIG_TEST_RG"); p != "" {
		return p
	}
	return filepath.Join(".cache", "tools", "rg")
}

// timed is a process's time in ms. An exit code is no error: a search may find nothing.
func timed(c *exec.Cmd) (float64, error) {
	begin := time.Now()
	err := c.Run()
	var code *exec.ExitError
	if errors.As(err, &code) {
		err = nil
	}
	return ms(time.Since(begin)), err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
