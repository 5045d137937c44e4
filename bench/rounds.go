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

// costs are the times in ms of rounds, and of what stands beside them.
type costs struct {
	bash, served, talk, floor []float64 // of each round by itself
	played                    span
}

// shellRounds measures rounds with the smallest command, from end to end: from one request to the next,
// with a model that answers on loopback. What it takes to talk to such a server and to run the command is
// measured beside it, as a program does that does nothing else. The same is played from a script inside
// jig, which leaves out the server and the way there.
func (b *bench) shellRounds(project string, tiers []sandbox.Tier) error {
	all, memory := map[sandbox.Tier]*costs{}, map[sandbox.Tier]*kept{}
	for _, t := range tiers {
		all[t], memory[t] = &costs{}, &kept{}
	}
	for range max(b.runs/6, 3) {
		for _, t := range tiers {
			if err := b.roundsIn(project, t, all[t], memory[t]); err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
		}
	}
	fmt.Println()
	heading("a run whose rounds are the command true")
	for _, t := range tiers {
		c := all[t]
		row := func(what string, figure, floor float64, is string) {
			row(what, figure, floor+1, fmt.Sprintf("%+.2f ms to %.2f ms, which %s; the goal is +1.00", figure-floor, floor, is))
		}
		row(fmt.Sprintf("one round over HTTP, %s, ms", t), median(c.served), median(c.floor), "a program takes that only talks to that server and runs bash -c true")
		row("  the quickest tenth", tenth(c.served), tenth(c.floor), "is the same of that program")
		row("  beside the command without a server", median(c.served), median(c.bash),
			fmt.Sprintf("bash -c true takes alone (talking to the server alone takes %.2f)", median(c.talk)))
		row("  from a script in place of the server", c.played.each(median), median(c.bash), "bash -c true takes alone")
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

// roundsIn makes one run of each kind.
func (b *bench) roundsIn(project string, t sandbox.Tier, c *costs, k *kept) error {
	s, err := b.served(project, t, rounds, k)
	if err != nil {
		return err
	}
	c.served = append(c.served, gaps(s.asked)...)
	for _, m := range []struct {
		into    *[]float64
		command []string
	}{{&c.talk, nil}, {&c.floor, []string{"bash", "-c", "true"}}} {
		asked, err := b.exchanged(rounds, s, m.command...)
		if err != nil {
			return err
		}
		*m.into = append(*m.into, gaps(asked)...)
	}
	if err := c.played.add(func(n int) (float64, error) { return b.played(project, t, n) }); err != nil {
		return err
	}
	for range rounds {
		took, err := timed(exec.Command("bash", "-c", "true"))
		if err != nil {
			return err
		}
		c.bash = append(c.bash, took)
	}
	return nil
}

// gaps are the times in ms from one moment to the next. The first is left out: in it things are made
// that the others find.
func gaps(at []time.Time) (out []float64) {
	for i := 2; i < len(at); i++ {
		out = append(out, ms(at[i].Sub(at[i-1])))
	}
	return out
}

// tenth is what the quickest tenth of values stays under: other programs disturb those the least.
func tenth(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/10]
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

// served is a run with so many rounds.
func (b *bench) served(project string, t sandbox.Tier, n int, k *kept) (seen, error) {
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
	return s, err
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
