//go:build unix

package store_test

import (
	"testing"
	"time"

	"jig/internal/money"
	"jig/internal/proto"
	"jig/internal/store"
)

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
