package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"jig/internal/process"
	"jig/internal/sandbox"
)

const shellTools = "shell: {auto_run: true}"

// shell measures commands: what one costs more than a plain exec, what a round with one costs, what
// memory that takes, and how fast output is taken in.
func shell(b *bench) error {
	project, err := b.project()
	if err != nil {
		return err
	}
	tiers, err := b.tiers(project)
	if err != nil {
		return err
	}
	for _, part := range []func(string, []sandbox.Tier) error{b.commands, b.shellRounds, b.shellRequest} {
		if err := part(project, tiers); err != nil {
			return err
		}
	}
	return b.floods(project)
}

// tiers are those that jig itself says work here; it would do without where one does not.
func (b *bench) tiers(project string) (here []sandbox.Tier, err error) {
	for _, t := range sandbox.Ladder(runtime.GOOS) {
		c := b.command(project, in(t), "doctor")
		out, err := c.CombinedOutput()
		var code *exec.ExitError
		if err != nil && !errors.As(err, &code) {
			return nil, err
		}
		if t != sandbox.None && !strings.Contains(string(out), string(t)+": works") {
			fmt.Printf("not measured, because it does not work here: %s\n", t)
			continue
		}
		here = append(here, t)
	}
	return here, nil
}

// in makes jig take one tier.
func in(t sandbox.Tier) []string { return []string{"JIG_TEST_TIER=" + string(t)} }

// commands compares commands through the init, in every tier, with a plain exec right beside them.
func (b *bench) commands(project string, tiers []sandbox.Tier) error {
	heading("one command, its output taken in, log on")
	for _, argv := range [][]string{{"/bin/true"}, {"bash", "-c", "true"}} {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			return err
		}
		for _, t := range tiers {
			with, without, plain, err := b.command3(t, append([]string{path}, argv[1:]...), project)
			if err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
			row(fmt.Sprintf("%s, %s, ms", strings.Join(argv, " "), t), with, plain+0.5,
				fmt.Sprintf("%+.2f ms to a plain exec (%.2f ms), %+.2f without the log; the goal is +0.50", with-plain, plain, without-plain))
		}
	}
	return nil
}

// command3 times a command in turn through an init with a log, without one, and as a plain exec, and
// gives the medians in ms. An init has the processors to itself with its plain exec: tiers that took
// turns would find each other's caches.
func (b *bench) command3(t sandbox.Tier, argv []string, project string) (with, without, plain float64, err error) {
	w, err := b.open(t, project)
	if err != nil {
		return 0, 0, 0, err
	}
	defer w.Close()
	var all [3][]float64
	for range 4 * b.runs {
		begin := time.Now()
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = project
		if _, err := c.CombinedOutput(); err != nil {
			return 0, 0, 0, err
		}
		all[0] = append(all[0], ms(time.Since(begin)))
		for i, log := range []string{"", filepath.Join(b.tmp, "log")} {
			took, err := b.through(w, argv, project, log)
			if err != nil {
				return 0, 0, 0, err
			}
			all[i+1] = append(all[i+1], took)
		}
	}
	return median(all[2]), median(all[1]), median(all[0]), nil
}

// open starts an init as a session does.
func (b *bench) open(t sandbox.Tier, project string) (*process.Warden, error) {
	bwrap, _ := exec.LookPath("bwrap") // where there is none the tier does not work, and is not asked for
	p := sandbox.Policy{Root: project, Home: b.tmp, Bwrap: bwrap, Write: sandbox.WriteRoots(sandbox.Places{Root: project, Temp: b.tmp})}
	l, err := sandbox.Enter(t, p, b.jig)
	if err != nil {
		return nil, err
	}
	l.Limits.Idle = -1
	return process.Open(context.Background(), l)
}

// through runs a command in an init, with a log unless that is empty, and gives its time in ms.
func (b *bench) through(w *process.Warden, argv []string, dir, log string) (float64, error) {
	begin := time.Now()
	j, err := w.Start(process.Command{Argv: argv, Env: os.Environ(), Dir: dir, Log: log})
	if err != nil {
		return 0, err
	}
	<-j.Done()
	took := ms(time.Since(begin))
	if s := j.State(); s.Exit != 0 || s.LogErr != nil {
		return 0, fmt.Errorf("%v: exit code %d, %v", argv, s.Exit, s.LogErr)
	}
	if log == "" {
		return took, nil
	}
	return took, os.Remove(log)
}

// kept is the largest memory that was seen, in KiB.
type kept struct{ jig, rss, private, helpers int }

func (k *kept) look(pid int) {
	k.jig = max(k.jig, peakNow(pid))
	helpers := 0
	for _, child := range below(pid) {
		rss, private := memory(child)
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", child)); filepath.Base(exe) != "jig" {
			helpers += rss
			continue
		}
		k.rss, k.private = max(k.rss, rss), max(k.private, private)
	}
	k.helpers = max(k.helpers, helpers)
}

// shellRounds measures rounds with the smallest command, from end to end: the difference between a
// run with many and a run with one, so that neither the start nor the end counts.
func (b *bench) shellRounds(project string, tiers []sandbox.Tier) error {
	var bash []float64
	round, memory := map[sandbox.Tier][]float64{}, map[sandbox.Tier]*kept{}
	for range max(b.runs/6, 3) {
		begin := time.Now()
		for range rounds {
			if err := exec.Command("bash", "-c", "true").Run(); err != nil {
				return err
			}
		}
		bash = append(bash, ms(time.Since(begin))/rounds)
		for _, t := range tiers {
			if memory[t] == nil {
				memory[t] = &kept{}
			}
			one, err := b.trues(project, t, 1, memory[t])
			if err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
			many, err := b.trues(project, t, 1+rounds, memory[t])
			if err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
			round[t] = append(round[t], (many-one)/rounds)
		}
	}
	floor := median(bash)
	fmt.Println()
	heading("a run whose rounds are the command true")
	for _, t := range tiers {
		m := median(round[t])
		row(fmt.Sprintf("one round, %s, ms", t), m, floor+1, fmt.Sprintf("%+.2f ms to bash -c true (%.2f ms); the goal is +1.00", m-floor, floor))
	}
	for _, t := range tiers {
		k := memory[t]
		if k.jig == 0 || k.rss == 0 {
			fmt.Printf("memory with %s cannot be read here\n", t)
			continue
		}
		row(fmt.Sprintf("peak memory, %d rounds, %s, MiB", rounds, t), mib(k.jig), 30, "")
		beside := ""
		if k.helpers > 0 {
			beside = fmt.Sprintf("and %.2f MiB of %s itself", mib(k.helpers), t)
		}
		row("  its init, MiB", mib(k.rss), 16, beside)
		row("  of that its own alone, MiB", mib(k.private), 4, "")
	}
	return nil
}

func mib(kib int) float64 { return float64(kib) / 1024 }

// trues is the time in ms of a run with so many rounds.
func (b *bench) trues(project string, t sandbox.Tier, n int, k *kept) (float64, error) {
	s, err := b.session(project, session{
		tools: shellTools, env: in(t), calls: slices.Repeat([]call{{"shell", `{"command":"true"}`}}, n),
		watch: func(pid, at int) {
			if at == n {
				k.look(pid)
			}
		},
	})
	if err == nil && strings.Count(s.last, "[command produced no output]") != n {
		err = fmt.Errorf("not all of %d commands ran: %s", n, s.last)
	}
	return s.took, err
}

// shellRequest is the size of a request with all tools, which says what the tier is.
func (b *bench) shellRequest(project string, tiers []sandbox.Tier) error {
	for _, t := range tiers {
		s, err := b.session(project, session{tools: shellTools + ", " + codeTools, env: in(t)})
		if err != nil {
			return err
		}
		row(fmt.Sprintf("first request, shell and code, %s, bytes", t), float64(s.first), 8192, "")
	}
	return nil
}
