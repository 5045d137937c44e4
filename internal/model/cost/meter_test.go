package cost_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/cost"
	"jig/internal/money"
	"jig/internal/msg"
)

// dollars for a million tokens: 2 of input, 10 of output, 0.2 of what is read from the cache, 2.5 of
// what is written to it.
var price = money.Price{Input: 2_000_000, Output: 10_000_000, CacheRead: 200_000, CacheWrite: 2_500_000}

// pausing is a model whose reply comes in parts, each of a request of its own.
type pausing struct {
	parts []model.Reply
	bytes int   // of what each further request sends more than the one before
	last  error // of the last part
	got   []int // the reply limits
}

func (p *pausing) Stream(_ context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	var all model.Reply
	for i, part := range p.parts {
		if i > 0 {
			var err error
			if r.MaxOutput, err = r.More(all, i*p.bytes); err != nil {
				return all, err
			}
		}
		p.got = append(p.got, r.MaxOutput)
		if i == len(p.parts)-1 && p.last != nil {
			return all, p.last
		}
		tell(model.Delta{Text: "x"})
		part.Blocks = append(all.Blocks, part.Blocks...)
		part.Usage = part.Usage.Add(all.Usage)
		all = part
	}
	return all, nil
}

// parts is a reply in n parts of 1000 tokens each.
func parts(n int) (out []model.Reply) {
	for range n {
		out = append(out, model.Reply{Blocks: text(4), Usage: msg.Usage{Input: 1000, Output: 1000}, Stop: model.StopLength})
	}
	return out
}

func TestEachPartOfAPausedReplyIsCheckedAgainstTheLimit(t *testing.T) {
	p := &pausing{parts: parts(11), bytes: 400}
	l := cost.NewLedger(limit("0.0525"), nil)
	r := ask(4000)
	r.MaxOutput = 4000
	_, err := cost.Meter(p, l, options()).Stream(context.Background(), r, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.KindQuota || errors.Is(err, model.ErrUnsent) {
		t.Errorf("%v", err)
	}
	// 0.012 a part; the second part's input is 1100 tokens, 0.00275, the third's 1200, the fourth's 1300.
	if d := cmp.Diff([]int{4000, 3775, 2550, 1325}, p.got); d != "" {
		t.Error(d)
	}
	if got := l.Account(); got != (cost.Account{Spent: 48_000_000}) {
		t.Errorf("%+v", got)
	}
}

func TestAPausedReplyIsBookedOnce(t *testing.T) {
	l := cost.NewLedger(nil, nil)
	got, err := cost.Meter(&pausing{parts: parts(3)}, l, options()).Stream(context.Background(), ask(4000), nil)
	if err != nil || got.Usage.Input != 3000 || got.CutBy != "" || l.Account() != (cost.Account{Spent: 36_000_000}) {
		t.Errorf("%v %+v %+v", err, got, l.Account())
	}
	// What is not counted is worked out for its part alone.
	l, uncounted := cost.NewLedger(nil, nil), parts(2)
	uncounted[1] = model.Reply{Blocks: text(400)}
	_, err = cost.Meter(&pausing{parts: uncounted, bytes: 400}, l, options()).Stream(context.Background(), ask(4000), nil)
	if err != nil || l.Account() != (cost.Account{Spent: 15_200_000, Estimated: true}) {
		t.Errorf("%v %+v", err, l.Account())
	}
	// And a further request that was never taken costs nothing.
	l = cost.NewLedger(nil, nil)
	_, err = cost.Meter(&pausing{parts: parts(2), last: model.Errorf(model.KindNetwork, "no way")}, l, options()).Stream(context.Background(), ask(4000), nil)
	if err == nil || l.Account() != (cost.Account{Spent: 12_000_000}) {
		t.Errorf("%v %+v", err, l.Account())
	}
}

func TestTheLastPartOfAReplyThatWasCutByTheBudgetSaysSo(t *testing.T) {
	p := &pausing{parts: parts(2)}
	r := ask(4000)
	r.MaxOutput = 3000
	if got, err := cost.Meter(p, cost.NewLedger(limit("0.035"), nil), options()).Stream(context.Background(), r, nil); err != nil || p.got[1] != 2050 || got.CutBy != "--max-cost" {
		t.Errorf("%v %+v %+v", err, p.got, got)
	}
}

// answer is a model that gives one answer and remembers the requests.
type answer struct {
	mu    sync.Mutex
	got   []model.Request
	reply model.Reply
	err   error
	tells bool
	begun chan bool // when it is there, each request is told here, and waits until hold is closed
	hold  chan bool
}

func (a *answer) Stream(_ context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	a.mu.Lock()
	a.got = append(a.got, r)
	a.mu.Unlock()
	if a.tells {
		tell(model.Delta{Reasoning: "hm"})
	}
	if a.begun != nil {
		a.begun <- true
		<-a.hold
	}
	return a.reply, a.err
}

func limit(s string) *money.Amount {
	a, err := money.Parse(s)
	if err != nil {
		panic(err)
	}
	return &a
}

func text(n int) msg.Blocks { return msg.Blocks{msg.Text{Text: strings.Repeat("x", n)}} }

func ask(bytes int) model.Request {
	return model.Request{Messages: []msg.Message{{Role: msg.User, Blocks: text(bytes)}}}
}

func options() cost.Options { return cost.Options{Price: price, Name: "--max-cost"} }

func TestWhatTheProviderCountedIsBooked(t *testing.T) {
	l := cost.NewLedger(nil, nil)
	m := cost.Meter(&answer{reply: model.Reply{Blocks: text(8), Usage: msg.Usage{Input: 1000, Output: 10, CacheRead: 900}}}, l, options())
	for range 2 {
		if _, err := m.Stream(context.Background(), ask(40), nil); err != nil {
			t.Fatal(err)
		}
	}
	// twice 100 × 2 + 900 × 0.2 + 10 × 10 millionths
	if got := l.Account(); got != (cost.Account{Spent: 960_000}) {
		t.Errorf("%+v", got)
	}
}

// A provider that counts nothing must not make a run free.
func TestUncountedRequestIsEstimatedAndSaysSo(t *testing.T) {
	l := cost.NewLedger(nil, nil)
	reply := model.Reply{Blocks: append(text(400), msg.Reasoning{Text: strings.Repeat("y", 400)}, msg.Call{Name: "look", Args: strings.Repeat("z", 396)})}
	m := cost.Meter(&answer{reply: reply}, l, options())
	if _, err := m.Stream(context.Background(), ask(4000), nil); err != nil {
		t.Fatal(err)
	}
	// 1000 × 2 + 300 × 10
	if got := l.Account(); got != (cost.Account{Spent: 5_000_000, Estimated: true}) {
		t.Errorf("%+v", got)
	}
}

func TestReplyLimitIsLoweredToWhatIsLeft(t *testing.T) {
	a := &answer{reply: model.Reply{Blocks: text(4), Usage: msg.Usage{Input: 1000, Output: 1000}}}
	// 1000 tokens of input at the price of writing are 0.0025; the rest of 0.0525 pays for 5000 of output.
	m := cost.Meter(a, cost.NewLedger(limit("0.0525"), nil), options())
	r := ask(4000)
	r.MaxOutput = 9000
	if _, err := m.Stream(context.Background(), r, nil); err != nil || a.got[0].MaxOutput != 5000 {
		t.Fatalf("%v, %+v", err, a.got)
	}
	// 0.012 was spent; 0.038 pays for 3800.
	if _, err := m.Stream(context.Background(), r, nil); err != nil || a.got[1].MaxOutput != 3800 {
		t.Fatalf("%v, %+v", err, a.got)
	}
	r.MaxOutput = 2000
	if _, err := m.Stream(context.Background(), r, nil); err != nil || a.got[2].MaxOutput != 2000 {
		t.Errorf("%v: a shorter limit became %d", err, a.got[2].MaxOutput)
	}
}

func TestBelow1024TokensNothingIsAsked(t *testing.T) {
	for _, c := range []struct {
		limit string
		asked int
	}{{"0.01274", 1}, {"0.01273", 0}, {"0.002", 0}, {"0", 0}} { // 0.0025 + 1024 × 0.00001
		a := &answer{reply: model.Reply{Blocks: text(4)}}
		_, err := cost.Meter(a, cost.NewLedger(limit(c.limit), nil), options()).Stream(context.Background(), ask(4000), nil)
		if len(a.got) != c.asked || (err == nil) != (c.asked == 1) {
			t.Errorf("%s: %d requests, %v", c.limit, len(a.got), err)
		}
	}
}

func TestTheEndIsFinalAndSaysWhatToDo(t *testing.T) {
	a := &answer{reply: model.Reply{Blocks: text(4), Usage: msg.Usage{Input: 500, Output: 1000}}}
	m := cost.Meter(a, cost.NewLedger(limit("0.015"), nil), options())
	_, first := m.Stream(context.Background(), ask(400), nil)
	_, err := m.Stream(context.Background(), ask(400), nil)
	var e *model.Error
	if first != nil || !errors.As(err, &e) || e.Kind != model.KindQuota ||
		e.Text != "--max-cost is used up: $0.011 of $0.015 spent, and the rest does not pay for one more request with a reply of 1024 tokens; raise --max-cost or ask for less" {
		t.Errorf("%v, %v", first, err)
	}
}

// Without a limit in the request the reply could be as long as the model likes.
func TestRequestAlwaysHasALimitUnderAMaxCost(t *testing.T) {
	for _, c := range []struct {
		what string
		o    cost.Options
		want int
	}{
		{"known", cost.Options{Reply: 64_000}, 64_000},
		{"unknown", cost.Options{}, 32_768},
		{"window", cost.Options{Reply: 64_000, Window: 10_000}, 9_000},
		{"full window", cost.Options{Reply: 64_000, Window: 1_000}, 1024},
		{"dialect's own", cost.Options{Reply: 64_000, Own: 32_000}, 0},
	} {
		c.o.Price, c.o.Name = price, "--max-cost"
		a := &answer{reply: model.Reply{Blocks: text(4)}}
		if _, err := cost.Meter(a, cost.NewLedger(limit("10"), nil), c.o).Stream(context.Background(), ask(4000), nil); err != nil || a.got[0].MaxOutput != c.want {
			t.Errorf("%s: %v, %+v", c.what, err, a.got)
		}
		a = &answer{reply: model.Reply{Blocks: text(4)}}
		if _, err := cost.Meter(a, cost.NewLedger(nil, nil), c.o).Stream(context.Background(), ask(4000), nil); err != nil || a.got[0].MaxOutput != 0 {
			t.Errorf("%s without --max-cost: %v, %+v", c.what, err, a.got)
		}
		if c.o.Window == 1_000 {
			continue // shorter than any limit could make it
		}
		a = &answer{reply: model.Reply{Blocks: text(4)}}
		if _, err := cost.Meter(a, cost.NewLedger(limit("0.0225"), nil), c.o).Stream(context.Background(), ask(4000), nil); err != nil || a.got[0].MaxOutput != 2000 {
			t.Errorf("%s with little left: %v, %+v", c.what, err, a.got)
		}
	}
}

func TestReplyCutByTheBudgetSaysSo(t *testing.T) {
	for _, c := range []struct {
		limit *money.Amount
		want  string
	}{{limit("0.0225"), "--max-cost"}, {limit("9"), ""}, {nil, ""}} {
		a := &answer{reply: model.Reply{Blocks: text(4), Stop: model.StopLength}}
		if r, err := cost.Meter(a, cost.NewLedger(c.limit, nil), options()).Stream(context.Background(), ask(4000), nil); err != nil || r.CutBy != c.want {
			t.Errorf("%v: %q, %v", c.limit, r.CutBy, err)
		}
	}
}

// Two requests at the same time must not both get all that is left.
func TestRequestsSideBySideShareWhatIsLeft(t *testing.T) {
	a := &answer{reply: model.Reply{Blocks: text(4), Usage: msg.Usage{Input: 10, Output: 10}}, begun: make(chan bool), hold: make(chan bool)}
	l := cost.NewLedger(limit("0.0525"), nil)
	m := cost.Meter(a, l, options())
	r := ask(4000)
	r.MaxOutput = 3000
	done := make(chan error)
	for range 2 {
		go func() { _, err := m.Stream(context.Background(), r, nil); done <- err }()
		<-a.begun
	}
	close(a.hold)
	var failed int
	for range 2 {
		if err := <-done; err != nil {
			failed++
		}
	}
	most := 0
	for _, g := range a.got {
		most += g.MaxOutput
	}
	// 0.0525 less twice 0.0025 of input pays for 4750
	if failed != 0 || most != 4750 {
		t.Errorf("%d failed; together they may write %d", failed, most)
	}
	if got := l.Account(); got.Held != 0 || got.Spent == 0 {
		t.Errorf("%+v", got)
	}
}

func TestFailedRequestIsBookedByWhatCameOfIt(t *testing.T) {
	broke := model.Errorf(model.KindNetwork, "it broke off")
	refused := &model.Error{Kind: model.KindLimit, Status: 429, Text: "later"}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		what string
		ctx  context.Context
		a    *answer
		want cost.Account
	}{
		{"never reached", context.Background(), &answer{err: broke}, cost.Account{}},
		{"refused", context.Background(), &answer{err: refused}, cost.Account{}},
		{"in the middle, uncounted", context.Background(), &answer{err: broke, reply: model.Reply{Blocks: text(400)}}, cost.Account{Spent: 3_000_000, Estimated: true}},
		{"in the middle, half counted", context.Background(), &answer{err: broke, reply: model.Reply{Blocks: text(400), Usage: msg.Usage{Input: 800, Output: 1}}}, cost.Account{Spent: 2_600_000, Estimated: true}},
		{"while thinking", context.Background(), &answer{err: broke, tells: true}, cost.Account{Spent: 2_000_000, Estimated: true}},
		{"stopped before anything came", cancelled, &answer{err: context.Canceled}, cost.Account{Spent: 2_000_000, Estimated: true}},
	} {
		l := cost.NewLedger(nil, nil)
		if _, err := cost.Meter(c.a, l, options()).Stream(c.ctx, ask(4000), nil); err == nil {
			t.Errorf("%s: no error", c.what)
		}
		if got := l.Account(); got != c.want {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// Text that has more tokens than a quarter of its bytes is known after the first request.
func TestGuessFollowsWhatTheProviderCounts(t *testing.T) {
	a := &answer{reply: model.Reply{Blocks: text(4), Usage: msg.Usage{Input: 2000, Output: 10}}}
	m := cost.Meter(a, cost.NewLedger(limit("0.1"), nil), options())
	r := ask(4000)
	r.MaxOutput = 100_000
	for range 2 {
		if _, err := m.Stream(context.Background(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	// 0.1 - 1000 × 0.0000025 pays for 9750; then 0.0041 less, and the input counts 2000.
	if a.got[0].MaxOutput != 9750 || a.got[1].MaxOutput != 9090 {
		t.Errorf("%d, %d", a.got[0].MaxOutput, a.got[1].MaxOutput)
	}
}

func TestAFreeModelNeedsNoBudget(t *testing.T) {
	a := &answer{reply: model.Reply{Blocks: text(4)}}
	if _, err := cost.Meter(a, cost.NewLedger(limit("0"), nil), cost.Options{Name: "--max-cost"}).Stream(context.Background(), ask(4000), nil); err != nil {
		t.Error(err)
	}
}

func TestLentMoneyIsHalfOfWhatIsLeftAndComesBack(t *testing.T) {
	l := cost.NewLedger(limit("1"), nil)
	first, a := l.Lend()
	second, b := l.Lend()
	if a != money.Dollar/2 || b != money.Dollar/4 || l.Account().Held != 3*money.Dollar/4 {
		t.Errorf("%s, %s, %+v", a, b, l.Account())
	}
	first.Book(money.Dollar/10, false)
	first.Book(money.Dollar/10, false)
	if got := l.Account(); got != (cost.Account{Spent: money.Dollar / 10, Children: money.Dollar / 10, Held: money.Dollar / 4}) {
		t.Errorf("%+v", got)
	}
	second.Book(0, true)
	if got := l.Account(); got.Held != 0 || got.Estimated {
		t.Errorf("%+v", got)
	}
	if _, a := cost.NewLedger(nil, nil).Lend(); a != 0 {
		t.Errorf("%s", a)
	}
}

// Whoever is told of the account must know what a request can cost before it is made: it may never
// come to say more.
func TestTheAccountIsToldBeforeTheRequest(t *testing.T) {
	var told []cost.Account
	a := &answer{reply: model.Reply{Usage: msg.Usage{Input: 1000, Output: 10}}}
	l := cost.NewLedger(limit("1"), func(x cost.Account) {
		if len(a.got) != len(told) {
			t.Errorf("change %d came with %d requests", len(told), len(a.got))
		}
		told = append(told, x)
	})
	o := options()
	o.Reply = 5000
	if _, err := cost.Meter(a, l, o).Stream(context.Background(), ask(4000), nil); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[0].Held != 52_500_000 || told[1] != (cost.Account{Spent: 2_100_000}) {
		t.Errorf("%+v", told)
	}
}

// A budget that never allowed a request is not used up, and what is named as enough is.
func TestALimitThatIsTooSmallSaysWhatWouldDo(t *testing.T) {
	try := func(l string) error {
		a := &answer{reply: model.Reply{Blocks: text(4)}}
		_, err := cost.Meter(a, cost.NewLedger(limit(l), nil), options()).Stream(context.Background(), ask(4000), nil)
		return err
	}
	for _, l := range []string{"0.01", "0.000001"} {
		err := try(l)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.KindQuota || !errors.Is(err, model.ErrUnsent) ||
			e.Text != "--max-cost is too small for one request: it needs about $0.0128, and $"+l+" is all there is; raise --max-cost or ask for less" {
			t.Errorf("%v", err)
		}
	}
	if err := try("0.0128"); err != nil {
		t.Error(err)
	}
}
