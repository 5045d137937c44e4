package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"jig/internal/process"
	"jig/internal/sandbox"
)

const shellTools = "shell: {auto_run: true}"

// shell measures commands: what one costs more than a plain exec, what a round with one costs, what
// memory that takes.
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
	return nil
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
	for range 3 * b.runs {
		begin := time.Now()
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = project
		if _, err := c.CombinedOutput(); err != nil {
			return 0, 0, 0, err
		}
		all[0] = append(all[0], ms(time.Since(begin)))
		for i, log := range []string{"", filepath.Join(b.tmp, "log")} {
			took, err := b.through(w, argv, project, log, 0)
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

// through runs a command that prints so many bytes in an init, with a log unless that is empty, and
// gives its time in ms.
func (b *bench) through(w *process.Warden, argv []string, dir, log string, prints int64) (float64, error) {
	begin := time.Now()
	j, err := w.Start(process.Command{Argv: argv, Env: os.Environ(), Dir: dir, Log: log, LateLog: true})
	if err != nil {
		return 0, err
	}
	<-j.Done()
	took := ms(time.Since(begin))
	s, n := j.State(), j.Output().Bytes
	if s.LogErr != nil {
		return 0, s.LogErr
	}
	if s.Exit != 0 || n != prints {
		return 0, fmt.Errorf("%s: exit code %d, %d bytes of %d", argv[0], s.Exit, n, prints)
	}
	j.DropLog()
	return took, nil
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
