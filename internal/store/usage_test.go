//go:build unix

package store_test

import (
	"testing"
	"time"

	"jig/internal/money"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

// TestAnswersThatBroughtNoSummaryAreSpent: what they took is told with the cost, or with the summary that came
// of a second answer.
func TestAnswersThatBroughtNoSummaryAreSpent(t *testing.T) {
	d := fresh(t)
	id := write(t, d)
	count := func() (requests, input int) {
		spent, err := d.Spent(zero, zero)
		must(t, err)
		for _, s := range spent {
			requests, input = requests+s.Requests, input+s.Usage.Input
		}
		return requests, input
	}
	before, tokens := count()
	s, facts, err := d.Take(id)
	must(t, err)
	must(t, s.Append(uint64(len(facts)+1),
		proto.Cost{Vain: 2, VainUsage: &msg.Usage{Input: 1000}},
		proto.Compacted{Through: 1, Usage: &msg.Usage{Input: 500}, Asked: 2},
		proto.Compacted{Through: 1, Usage: &msg.Usage{Input: 10}},
		proto.Cost{}))
	must(t, s.Close())
	if n, in := count(); n != before+5 || in != tokens+1510 {
		t.Errorf("%d requests and %d tokens more", n-before, in-tokens)
	}
}

// A provider that counts absurdly much must not keep later sessions from being written.
func TestASumOfCostsThatIsTooLargeStaysTheLargest(t *testing.T) {
	d := fresh(t)
	for range 3 {
		s := d.New(store.NewID())
		must(t, s.Append(1, proto.Began{Agent: "coder", Provider: "p", Model: "m", Root: "/r"}, proto.Cost{Session: money.Most}))
		must(t, s.Close())
	}
	all, err := d.Spent(time.Time{}, time.Time{})
	must(t, err)
	var sum money.Amount
	for _, s := range all { // two where a quarter of an hour begins in between
		sum = sum.Plus(s.Cost)
	}
	if sum != money.Most {
		t.Errorf("%v in %+v", sum, all)
	}
}
