package sandbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// trier is a machine where some tiers do not work; it keeps what was tried.
type trier struct {
	broken map[Tier]error
	tried  []Tier
}

func (m *trier) try(_ context.Context, t Tier) error {
	m.tried = append(m.tried, t)
	return m.broken[t]
}

var linux = Ladder("linux")

func TestTheStrongestTierThatWorksIsTaken(t *testing.T) {
	no := errors.New("bwrap: setting up uid map:\n Permission denied")
	for _, c := range []struct {
		broken []Tier
		want   Tier
	}{
		{nil, Bwrap},
		{[]Tier{Bwrap}, Namespaces},
		{[]Tier{Bwrap, Namespaces}, Landlock},
		{[]Tier{Bwrap, Namespaces, Landlock}, None},
		{[]Tier{Landlock}, Bwrap},
	} {
		m := &trier{broken: map[Tier]error{}}
		for _, b := range c.broken {
			m.broken[b] = no
		}
		r := detect(t.Context(), Probe{Key: "k", Try: m.try}, linux)
		if r.Tier != c.want {
			t.Errorf("broken %v: got %s, want %s", c.broken, r.Tier, c.want)
		}
		if len(m.tried) != min(slices.Index(linux, c.want)+1, 3) {
			t.Errorf("broken %v: tried %v", c.broken, m.tried)
		}
		for _, a := range r.Tried {
			if slices.Contains(c.broken, a.Tier) && a.Why != "bwrap: setting up uid map: Permission denied" {
				t.Errorf("the report does not say why %s does not work: %q", a.Tier, a.Why)
			}
		}
	}
}

func TestAPositiveAnswerIsKeptAndANegativeOneAskedAgain(t *testing.T) {
	m := &trier{broken: map[Tier]error{Bwrap: errors.New("no")}}
	first := detect(t.Context(), Probe{Key: "k", Try: m.try}, linux)
	kept := first.Encode()
	m.tried = nil
	again := detect(t.Context(), Probe{Key: "k", Cached: kept, Try: m.try}, linux)
	if again.Tier != Namespaces || len(m.tried) != 0 {
		t.Errorf("tier %s after trying %v", again.Tier, m.tried)
	}
	if lines := again.Lines(); !strings.Contains(lines[0], "found at an earlier start") {
		t.Errorf("the report does not say that the answer is an earlier one: %q", lines)
	}
	m.broken = map[Tier]error{Bwrap: errors.New("no"), Namespaces: errors.New("no"), Landlock: errors.New("no")}
	none := detect(t.Context(), Probe{Key: "k", Try: m.try}, linux)
	if none.Encode() != nil {
		t.Errorf("the lack of a sandbox was kept: %s", none.Encode())
	}
}

func TestAnAnswerFromElsewhereDoesNotCount(t *testing.T) {
	m := &trier{}
	for name, cached := range map[string]string{
		"another kernel": `{"Version":1,"Key":"other","Tier":"landlock"}`,
		"none":           `{"Version":1,"Key":"k","Tier":"none"}`,
		"another system": `{"Version":1,"Key":"k","Tier":"seatbelt"}`,
		"another format": `{"Version":2,"Key":"k","Tier":"landlock"}`,
		"made up":        `{"Version":1,"Key":"k","Tier":"unconfined"}`,
		"torn":           `{"Version":1,"Key":"k","Tier":"landl`,
		"huge":           `{"Version":1,"Key":"k","Tier":"landlock"}` + strings.Repeat(" ", 5000),
	} {
		m.tried = nil
		if r := detect(t.Context(), Probe{Key: "k", Cached: []byte(cached), Try: m.try}, linux); r.Tier != Bwrap || len(m.tried) != 1 {
			t.Errorf("%s: %s after trying %v", name, r.Tier, m.tried)
		}
	}
	if r := detect(t.Context(), Probe{Cached: []byte(`{"Version":1,"Key":"","Tier":"landlock"}`), Try: m.try}, linux); r.Tier != Bwrap {
		t.Errorf("a machine without a key took a kept answer: %s", r.Tier)
	}
}

func TestOneTierCanBeChosen(t *testing.T) {
	m := &trier{}
	r := detect(t.Context(), Probe{Key: "k", Only: Landlock, Try: m.try}, linux)
	if r.Tier != Landlock || !slices.Equal(m.tried, []Tier{Landlock}) {
		t.Errorf("%s after trying %v", r.Tier, m.tried)
	}
	r = detect(t.Context(), Probe{Key: "k", Only: None, Try: m.try}, linux)
	if r.Tier != None {
		t.Errorf("none was chosen, got %s", r.Tier)
	}
	m.broken = map[Tier]error{Landlock: errors.New("no")}
	if r := detect(t.Context(), Probe{Key: "k", Only: Landlock, Try: m.try}, linux); r.Tier != None {
		t.Errorf("a chosen tier that does not work gave %s", r.Tier)
	}
}

func TestOtherSystemsHaveTheirOwnLadder(t *testing.T) {
	if got := Ladder("windows"); !slices.Equal(got, []Tier{None}) {
		t.Errorf("windows: %v", got)
	}
	if got := Ladder("darwin"); !slices.Equal(got, []Tier{SandboxExec, None}) {
		t.Errorf("darwin: %v", got)
	}
	for _, goos := range []string{"linux", "darwin", "windows", "plan9"} {
		if l := Ladder(goos); l[len(l)-1] != None {
			t.Errorf("%s: the ladder ends with %s", goos, l[len(l)-1])
		}
	}
}

func FuzzAKeptAnswerIsReadOrRefused(f *testing.F) {
	f.Add([]byte(`{"Version":1,"Key":"k","Tier":"landlock"}`))
	f.Add([]byte(`{"Version":1e99}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &trier{}
		r := detect(t.Context(), Probe{Key: "k", Cached: b, Try: m.try}, linux)
		if len(m.tried) == 0 && r.Tier == None {
			t.Errorf("%q took the confinement away", b)
		}
	})
}
