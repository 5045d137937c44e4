package cost

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"jig/internal/model"
	"jig/internal/money"
	"jig/internal/msg"
)

// LeastReply is the shortest reply worth asking for, in tokens: what a limit does not pay for any
// more is not asked.
const LeastReply = 1024

// unknownReply is the reply limit that is sent, under a limit of money, to a model of which nothing
// is known: nearly every model takes it, and without one a reply could cost anything.
const unknownReply = 32_768

// Options say what is known of the model that is metered.
type Options struct {
	Price  money.Price
	Window int // tokens it can take in, 0 unknown
	Reply  int // tokens of its longest reply, 0 unknown
	// Own is the reply limit its dialect sends where none is asked for, 0 when it sends none.
	Own int
	// Name is what the limit is called in the sentence that ends a run: --max-cost.
	Name string
}

// meter keeps a ledger of a model's requests.
type meter struct {
	next   model.Model
	ledger *Ledger
	opts   Options

	mu          sync.Mutex
	size, count int // of the last request whose tokens were counted: bytes and tokens
}

// Meter wraps a model: each request is checked against the ledger's limit, its reply limit lowered
// to what is left, and what it cost is booked, also when it failed. It belongs directly around a
// dialect, so that every try of a request is one of its own.
func Meter(next model.Model, l *Ledger, o Options) model.Model {
	return &meter{next: next, ledger: l, opts: o}
}

// Stream makes a request, or refuses it with an error of kind quota. What the dialect asks more for the
// same reply is checked and booked as a request of its own.
func (m *meter) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	a := &asking{meter: m, asked: r, size: r.Size()}
	var err error
	if r.MaxOutput, err = a.begin(0); err != nil {
		return model.Reply{}, err
	}
	r.More = func(soFar model.Reply, bytes int) (int, error) {
		a.end(soFar, nil, false)
		n, err := a.begin(bytes)
		var e *model.Error
		if errors.As(err, &e) {
			e.Cause = nil // a part of the reply was paid for
		}
		return n, err
	}
	reply, err := m.next.Stream(ctx, r, func(d model.Delta) {
		a.told = true
		if tell != nil {
			tell(d)
		}
	})
	a.end(reply, err, ctx.Err() != nil)
	if a.lowered && reply.Stop == model.StopLength {
		reply.CutBy = m.opts.Name
	}
	return reply, err
}

// asking is a reply on its way: one request, and whatever further ones its dialect makes for it.
type asking struct {
	*meter
	asked  model.Request
	size   int         // of asked, in bytes
	before model.Reply // what the requests brought that are over

	// Of the request that is going on:
	hold    *Hold // nil when there is none
	bytes   int
	input   int // tokens, guessed
	lowered bool
	told    bool
}

// begin puts aside what the next request can cost and gives its reply limit.
func (a *asking) begin(more int) (maxOutput int, err error) {
	r := a.asked
	a.hold, a.told = nil, false
	a.bytes = a.size + more
	a.input = a.guess(a.bytes)
	a.hold, err = a.ledger.hold(false, func(left money.Amount) (most money.Amount, err error) {
		most, a.lowered, err = a.fit(&r, a.input, left)
		return most, err
	})
	return r.MaxOutput, err
}

// end books what the request cost that is going on: what has come since the one before it.
func (a *asking) end(all model.Reply, err error, stopped bool) {
	if a.hold == nil {
		return
	}
	part, b := all, a.before.Usage
	part.Blocks = all.Blocks[min(len(a.before.Blocks), len(all.Blocks)):]
	part.Usage = all.Usage.Add(msg.Usage{Input: -b.Input, Output: -b.Output, CacheRead: -b.CacheRead, CacheWrite: -b.CacheWrite})
	u, estimated := a.used(part, a.input, err, a.told, stopped)
	a.hold.Book(a.opts.Price.Of(u), estimated)
	if err == nil && !estimated {
		a.learn(a.bytes, part.Usage.Input)
	}
	a.hold, a.before = nil, all
}

// fit lowers the reply limit of a request to what the money left pays for, the input counted as if
// none of it were read from a cache, and says what the request costs at most.
func (m *meter) fit(r *model.Request, input int, left money.Amount) (most money.Amount, lowered bool, err error) {
	p := m.opts.Price
	base := p.AtMost(input)
	longest := m.longest(*r, input)
	if m.ledger.limit == nil {
		return base.Plus(p.Reply(longest)), false, nil
	}
	afford := 0
	if base <= left {
		afford = p.Tokens(left - base)
	}
	switch {
	case afford < min(LeastReply, longest):
		return 0, false, m.spent(base.Plus(p.Reply(min(LeastReply, longest))))
	case afford < longest:
		r.MaxOutput, lowered = afford, true
	case r.MaxOutput == 0 && m.opts.Own == 0:
		r.MaxOutput = longest
	}
	return base.Plus(p.Reply(min(afford, longest))), lowered, nil
}

// longest is how long the reply to a request can be.
func (m *meter) longest(r model.Request, input int) int {
	n := unknownReply
	switch {
	case r.MaxOutput > 0:
		return r.MaxOutput
	case m.opts.Own > 0:
		return m.opts.Own
	case m.opts.Reply > 0:
		n = m.opts.Reply
	}
	if w := m.opts.Window; w > 0 {
		// Some servers refuse a limit that does not fit beside the input.
		n = min(n, max(w-input, LeastReply))
	}
	return n
}

// spent says that a request which needs so much is not made. It is called with the ledger's lock held.
func (m *meter) spent(needs money.Amount) *model.Error {
	now, limit := m.ledger.now, *m.ledger.limit
	if now.Spent == 0 && now.Held == 0 {
		e := model.Errorf(model.KindQuota, "%s is too small for one request: it needs about %s, and %s is all there is; raise %s or ask for less",
			m.opts.Name, upward(needs), limit.Exact(), m.opts.Name)
		e.Cause = model.ErrUnsent
		return e
	}
	held := ""
	if now.Held > 0 {
		held = fmt.Sprintf(" and %s put aside for what is still running", now.Held)
	}
	e := model.Errorf(model.KindQuota, "%s is used up: %s of %s spent%s, and the rest does not pay for one more request with a reply of %d tokens; raise %s or ask for less",
		m.opts.Name, now.Spent, limit.Exact(), held, LeastReply, m.opts.Name)
	e.Cause = model.ErrUnsent
	return e
}

// upward is an amount for people that, once it is given, is enough.
func upward(a money.Amount) money.Amount {
	step := money.Dollar / 1_000_000
	if a >= money.Dollar/100 {
		step = money.Dollar / 10_000
	}
	return (a.Plus(step-1) / step) * step
}

// guess is how many tokens a request of that size will be counted as: a quarter of its bytes, or
// more where the provider counted more before.
func (m *meter) guess(size int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := float64(size) / perToken
	if m.size > 0 {
		n = max(n, float64(size)*float64(m.count)/float64(m.size))
	}
	return int(min(math.Ceil(n), 1<<40))
}

func (m *meter) learn(size, count int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size > 0 {
		m.size, m.count = size, count
	}
}

// used is what a request is booked with: what the provider counted. Where it counted nothing, or
// the reply broke off before it could, it is worked out from sizes. A request that failed before
// anything came of it costs nothing.
func (m *meter) used(reply model.Reply, input int, err error, told, stopped bool) (u msg.Usage, estimated bool) {
	u = reply.Usage
	came := tokens(replySize(reply.Blocks))
	if err != nil && u == (msg.Usage{}) && came == 0 && !told && !stopped {
		return u, false
	}
	var refused *model.Error
	if errors.As(err, &refused) && refused.Status >= 400 && came == 0 {
		return u, false
	}
	if u.Input <= 0 {
		u.Input, estimated = max(input, u.CacheRead+u.CacheWrite), true
	}
	if u.Output <= 0 && came > 0 || err != nil && u.Output < came {
		u.Output, estimated = came, true
	}
	return u, estimated
}
