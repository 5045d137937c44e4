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
	rootPrepares       bool // only root can set up what it aims at
	// verdict replaces the row's, with the reason beside it.
	verdict map[Tier]Verdict
	// network: the attempt is made with the network allowed.
	network bool
	// first is run before, in the same session, or in an earlier one.
	first   []string
	earlier bool
	// policy replaces the world's own; it is asked once the world is prepared.
	policy func(w *world) hostPolicy
	// binary is where the program that opens the warden lies, if not where nobody can replace it.
	binary func(w *world) string
	// fresh: what the attempt aims at must be there when the warden starts.
	fresh bool
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
		w.share(t, tiers...)
		for _, a := range attempts() {
			if a.rootOnly && who != 0 || a.userOnly && who == 0 || a.rootPrepares && os.Geteuid() != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%d/%s/%s", who, a.danger, a.name), func(t *testing.T) { a.check(t, w, tiers...) })
		}
	}
}

// An older kernel offers less of Landlock. The rows about files hold with every version.
func TestNothingGetsOutOfAnOldLandlock(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	w := newWorld(t, users()[len(users())-1])
	for _, version := range []int{1, 2, 3, 5} {
		w.abi = version
		w.share(t, Landlock)
		for _, a := range fileAttempts() {
			if a.danger == "metadata" || a.danger == "reading" {
				continue
			}
			t.Run(fmt.Sprintf("%d/%s/%s", version, a.danger, a.name), func(t *testing.T) { a.check(t, w, Landlock) })
		}
	}
}

// set makes the world anew for one run of the attempt and gives its command.
func (a attempt) set(t *testing.T, w *world) order {
	t.Helper()
	w.reset(t)
	if a.prepare != nil {
		a.prepare(t, w)
	}
	return w.command(a.run)
}

func (a attempt) check(t *testing.T, w *world, tiers ...Tier) {
	w.net = a.network
	defer func() { w.net = false }()
	o := a.set(t, w)
	if a.first != nil {
		w.outside(t, w.command(a.first))
	}
	if r := w.outside(t, o); !a.done(w, r.Out) {
		t.Fatalf("the attempt does not work outside either: %q: %d %s%s", o.Argv, r.Exit, r.Out, r.Err)
	}
	for _, tier := range tiers {
		want := danger(t, a.danger).In(tier)
		if v, ok := a.verdict[tier]; ok {
			want = v
		}
		o := a.set(t, w)
		h := w.hosts[tier]
		begin := func() *host {
			p := w.policy()
			if a.policy != nil {
				p = a.policy(w)
			}
			binary := w.binary
			if a.binary != nil {
				binary = a.binary(w)
			}
			return startHost(t, w.who, binary, tier, p)
		}
		if h == nil || a.fresh || a.network {
			h = begin()
		}
		if a.first != nil {
			if r := h.run(t, w.command(a.first)); r.Exit != 0 {
				t.Errorf("%s: what comes before does not work inside: %d %s%s", tier, r.Exit, r.Out, r.Err)
			}
			if a.earlier {
				h.stop()
				h = begin()
			}
		}
		r := h.run(t, o)
		if got := a.done(w, r.Out); got != (want == Open) {
			t.Errorf("%s: the table says %s; done: %v; %d %s%s", tier, want, got, r.Exit, r.Out, r.Err)
		}
		if h != w.hosts[tier] {
			h.stop()
		}
	}
}

// share starts a warden in each tier for the attempts that do not need one of their own.
func (w *world) share(t *testing.T, tiers ...Tier) {
	t.Helper()
	w.hosts = map[Tier]*host{}
	for _, tier := range tiers {
		w.hosts[tier] = startHost(t, w.who, w.binary, tier, w.policy())
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
	return slices.Concat(fileAttempts(), mountAttempts(), placeAttempts(), gitAttempts(), processAttempts(), socketAttempts(), systemAttempts())
}
