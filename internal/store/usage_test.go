//go:build unix

package store_test

import (
	"testing"

	"jig/internal/msg"
	"jig/internal/proto"
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
