package retry

import (
	"context"
	"fmt"
	"sync"
	"time"

	"jig/internal/model"
)

// hasty is the haste from which on no silence is shown: on a busy machine any answer would seem to take
// half a minute.
const hasty = 200

// ears listen to how the reply of one try comes. It is safe for concurrent use.
type ears struct {
	quiet  func(*Silence)
	try    int
	divide time.Duration // as Haste says

	mu    sync.Mutex
	host  string // "" until the request is made; what asks nobody has nothing to wait for
	heard time.Time
	alive bool          // something came since then, if only keep-alives
	said  time.Duration // how much silence was shown since then
	timer *time.Timer   // until the next look; nil once nobody listens any more
}

// hear is told of what comes. Everything but keep-alives ends a silence.
func (e *ears) hear(host string, p model.Progress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if host != "" {
		e.host = host
	}
	if p == model.Alive {
		e.alive = true
		return
	}
	e.heard, e.alive = time.Now(), false
	e.hush()
}

// hush takes back what is shown.
func (e *ears) hush() {
	if e.said > 0 {
		e.said = 0
		e.quiet(nil)
	}
}

// silent is how long nothing has come, as it is said.
func (e *ears) silent() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now()
}

func (e *ears) now() time.Duration { return time.Since(e.heard) * e.divide }

// listen watches a try, whose context ends when nothing has come for the longest silence; 0 is no bound.
// stop must be called.
func (e *ears) listen(ctx context.Context, longest time.Duration) (_ context.Context, stop func()) {
	if e.divide > hasty {
		e.quiet = nil
	}
	if longest <= 0 && e.quiet == nil {
		return ctx, func() {}
	}
	ctx, end := context.WithCancel(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	// No goroutine: nearly every try is over before there is anything to do, and would wake it twice.
	next, _ := e.look(longest)
	e.timer = time.AfterFunc(next/e.divide, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.timer == nil {
			return
		}
		if next, over := e.look(longest); over {
			end()
		} else {
			e.timer.Reset(next / e.divide)
		}
	})
	return ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.timer.Stop()
		e.timer = nil
		end()
		e.hush()
	}
}

// look shows a silence when it is time to, and says when to look again, or that it has been too long.
// Callers hold mu.
func (e *ears) look(longest time.Duration) (next time.Duration, over bool) {
	d := e.now()
	if longest > 0 && d >= longest && e.host != "" {
		return 0, true
	}
	if full := d.Truncate(sayAgain); full > e.said && e.quiet != nil && e.host != "" {
		e.said = full
		e.quiet(&Silence{Text: e.text(full), Since: e.heard, For: full, Try: e.try})
	}
	next = d.Truncate(sayAgain) + sayAgain - d
	if longest > d {
		next = min(next, longest-d)
	}
	return max(next, e.divide), false
}

// text says how long nothing has come.
func (e *ears) text(d time.Duration) string {
	if d > time.Second {
		d = d.Truncate(time.Second)
	}
	return fmt.Sprintf("%s has sent %s for %s", e.host, e.what(), d)
}

func (e *ears) what() string {
	if e.alive {
		return "nothing but keep-alives"
	}
	return "nothing"
}

// fault is the error of a try that was given up when nothing had come for so long.
func (e *ears) fault(d time.Duration) *model.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	said := e.text(d)
	if e.try > 1 { // what was left of the bound is no figure to be told
		said = fmt.Sprintf("%s has sent %s in the last try", e.host, e.what())
	}
	return &model.Error{Kind: model.KindNetwork, Text: said}
}
