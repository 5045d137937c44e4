// Package money is amounts of US dollars, prices of tokens, and the arithmetic between them, in
// integers: sums of many small costs stay exact. It knows no model and no limit.
package money

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"jig/internal/msg"
)

// Amount is a sum of money in billionths of a US dollar.
type Amount int64

// Dollar is one US dollar.
const Dollar Amount = 1e9

// Most is the largest amount. What would be more stays at it, so that no sum ever becomes small
// again.
const Most Amount = math.MaxInt64

// Rate is the price of tokens in millionths of a US dollar for a million of them.
type Rate int64

// Price is what a model's tokens cost.
type Price struct {
	Input, Output         Rate
	CacheRead, CacheWrite Rate // of the input that was read from and written to the provider's cache
}

// Parse reads an amount such as 0.5, 12 or $1.25, with nine decimals at most.
func Parse(s string) (Amount, error) {
	n, err := decimal(strings.TrimPrefix(s, "$"), 9)
	return Amount(n), err
}

// ParseRate reads dollars for a million tokens, with six decimals at most.
func ParseRate(s string) (Rate, error) {
	n, err := decimal(s, 6)
	return Rate(n), err
}

// PerMillion is the rate for a price in dollars. What is smaller than a rate can tell is rounded.
func PerMillion(dollars float64) Rate {
	return Rate(math.Round(dollars * 1e6))
}

var errNotMoney = errors.New("want an amount of dollars such as 0.50 or 12")

// decimal reads a number without a sign as a count of its last decimal place.
func decimal(s string, places int) (int64, error) {
	whole, part, dot := strings.Cut(s, ".")
	if whole == "" && part == "" || dot && part == "" || strings.Trim(whole+part, "0123456789") != "" {
		return 0, errNotMoney
	}
	if part = strings.TrimRight(part, "0"); len(part) > places {
		return 0, fmt.Errorf("%w, with %d decimals at most", errNotMoney, places)
	}
	n, err := strconv.ParseInt(whole+part+strings.Repeat("0", places-len(part)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w, not as much as %s", errNotMoney, s)
	}
	return n, nil
}

// Plus is the sum of two amounts that are not negative.
func (a Amount) Plus(b Amount) Amount {
	if a > Most-b {
		return Most
	}
	return a + b
}

// Exact writes an amount to its last decimal.
func (a Amount) Exact() string { return "$" + pad(fixed(int64(a), 9)) }

// String writes an amount for people: two decimals from a dollar on, four from a cent on, else six.
// What is less than a millionth of a dollar is written exactly.
func (a Amount) String() string {
	step := Amount(1)
	switch {
	case a >= Dollar:
		step = Dollar / 100
	case a >= Dollar/100:
		step = Dollar / 10_000
	case a >= Dollar/1_000_000:
		step = Dollar / 1_000_000
	}
	if a > Most-step {
		return a.Exact()
	}
	return ((a + step/2) / step * step).Exact()
}

// MarshalJSON writes dollars as a number with all decimals.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(fixed(int64(a), 9)), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Amount) UnmarshalJSON(data []byte) error {
	n, err := decimal(string(data), 9)
	*a = Amount(n)
	return err
}

// String writes the dollars for a million tokens.
func (r Rate) String() string { return "$" + pad(fixed(int64(r), 6)) }

// fixed writes n of the last of so many decimals, without zeros at the end.
func fixed(n int64, places int) string {
	s := fmt.Sprintf("%0*d", places+1, n)
	s = s[:len(s)-places] + "." + s[len(s)-places:]
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// pad gives a number the two decimals money has.
func pad(s string) string {
	_, part, _ := strings.Cut(s, ".")
	switch len(part) {
	case 0:
		return s + ".00"
	case 1:
		return s + "0"
	}
	return s
}

// Of is what a request costs: the input that was neither read from nor written to the cache, the
// input that was, and the output. It is rounded up to the next billionth, once for the whole
// request. Counts come from outside: negative ones count as nothing, and more cached input than
// input is taken as that much input.
func (p Price) Of(u msg.Usage) Amount {
	fresh := u.Input - max(u.CacheRead, 0) - max(u.CacheWrite, 0)
	var s sum
	s.add(fresh, p.Input)
	s.add(u.CacheRead, p.CacheRead)
	s.add(u.CacheWrite, p.CacheWrite)
	s.add(u.Output, p.Output)
	return s.amount()
}

// AtMost is the most that input of so many tokens can cost, however it is cached.
func (p Price) AtMost(input int) Amount {
	var s sum
	s.add(input, max(p.Input, p.CacheWrite, p.CacheRead))
	return s.amount()
}

// Reply is what so many tokens of output cost.
func (p Price) Reply(tokens int) Amount { return p.Of(msg.Usage{Output: tokens}) }

// Tokens is how many tokens of output an amount pays for.
func (p Price) Tokens(a Amount) int {
	switch {
	case a < 0:
		return 0
	case p.Output <= 0:
		return math.MaxInt32
	}
	hi, lo := bits.Mul64(uint64(a), unit)
	if hi >= uint64(p.Output) {
		return math.MaxInt32
	}
	n, _ := bits.Div64(hi, lo, uint64(p.Output))
	return int(min(n, math.MaxInt32))
}

// unit is how many of a rate's smallest parts for one token make one of an amount: a rate of 1 is a
// trillionth of a dollar for each token.
const unit = 1000

// sum adds up costs in trillionths of a dollar, in 128 bits.
type sum struct{ hi, lo uint64 }

func (s *sum) add(tokens int, r Rate) {
	if tokens <= 0 || r <= 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(tokens), uint64(r))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, carry = bits.Add64(s.hi, hi, carry)
	if carry != 0 {
		s.hi = math.MaxUint64
	}
}

func (s sum) amount() Amount {
	if s.hi >= unit {
		return Most
	}
	n, rest := bits.Div64(s.hi, s.lo, unit)
	switch {
	case n >= uint64(Most):
		return Most
	case rest > 0:
		n++
	}
	return Amount(n)
}
