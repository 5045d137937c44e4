// Package retry makes a request again that failed for a reason that passes: a limit, an overload, a
// connection that broke. It repeats the one request of a round and nothing else: no call of a reply
// that broke off is ever handed on, and a call that ran is not its business. It decides how long to
// wait; what the waits are shown as is up to whoever asks.
package retry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"jig/internal/model"
)

// Policy says how patient a request is. The zero Policy tries once.
type Policy struct {
	// Broken is how often a request is made at most when the connection fails or breaks off.
	Broken int
	// Busy is how often it is made at most when the provider is overloaded or limits requests and does
	// not say for how long. What it does say is waited for without counting.
	Busy int
	// MaxWait bounds what one request waits in all, from its first fault on: between the tries, for other
	// requests, and in tries that came to nothing. 0 is no bound.
	MaxWait time.Duration
	// Strict makes MaxWait bound also how long nothing comes, in the first try, too: a try ends when
	// it is used up. One after a wait gets a short while all the same.
	Strict bool
	// Quiet is told by another goroutine when nothing has come for 30 seconds, and every 30 seconds, and
	// nil when something comes; nil is nobody.
	Quiet func(*Silence)
	// Bound is what people call MaxWait, for the sentence that says it is used up; "" leaves it out.
	Bound string
	// Gate is shared by all that ask the same model; nil is none.
	Gate *Gate
	// Haste divides every wait, and nothing that is said of it, and takes the chance out of the waits,
	// so that tests neither wait nor differ; 0 is 1.
	Haste int
}

// Silence is a request to which nothing has come for a while, whether keep-alives come or not.
type Silence struct {
	Text  string // one line for a person
	Since time.Time
	For   time.Duration
	Try   int
}

// Default is the policy for a provider: a broken connection gets 5 tries, in about 8 seconds, and one
// that is busy 13, in about 6 minutes.
func Default() Policy { return Policy{Broken: 5, Busy: 13} }

// Wait is a request that is going to be made again.
type Wait struct {
	Why   *model.Error
	Since time.Time
	Until time.Time
	Left  time.Duration // until then, when it was shown
	Try   int           // the try that comes, from 2
	Tries int           // how many there are at most; 0 is no bound
}

// Model asks another one again.
type Model struct {
	inner  model.Model
	policy Policy
	show   func(*Wait)
}

// New makes a model that asks m again. show is told of each wait at once, of how it stands every 30
// seconds, and nil when it is over.
func New(m model.Model, p Policy, show func(*Wait)) *Model {
	if show == nil {
		show = func(*Wait) {}
	}
	return &Model{m, p, show}
}

// The first wait, doubled each time up to the longest one. The clients of OpenAI and Anthropic begin
// with half a second and stop at 8 seconds after three tries; Google's goes up to a minute. An agent
// is left alone for longer than their users are, so it goes as far as that.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = time.Minute
)

// jitter is the share of a wait that is left to chance, as in the clients of OpenAI and Anthropic.
const jitter = 0.25

// sayAgain is how often a wait that goes on is shown.
const sayAgain = 30 * time.Second

// Stream makes the request until it succeeds, fails for good, or patience is at its end. The error
// is then the last one, with what was tried in its text. When ctx ends the reply holds what the last
// try had brought.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	if tell == nil {
		tell = func(model.Delta) {}
	}
	a := &attempts{Model: m}
	var reply model.Reply
	for {
		if err := a.gate(ctx); err != nil {
			return reply, err
		}
		if a.told {
			tell(model.Delta{Reset: true})
			a.told = false
		}
		var err error
		reply, err = a.try(ctx, r, tell)
		if err == nil || ctx.Err() != nil {
			return reply, err
		}
		var e *model.Error
		switch {
		case a.exhausted(err):
			return reply, a.giveUp(a.ears.fault(a.left), a.longest())
		case m.policy.Broken+m.policy.Busy == 0 || !errors.As(err, &e) || !worthwhile(e):
			return reply, err
		}
		wait, err := a.failed(e)
		if err != nil {
			return reply, err
		}
		if err := a.wait(ctx, e, wait); err != nil {
			return reply, err
		}
	}
}

// worthwhile says whether sending a request again may help.
func worthwhile(e *model.Error) bool {
	switch e.Kind {
	case model.KindLimit, model.KindServer, model.KindNetwork:
		return !e.Final
	case model.KindAuth, model.KindRequest, model.KindOverflow, model.KindQuota, model.KindProtocol:
	}
	return false
}

// attempts is one request on its way.
type attempts struct {
	*Model
	tries  int
	stated int           // tries after which the provider said how long to wait
	waited time.Duration // since the first fault, as it is said
	left   time.Duration // how long nothing may come in this try; 0 is no bound
	ears   *ears         // of this try
	told   bool          // something came that the next try makes void
}

// try makes the request once.
func (a *attempts) try(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	a.tries++
	a.left = a.patience()
	a.ears = &ears{quiet: a.policy.Quiet, try: a.tries, divide: a.divisor(), heard: time.Now()}
	ctx, stop := a.ears.listen(ctx, a.left)
	defer stop()
	outer := r.Heard
	r.Heard = func(host string, p model.Progress) {
		a.ears.hear(host, p)
		if outer != nil {
			outer(host, p)
		}
	}
	return a.inner.Stream(ctx, r, func(d model.Delta) {
		a.told = true
		a.ears.hear("", model.Grew)
		tell(d)
	})
}

// patience is for how long nothing may come in the next try. To end one at once because the waits before
// it took long would make those useless.
func (a *attempts) patience() time.Duration {
	if !a.policy.Strict || a.policy.MaxWait <= 0 {
		return 0
	}
	return max(a.policy.MaxWait-a.waited, min(a.policy.MaxWait, sayAgain))
}

// exhausted says whether a try ended because nothing had come for as long as it may, whoever noticed.
func (a *attempts) exhausted(err error) bool {
	var e *model.Error
	network := errors.Is(err, context.Canceled) || errors.As(err, &e) && e.Kind == model.KindNetwork && !e.Final
	return a.left > 0 && network && a.ears.silent() >= a.left
}

// failed is told of a try's fault and says how long to wait before the next one, or gives the error
// to end with.
func (a *attempts) failed(e *model.Error) (time.Duration, error) {
	if a.tries > 1 || a.policy.Strict {
		a.waited += a.ears.silent()
	}
	if e.After <= 0 && a.tries-a.stated >= a.most(e) {
		return 0, a.giveUp(e)
	}
	wait := a.pause(e)
	if most := a.policy.MaxWait; most > 0 && a.waited+wait > most {
		if e.After > 0 {
			return 0, a.giveUp(e, fmt.Sprintf("it says to wait %s", said(e.After)), a.longest())
		}
		return 0, a.giveUp(e, a.longest())
	}
	return wait, nil
}

// most is how many tries a fault gets whose end the provider does not know.
func (a *attempts) most(e *model.Error) int {
	if e.Kind == model.KindNetwork {
		return a.policy.Broken
	}
	return a.policy.Busy
}

// longest says what bounds the waits.
func (a *attempts) longest() string {
	s := fmt.Sprintf("%s is the longest that is waited", a.policy.MaxWait)
	if a.policy.Bound != "" {
		s += ", see " + a.policy.Bound
	}
	return s
}

// giveUp makes the error a request ends with.
func (a *attempts) giveUp(e *model.Error, why ...string) error {
	if a.tries > 1 {
		why = append([]string{fmt.Sprintf("gave up after %d tries", a.tries)}, why...)
	}
	if why == nil {
		return e
	}
	last := *e
	last.Text += " (" + strings.Join(why, "; ") + ")"
	return &last
}

// pause is how long to wait after a fault. What the provider says is believed; one that goes on
// saying a moment is asked less and less often all the same.
func (a *attempts) pause(e *model.Error) time.Duration {
	if e.After > 0 {
		a.stated++
		d := e.After
		const often, seldom = 3, 10 * time.Second
		if a.stated > often {
			d = max(d, min(backoff(a.stated-often), seldom))
		}
		return d + a.chance(min(d/10, 5*time.Second))
	}
	d := backoff(a.tries - a.stated)
	return d - a.chance(time.Duration(jitter*float64(d)))
}

// backoff is the wait after the n-th try, from 1.
func backoff(n int) time.Duration {
	const doublings = 7 // half a second is more than a minute by then
	return min(firstWait<<min(n-1, doublings), longestWait)
}

// chance is anything up to d: those who were refused together must not come back together.
func (a *attempts) chance(d time.Duration) time.Duration {
	if a.policy.Haste > 1 || d <= 0 {
		return 0
	}
	return rand.N(d)
}

func (m *Model) divisor() time.Duration { return time.Duration(max(1, m.policy.Haste)) }

// wait waits, visibly.
func (a *attempts) wait(ctx context.Context, e *model.Error, d time.Duration) error {
	if e.After > 0 && a.policy.Gate != nil {
		defer a.policy.Gate.shut(e, time.Now().Add(d/a.divisor()))()
	}
	tries := 0
	if e.After <= 0 {
		tries = a.most(e) + a.stated
	}
	a.waited += d
	return a.sleep(ctx, Wait{Why: e, Try: a.tries + 1, Tries: tries}, d)
}

// gate waits as long as another request of the same model was told to: once, since there may always be
// one that is told to, and this one is to be heard, too.
func (a *attempts) gate(ctx context.Context) error {
	g := a.policy.Gate
	if g == nil {
		return nil
	}
	why, until := g.left()
	d := time.Until(until) * a.divisor()
	if why == nil || d <= 0 {
		return nil
	}
	d += a.chance(time.Second)
	if most := a.policy.MaxWait; most > 0 && a.waited+d > most {
		e := *why
		e.After = d
		return a.giveUp(&e, fmt.Sprintf("another request waits %s for that", said(d)), a.longest())
	}
	a.waited += d
	return a.sleep(ctx, Wait{Why: why, Try: a.tries + 1}, d)
}

// sleep waits for d and shows it. It returns at once when ctx ends, with its error.
func (a *attempts) sleep(ctx context.Context, w Wait, d time.Duration) error {
	w.Since = time.Now()
	w.Until = w.Since.Add(d / a.divisor())
	w.Left = d
	defer a.show(nil)
	t := time.NewTimer(time.Until(w.Until))
	defer t.Stop()
	tick := time.NewTicker(sayAgain / a.divisor())
	defer tick.Stop()
	for {
		shown := w
		a.show(&shown)
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			w.Left = time.Until(w.Until) * a.divisor()
		}
	}
}

// said is a duration as it is read: without fractions of a second when it is longer than one.
func said(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(time.Second)
	}
	return d
}
