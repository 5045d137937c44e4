package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jig/internal/model/catalog"
	"jig/internal/model/cost"
	"jig/internal/money"
)

func newTestBudget(t *testing.T, limit money.Amount) *budget {
	t.Helper()
	b := &budget{model: catalog.Model{Price: &money.Price{Input: 1}}, limit: &limit, dir: filepath.Join(t.TempDir(), "cost")}
	b.ledger = cost.NewLedger(b.limit, b.tell)
	return b
}

// lend starts a child and gives the file of its account.
func lend(t *testing.T, b *budget) (file string, ended func()) {
	t.Helper()
	vars, ended, err := b.child()
	if err != nil || len(vars) != 1 {
		t.Fatalf("%q, %v", vars, err)
	}
	_, file, _ = strings.Cut(vars[0], ":")
	return file, ended
}

func TestWhatAKilledChildHadPutAsideIsSpent(t *testing.T) {
	b := newTestBudget(t, 1000)
	file, ended := lend(t, b)
	if err := os.WriteFile(file, accountLine(cost.Account{Spent: 100, Held: 30}), 0o600); err != nil {
		t.Fatal(err)
	}
	ended()
	if got := b.ledger.Account(); got != (cost.Account{Spent: 130, Children: 130, Estimated: true}) {
		t.Errorf("%+v", got)
	}
}

// What cannot be read may have been everything.
func TestAnAccountThatIsGoneOrForgedCountsAsAllThatWasLent(t *testing.T) {
	for what, spoil := range map[string]func(string) error{
		"gone":     os.Remove,
		"empty":    func(f string) error { return os.WriteFile(f, nil, 0o600) },
		"negative": func(f string) error { return os.WriteFile(f, []byte("-500 0 0\n"), 0o600) },
		"words":    func(f string) error { return os.WriteFile(f, []byte("a lot\n"), 0o600) },
		"huge":     func(f string) error { return os.WriteFile(f, []byte("99999999999999999999999 0 0\n"), 0o600) },
	} {
		b := newTestBudget(t, 1000)
		file, ended := lend(t, b)
		if err := spoil(file); err != nil {
			t.Fatal(err)
		}
		ended()
		if got := b.ledger.Account(); got != (cost.Account{Spent: 500, Children: 500, Estimated: true}) {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

func TestWithoutAPlaceForAccountsNoChildStartsUnderALimit(t *testing.T) {
	b := newTestBudget(t, 1000)
	b.dir = ""
	if vars, _, err := b.child(); err == nil {
		t.Errorf("%q", vars)
	}
	b.limit = nil
	if vars, ended, err := b.child(); err != nil || vars != nil || ended == nil {
		t.Errorf("%q, %v", vars, err)
	}
}

func FuzzAllowance(f *testing.F) {
	for _, s := range []string{"", "0:", "-:/a", "5:/a:b", "-5:/a", ":", "1", "9999999999999999999:/a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := allowanceOf(World{Getenv: func(string) (string, bool) { return s, s != "" }})
		switch {
		case err != nil && a != allowance{}:
			t.Errorf("%q: %+v beside %v", s, a, err)
		case err == nil && s != "" && a.limit == nil && !strings.HasPrefix(s, "-:"), a.limit != nil && *a.limit < 0:
			t.Errorf("%q allows %+v", s, a)
		}
	})
}

func FuzzAccount(f *testing.F) {
	f.Add("0000000000000000001 0000000000000000002 1\n")
	f.Add("1 2\n")
	f.Add("-1 9223372036854775807 1\n")
	file := filepath.Join(f.TempDir(), "account")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if spent, _, err := readAccount(file); err == nil && spent < 0 {
			t.Errorf("%q: %d", text, spent)
		}
	})
}

// Each way to start commands without a limit of one's own keeps what was said before.
func TestCommandsAreToldWhatTheirJigWasTold(t *testing.T) {
	for _, c := range []struct {
		told, mark string
		want       []string
	}{
		{"", "", []string{"A=1", "JIG_ALLOWANCE=-:"}},
		{"-:/f", "c1", []string{"A=1", "JIG_ALLOWANCE=-:"}},
		{"0:", "c1", []string{"A=1", "JIG_ALLOWANCE=0:"}},
		{"500:/f", "", []string{"A=1", "JIG_ALLOWANCE=0:"}},
		{"rubbish", "", []string{"A=1", "JIG_ALLOWANCE=0:"}},
		{"", "c1", []string{"A=1"}},
	} {
		vars := map[string]string{"JIG_ALLOWANCE": c.told, "JIG_CALL": c.mark}
		w := World{Environ: []string{"A=1", "JIG_ALLOWANCE=" + c.told}, Getenv: func(k string) (string, bool) { return vars[k], vars[k] != "" }}
		got := inherited(w)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
		b := newTestBudget(t, 1000)
		if env, _ := b.forCommands(got, false); !slices.Equal(env, []string{"A=1", "JIG_ALLOWANCE=0:"}) {
			t.Errorf("%+v under a limit: %q", c, env)
		}
	}
}
