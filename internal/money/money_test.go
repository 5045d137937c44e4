package money_test

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"jig/internal/money"
	"jig/internal/msg"
)

func TestAmountsAreReadExactly(t *testing.T) {
	for in, want := range map[string]money.Amount{
		"0": 0, "0.50": 500_000_000, ".5": 500_000_000, "$1.25": 1_250_000_000, "12": 12_000_000_000,
		"0.000000001": 1, "1.1": 1_100_000_000, "0.1000000000000": 100_000_000,
	} {
		if got, err := money.Parse(in); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "$", ".", "1.", "-1", "+1", "1e3", "1,5", "0.0000000001", "99999999999", "NaN", " 1", "0x10"} {
		if got, err := money.Parse(in); err == nil {
			t.Errorf("%q was read as %d", in, got)
		}
	}
}

func TestAmountsAreWrittenForPeople(t *testing.T) {
	for in, want := range map[money.Amount]string{
		0: "$0.00", 1: "$0.000000001", 999: "$0.000000999", 1_499: "$0.000001", 4_213_499: "$0.004213", 42_130_000: "$0.0421", 500_000_000: "$0.50",
		999_999_999: "$1.00", 1_005_000_000: "$1.01", 12 * money.Dollar: "$12.00", money.Most: "$9223372036.854775807",
	} {
		if got := in.String(); got != want {
			t.Errorf("%d: %s, want %s", in, got, want)
		}
	}
	if got := money.Amount(1_005_000_001).Exact(); got != "$1.005000001" {
		t.Error(got)
	}
}

func TestAmountsSurviveJSON(t *testing.T) {
	for _, a := range []money.Amount{0, 1, 500_000_000, 1_234_567_891, money.Most} {
		data, err := json.Marshal(a)
		var back money.Amount
		if err != nil || json.Unmarshal(data, &back) != nil || back != a {
			t.Errorf("%d: %s, %d, %v", a, data, back, err)
		}
	}
	if data, _ := json.Marshal(money.Amount(4_213_000)); string(data) != "0.004213" {
		t.Errorf("%s", data)
	}
}

// Input counts everything that was sent, so each token of it must be paid for once.
func TestCachedInputIsPaidOnce(t *testing.T) {
	p := money.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}
	got := p.Of(msg.Usage{Input: 10_000, Output: 100, CacheRead: 8_000, CacheWrite: 1_500})
	// 500 × $3 + 8000 × $0.30 + 1500 × $3.75 + 100 × $15, for a million each
	if want := money.Amount(1_500_000 + 2_400_000 + 5_625_000 + 1_500_000); got != want {
		t.Errorf("%s, want %s", got.Exact(), want.Exact())
	}
}

func TestCostIsRoundedUpOncePerRequest(t *testing.T) {
	p := money.Price{Input: 2_800, Output: 100, CacheRead: 100, CacheWrite: 100} // $0.0028 and less for a million tokens
	if got := p.Of(msg.Usage{Input: 1}); got != 3 {
		t.Errorf("2.8 billionths became %d", got)
	}
	if got := p.Of(msg.Usage{Input: 3, CacheRead: 1, CacheWrite: 1, Output: 1}); got != 4 {
		t.Errorf("3.1 billionths became %d", got)
	}
	if got := p.Of(msg.Usage{Input: 10}); got != 28 {
		t.Errorf("28 billionths became %d", got)
	}
}

func TestForeignCountsNeverMakeACostSmall(t *testing.T) {
	dear := money.Price{Input: 1e12, Output: 1e12, CacheRead: 1e12, CacheWrite: 1e12}
	for _, u := range []msg.Usage{
		{Input: math.MaxInt}, {Output: math.MaxInt}, {Input: math.MaxInt, Output: math.MaxInt, CacheRead: math.MaxInt, CacheWrite: math.MaxInt},
	} {
		if got := dear.Of(u); got != money.Most {
			t.Errorf("%+v costs %s", u, got)
		}
	}
	p := money.Price{Input: 1e6, Output: 1e6, CacheRead: 1e5, CacheWrite: 1e6}
	if got := p.Of(msg.Usage{Input: -5, Output: -5, CacheRead: -5, CacheWrite: -5}); got != 0 {
		t.Errorf("%d", got)
	}
	if got := p.Of(msg.Usage{Input: 10, CacheRead: -1_000_000}); got != 10_000 {
		t.Errorf("a negative count made input cost %d", got)
	}
	if got := p.Of(msg.Usage{Input: 0, CacheRead: 100}); got != 10_000 {
		t.Errorf("%d", got)
	}
	if got := money.Most.Plus(1); got != money.Most {
		t.Errorf("%d", got)
	}
}

func TestTokensNeverCostMoreThanWhatPaysForThem(t *testing.T) {
	for _, rate := range []money.Rate{1, 7, 999, 100_000, 15_000_000, 1e12} {
		p := money.Price{Output: rate}
		for _, a := range []money.Amount{-1, 0, 1, 999, 123_456_789, money.Dollar, money.Most} {
			n := p.Tokens(a)
			if n < 0 || n > 0 && p.Reply(n) > a {
				t.Errorf("%d at %s: %d tokens cost %d", a, rate, n, p.Reply(n))
			}
			if n < math.MaxInt32 && a > 0 && p.Reply(n+1) <= a {
				t.Errorf("%d at %s pays for more than %d tokens", a, rate, n)
			}
		}
	}
	if n := (money.Price{}).Tokens(1); n != math.MaxInt32 {
		t.Errorf("what costs nothing is limited to %d", n)
	}
}

func TestNothingCheaperIsTheMostInputCanCost(t *testing.T) {
	p := money.Price{Input: 4_000_000, CacheRead: 200_000, CacheWrite: 5_000_000}
	if got := p.AtMost(1_000_000); got != 5*money.Dollar {
		t.Error(got)
	}
}

func FuzzMoney(f *testing.F) {
	f.Add("0.5", 1, 2, 3, 4, int64(3_000_000))
	f.Add("$12", math.MaxInt, -1, 7, math.MinInt, int64(1e12))
	f.Fuzz(func(t *testing.T, s string, in, out, read, write int, rate int64) {
		if a, err := money.Parse(s); err == nil {
			if back, err := money.Parse(a.Exact()); err != nil || back != a {
				t.Errorf("%q: %d, %d, %v", s, a, back, err)
			}
		}
		if rate < 0 {
			rate = -(rate + 1)
		}
		r := money.Rate(rate)
		got := money.Price{Input: r, Output: r, CacheRead: r, CacheWrite: r}.Of(msg.Usage{Input: in, Output: out, CacheRead: read, CacheWrite: write})
		in, out, read, write = max(in, 0), max(out, 0), max(read, 0), max(write, 0)
		tokens := new(big.Int).Add(big.NewInt(int64(read)), big.NewInt(int64(write)))
		if total := big.NewInt(int64(in)); tokens.Cmp(total) < 0 {
			tokens = total
		}
		want := new(big.Int).Mul(tokens.Add(tokens, big.NewInt(int64(out))), big.NewInt(rate))
		want.Add(want, big.NewInt(999)).Div(want, big.NewInt(1000))
		if want.Cmp(big.NewInt(int64(money.Most))) > 0 {
			want.SetInt64(int64(money.Most))
		}
		if want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Errorf("%d, want %s", got, want)
		}
	})
}
