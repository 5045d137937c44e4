package host_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/agent"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/money"
	"jig/internal/proto"
)

// TestEachTurnSaysWhatItAndTheSessionCost: what is spent between two turns, by a job that goes on,
// counts for the second.
func TestEachTurnSaysWhatItAndTheSessionCost(t *testing.T) {
	var mu sync.Mutex
	var spent money.Amount
	spend := func(a money.Amount) { mu.Lock(); defer mu.Unlock(); spent += a }
	m := &script{}
	for range 2 {
		m.steps = append(m.steps, func(ctx context.Context) (model.Reply, error) { spend(100); return says("ok")(ctx) })
	}
	h := host.New()
	defer h.Close()
	id, err := h.Open(host.Setup{
		Turn: func(context.Context) (agent.Turn, error) { return agent.Turn{Model: m}, nil },
		Cost: func() *proto.Cost { mu.Lock(); defer mu.Unlock(); return &proto.Cost{Session: spent} },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{h: h, id: id}
	r.do(t, proto.Submit{Text: "one"})
	r.until(1, nil)
	spend(7)
	r.do(t, proto.Submit{Text: "two"})
	var got []proto.Cost
	last := ""
	r.until(2, func(f proto.Fact) {
		switch f := f.(type) {
		case proto.Cost:
			got = append(got, f)
			last = "cost"
		case proto.Ended:
			if last != "cost" {
				t.Errorf("before the end of the turn came %q", last)
			}
		default:
			last = "other"
		}
	})
	if d := cmp.Diff([]proto.Cost{{Turn: 100, Session: 100}, {Turn: 107, Session: 207}}, got); d != "" {
		t.Error(d)
	}
}

func TestNothingIsSaidOfWhatNobodyPrices(t *testing.T) {
	h := host.New()
	defer h.Close()
	id, err := h.Open(host.Setup{
		Turn: func(context.Context) (agent.Turn, error) {
			return agent.Turn{Model: &script{steps: []func(context.Context) (model.Reply, error){says("ok")}}}, nil
		},
		Cost: func() *proto.Cost { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{h: h, id: id}
	r.do(t, proto.Submit{Text: "one"})
	for _, f := range r.until(1, nil) {
		if c, ok := f.(proto.Cost); ok {
			t.Errorf("%+v", c)
		}
	}
}
