package catalog_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"jig/internal/model/catalog"
	"jig/internal/money"
)

func TestModelIsFoundAtItsVendor(t *testing.T) {
	for kind, id := range map[string]string{"openai": "gpt-5", "openresponses": "gpt-5", "anthropic": "claude-opus-4-5-20251101", "gemini": "models/gemini-2.5-pro"} {
		m, ok := catalog.Find(catalog.Address{Kind: kind, Name: "x"}, id)
		if !ok || m.Price == nil || m.Price.Input == 0 || m.Window < 100_000 || m.Reply < 8_000 {
			t.Errorf("%s:%s: %+v, %v", kind, id, m, ok)
		}
	}
	if m, ok := catalog.Find(catalog.Address{Kind: "replay"}, "gpt-5"); ok {
		t.Errorf("a script costs %+v", m)
	}
}

// The published price of one model, which the data must give in the right places:
// https://platform.claude.com/docs/en/about-claude/pricing
func TestPricesStandWhereTheyBelong(t *testing.T) {
	m, _ := catalog.Find(catalog.Address{Kind: "anthropic"}, "claude-sonnet-4-5")
	want := money.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}
	if m.Price == nil || *m.Price != want {
		t.Errorf("%+v", m.Price)
	}
}

func TestDateBehindANameIsNoOtherModel(t *testing.T) {
	at := catalog.Address{Kind: "openai"}
	plain, _ := catalog.Find(at, "gpt-4o")
	dated, ok := catalog.Find(at, "gpt-4o-2024-08-06")
	if !ok || dated.ID != plain.ID {
		t.Errorf("%+v, %+v", plain, dated)
	}
	for _, id := range []string{"gpt-4o-", "gpt-4o-audio", "gpt", "", "@openai", "date", "#", "gpt-4o\t2.5"} {
		if m, ok := catalog.Find(at, id); ok {
			t.Errorf("%q was taken for %q", id, m.ID)
		}
	}
}

func TestAddressDecidesWhosePriceItIs(t *testing.T) {
	for _, c := range []struct {
		at   catalog.Address
		id   string
		want bool
	}{
		{catalog.Address{Kind: "openai", Name: "ds", URL: "https://api.deepseek.com"}, "deepseek-v4-pro", true},
		{catalog.Address{Kind: "openai", Name: "ds", URL: "https://api.deepseek.com/v1/"}, "deepseek-v4-pro", true},
		{catalog.Address{Kind: "anthropic", Name: "m", URL: "https://api.minimax.io/anthropic"}, "MiniMax-M2.7-highspeed", true},
		{catalog.Address{Kind: "openai", Name: "ds", URL: "https://API.deepseek.com:443/v1"}, "deepseek-v4-pro", true},
		{catalog.Address{Kind: "openai", Name: "openai", URL: "https://gateway.example.com/v1"}, "gpt-5", true},
		{catalog.Address{Kind: "openai", Name: "mine", URL: "https://gateway.example.com/v1"}, "gpt-5", false},
		{catalog.Address{Kind: "openai", Name: "openai", URL: "http://127.0.0.1:8080"}, "gpt-5", false},
		{catalog.Address{Kind: "openai", Name: "openai", URL: "http://[::1]:8080"}, "gpt-5", false},
		{catalog.Address{Kind: "openai", Name: "openai", URL: "http://localhost:1234/v1"}, "gpt-5", false},
		{catalog.Address{Kind: "openai", Name: "openai", URL: "http://10.0.0.7/v1"}, "gpt-5", false},
		{catalog.Address{Kind: "openai", Name: "openai", URL: "http://box.local/v1"}, "gpt-5", false},
		{catalog.Address{Kind: "openai", Name: "openai", URL: "://"}, "gpt-5", false},
		{catalog.Address{Kind: "openai", Name: "openai", URL: "https://api.deepseek.com"}, "gpt-5", false},
	} {
		if m, ok := catalog.Find(c.at, c.id); ok != c.want {
			t.Errorf("%+v %s: %+v", c.at, c.id, m)
		}
	}
}

func TestPathTellsApartWhatOneHostSells(t *testing.T) {
	plan, _ := catalog.Find(catalog.Address{Kind: "openai", URL: "https://open.bigmodel.cn/api/coding/paas/v4"}, "glm-5.1")
	paid, ok := catalog.Find(catalog.Address{Kind: "openai", URL: "https://open.bigmodel.cn/api/paas/v4"}, "glm-5.1")
	other := catalog.List(catalog.Address{Kind: "openai", URL: "https://open.bigmodel.cn/api/paas/v4"})
	same := catalog.List(catalog.Address{Kind: "openai", URL: "https://open.bigmodel.cn/api/coding/paas/v4"})
	if !ok || plan.ID != paid.ID || len(other) == 0 || len(other) == len(same) {
		t.Errorf("%+v, %+v; %d and %d models", plan, paid, len(other), len(same))
	}
}

// Whatever the next copy of the lists holds, a wrong line must be seen here and not on a bill.
func TestEveryLineOfTheDataIsWhole(t *testing.T) {
	data, err := os.ReadFile("models.txt")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := time.Parse("2006-01-02", catalog.Date()); err != nil || d.Year() < 2026 {
		t.Errorf("date %q", catalog.Date())
	}
	priced := 0
	for l := range strings.Lines(string(data)) {
		l = strings.TrimSuffix(l, "\n")
		if l == "" || l[0] == '#' || strings.HasPrefix(l, "date ") {
			continue
		}
		if strings.HasPrefix(l, "@") {
			if len(strings.Fields(l)) != 2 {
				t.Errorf("%q", l)
			}
			continue
		}
		f := strings.Split(l, "\t")
		if len(f) != 8 {
			t.Errorf("%q has %d fields", l, len(f))
			continue
		}
		var rates []money.Rate
		for _, x := range f[1:5] {
			if r, err := money.ParseRate(x); err == nil {
				rates = append(rates, r)
			} else if x != "-" {
				t.Errorf("%q: %s: %v", l, x, err)
			}
		}
		switch {
		case len(rates) == 0:
		case len(rates) != 4 || rates[2] > rates[0] || rates[3] < rates[0] || rates[1] > 2_000_000_000:
			t.Errorf("%q has prices that cannot be", l)
		default:
			priced++
		}
	}
	if priced < 500 {
		t.Errorf("only %d models have a price", priced)
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		catalog.Find(catalog.Address{Kind: "openai", URL: "https://api.z.ai/api/coding/paas/v4"}, "no-such-model")
	}
}
