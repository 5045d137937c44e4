//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// attempt is one try to get out. It runs once outside, where it must succeed (a missing tool is no
// proof of anything), and once inside; both times what happened is looked at from outside.
type attempt struct {
	name   string
	danger string   // the row of the table that says what each tier does about it
	run    []string // {"sh", line} or a function of the test binary with its arguments
	// prepare sets up what the attempt aims at, after the world was made anew.
	prepare func(t *testing.T, w *world)
	// done reports whether the attempt succeeded. out is what it printed: proof only where it
	// holds something that could not be known otherwise.
	done func(w *world, out string) bool
	// rootOnly: others cannot do it outside either. userOnly: root needs no such way.
	rootOnly, userOnly bool
	// verdict replaces the row's, with the reason beside it.
	verdict map[Tier]Verdict
	// network: the attempt is made with the network allowed.
	network bool
}

var tiers = []Tier{Bwrap, Namespaces, Landlock}

func danger(t *testing.T, id string) Danger {
	t.Helper()
	for _, d := range Dangers() {
		if d.ID == id {
			return d
		}
	}
	t.Fatalf("no row %q", id)
	return Danger{}
}

func TestNothingGetsOut(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		for _, a := range attempts() {
			if a.rootOnly && who != 0 || a.userOnly && who == 0 {
				continue
			}
			for _, tier := range tiers {
				t.Run(fmt.Sprintf("%d/%s/%s/%s", who, a.danger, a.name, tier), func(t *testing.T) { a.check(t, w, tier) })
			}
		}
	}
}

func (a attempt) check(t *testing.T, w *world, tier Tier) {
	want := danger(t, a.danger).In(tier)
	if v, ok := a.verdict[tier]; ok {
		want = v
	}
	w.net = a.network
	defer func() { w.net = false }()
	setup := func() {
		w.reset(t)
		if a.prepare != nil {
			a.prepare(t, w)
		}
	}
	setup()
	o := w.command(a.run)
	if r := w.outside(t, o); !a.done(w, r.Out) {
		t.Fatalf("the attempt does not work outside either: %q: %d %s%s", o.Argv, r.Exit, r.Out, r.Err)
	}
	setup()
	o = w.command(a.run)
	h := startHost(t, w.who, w.binary, tier, w.policy())
	r := h.run(t, o)
	if got := a.done(w, r.Out); got != (want == Open) {
		t.Errorf("the table says %s; done: %v; %d %s%s", want, got, r.Exit, r.Out, r.Err)
	}
}

func fileIs(elem ...string) func(*world, string) bool {
	text := elem[len(elem)-1]
	return func(w *world, _ string) bool {
		b, _ := os.ReadFile(w.path(elem[:len(elem)-1]...))
		return string(b) == text
	}
}

func thereIs(elem ...string) func(*world, string) bool {
	return func(w *world, _ string) bool { return exists(w.path(elem...)) }
}

func isGone(elem ...string) func(*world, string) bool {
	return func(w *world, _ string) bool { return !exists(w.path(elem...)) }
}

func says(secret string) func(*world, string) bool {
	return func(_ *world, out string) bool { return strings.Contains(out, secret) }
}

func attempts() []attempt {
	return slices.Concat(fileAttempts(), mountAttempts(), gitAttempts(), processAttempts(), socketAttempts(), systemAttempts())
}
