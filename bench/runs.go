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

// config is an agent whose model speaks the dialect %s at %q, with the tools %s.
const config = `providers:
  bench: {type: %s, url: %q}
agents:
  default: {model: "bench:m", tools: {%s}}
`

const codeTools = "code: {auto_write: true}"

// runs measures whole runs: how long until the model is asked, what a round costs, what memory 100
// rounds take, how large the first request is.
func runs(b *bench) error {
	project, err := b.project()
	if err != nil {
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
		s, err := b.session(project, session{tools: codeTools, calls: slices.Repeat([]call{{"read_file", `{"path":"hello.txt"}`}}, rounds)})
		if err != nil {
			return err
		}
		start, round = append(start, ms(s.asked[0].Sub(s.begin))), append(round, ms(s.asked[rounds].Sub(s.asked[0]))/rounds)
		peak, first = max(peak, s.peak), s.first
	}
	floor := median(bash)
	heading("a whole run")
	row("process start → first model request, ms", median(start), 20, fmt.Sprintf("%.1f × bash -c true (%.2f ms)", median(start)/floor, floor))
	row("one round with a tool (read_file), ms", median(round), floor+1, fmt.Sprintf("%.2f × bash -c true; the goal is that + 1 ms", median(round)/floor))
	row(fmt.Sprintf("peak memory after %d rounds, MiB", rounds), float64(peak)/1024, 30, "")
	row("first request with the code toolset, bytes", float64(first), 8192, "")
	return nil
}

// project is a folder for jig to work in.
func (b *bench) project() (string, error) {
	dir := filepath.Join(b.tmp, "project")
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello\n"), 0o644)
}

// row prints a figure that must not be over its goal.
func row(what string, figure, goal float64, beside string) {
	line(what, figure, goal, figure > goal, beside)
}

// rowOver prints a figure that must not be under its goal.
func rowOver(what string, figure, goal float64, beside string) {
	line(what, figure, goal, figure < goal, beside)
}

func line(what string, figure, goal float64, missed bool, beside string) {
	mark := " "
	if missed {
		mark = "!"
	}
	fmt.Printf("%-44s %10.2f %10.2f %s %s\n", what, figure, goal, mark, beside)
}

func heading(what string) {
	fmt.Printf("%-44s %10s %10s   %s\n", what, "figure", "goal", "beside it, in the same run")
}

// session is one run of jig.
type session struct {
	tools string   // of its agent, as in the configuration
	env   []string // more of it
	args  []string // more of them
	calls []call   // that the model asks for, one a round
	watch func(pid, round int)
}

// seen is what the server and the system saw of a run.
type seen struct {
	begin time.Time
	took  float64     // ms from the start of the process to its end
	asked []time.Time // when each request had come in
	first int         // bytes of the first one
	last  string      // the last one
	peak  int         // KiB
}

func (b *bench) session(dir string, s session) (seen, error) {
	m, err := serve(s.calls, s.watch)
	if err != nil {
		return seen{}, err
	}
	defer m.close()
	c, err := b.agent(dir, "openai", m.url, s)
	if err != nil {
		return seen{}, err
	}
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	begin := time.Now()
	m.mu.Lock()
	if err = c.Start(); err == nil {
		m.pid = c.Process.Pid
	}
	m.mu.Unlock()
	if err != nil {
		return seen{}, err
	}
	err = c.Wait()
	took := ms(time.Since(begin))
	if err != nil {
		return seen{}, fmt.Errorf("%w: %s", err, errs.String())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.asked) != len(s.calls)+1 || out.String() != "done\n" {
		return seen{}, fmt.Errorf("%d requests, answer %q", len(m.asked), out.String())
	}
	return seen{begin: begin, took: took, asked: m.asked, first: m.first, last: string(m.last), peak: peakKiB(c.ProcessState)}, nil
}

// agent is jig with one message for the model at url.
func (b *bench) agent(dir, dialect, url string, s session) (*exec.Cmd, error) {
	cfg := filepath.Join(b.tmp, "config.yaml")
	err := os.WriteFile(cfg, fmt.Appendf(nil, config, dialect, url, s.tools), 0o600)
	return b.command(dir, s.env, append([]string{"-c", cfg, "-m", "go"}, s.args...)...), err
}

// command is jig with a home of its own, where its logs are, too.
func (b *bench) command(dir string, env []string, args ...string) *exec.Cmd {
	c := exec.Command(b.jig, args...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "HOME="+b.tmp, "TMPDIR="+b.tmp, "OPENAI_API_KEY=bench"), env...)
	return c
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
			t, err := timed(b.command(tree, nil, "call", "grep", fmt.Sprintf(`{"pattern":%q}`, pattern)))
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
