package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jig/internal/sandbox"
)

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
// run with many and a run with one, so that neither the start nor the end counts. The model answers
// on loopback; beside it the same is played from a script inside jig, which leaves out what the
// server and the way there cost.
func (b *bench) shellRounds(project string, tiers []sandbox.Tier) error {
	type costs struct{ bash, served, played span }
	all, memory := map[sandbox.Tier]*costs{}, map[sandbox.Tier]*kept{}
	for _, t := range tiers {
		all[t], memory[t] = &costs{}, &kept{}
	}
	for range max(b.runs/6, 3) {
		for _, t := range tiers {
			c := all[t]
			for _, m := range []struct {
				into *span
				run  func(n int) (float64, error)
			}{
				{&c.bash, bashes},
				{&c.served, func(n int) (float64, error) { return b.served(project, t, n, memory[t]) }},
				{&c.played, func(n int) (float64, error) { return b.played(project, t, n) }},
			} {
				if err := m.into.add(m.run); err != nil {
					return fmt.Errorf("%s: %w", t, err)
				}
			}
		}
	}
	fmt.Println()
	heading("a run whose rounds are the command true")
	for _, t := range tiers {
		c := all[t]
		show := func(what string, v span) {
			m, floor := v.each(median), c.bash.each(median)
			row(what, m, floor+1, fmt.Sprintf("%+.2f ms to bash -c true (%.2f ms), %+.2f between the quickest of both; the goal is +1.00",
				m-floor, floor, v.each(slices.Min)-c.bash.each(slices.Min[[]float64])))
		}
		show(fmt.Sprintf("one round, %s, ms", t), c.served)
		show("  from a script in place of the server", c.played)
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

// span is the times in ms of runs with one round and of runs with that and many more.
type span struct{ one, many []float64 }

func (s *span) add(run func(n int) (float64, error)) error {
	one, err := run(1)
	if err != nil {
		return err
	}
	many, err := run(1 + rounds)
	s.one, s.many = append(s.one, one), append(s.many, many)
	return err
}

// each is what a round more costs a run, where of says which of the times count.
func (s *span) each(of func([]float64) float64) float64 { return (of(s.many) - of(s.one)) / rounds }

func mib(kib int) float64 { return float64(kib) / 1024 }

// bashes is the time in ms of so many shells.
func bashes(n int) (float64, error) {
	begin := time.Now()
	for range n {
		if err := exec.Command("bash", "-c", "true").Run(); err != nil {
			return 0, err
		}
	}
	return ms(time.Since(begin)), nil
}

// served is the time in ms of a run with so many rounds.
func (b *bench) served(project string, t sandbox.Tier, n int, k *kept) (float64, error) {
	s, err := b.session(project, session{
		tools: shellTools, env: in(t), calls: slices.Repeat([]call{{"shell", `{"command":"true"}`}}, n),
		watch: func(pid, at int) {
			if at == n {
				k.look(pid)
			}
		},
	})
	if err == nil && strings.Count(s.last, "[command produced no output]") != n {
		err = fmt.Errorf("not all of %d commands ran: …%q", n, s.last[max(0, len(s.last)-200):])
	}
	return s.took, err
}

// played is the same from a script, which demands that the last command ran.
func (b *bench) played(project string, t sandbox.Tier, n int) (float64, error) {
	script := `{"version":1}` + "\n" + strings.Repeat(`{"calls":[{"name":"shell","args":{"command":"true"}}]}`+"\n", n) +
		`{"text":"done","expect":{"last_result_contains":"[command produced no output]"}}` + "\n"
	path := filepath.Join(b.tmp, "script.jsonl")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		return 0, err
	}
	c, err := b.agent(project, "replay", path, session{tools: shellTools, env: in(t)})
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	return ms(time.Since(begin)), nil
}
