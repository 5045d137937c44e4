package host

import (
	"cmp"
	"sync"
	"time"

	"jig/internal/model"
	"jig/internal/proto"
)

// unknownLimit is how long a limit is taken to last when the provider does not say.
const unknownLimit = time.Minute

// limit is the wait of a session whose turn a provider's limit ended: when it is over the session asks
// again by itself. Only giveUp may be called from outside the goroutine that runs the turns.
type limit struct {
	mu     sync.Mutex
	nudge  func()
	timer  *time.Timer // nil when no limit is waited for
	ticker *time.Ticker
	given  bool // up
	why    string
	from   string // the provider
	since  time.Time
	until  time.Time
}

// start begins to wait. nudge wakes the session when it is over or given up.
func (l *limit) start(end proto.Ended, provider string, nudge func()) {
	after := end.After
	if after <= 0 {
		after = unknownLimit
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nudge, l.why, l.from, l.given = nudge, cmp.Or(end.What, end.Error), provider, false
	l.since = time.Now()
	l.until = l.since.Add(after)
	l.timer = time.AfterFunc(after, nudge)
	l.ticker = time.NewTicker(sayWaiting)
}

// stop ends the wait, if there is one.
func (l *limit) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.ticker.Stop()
	}
	l.timer, l.ticker = nil, nil
}

// giveUp lets the session not ask again, and reports whether it was going to.
func (l *limit) giveUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer == nil || l.given {
		return false
	}
	l.given = true
	l.timer.Stop()
	l.nudge()
	return true
}

// passed reports whether the limit is over.
func (l *limit) passed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.timer != nil && !l.given && !time.Now().Before(l.until)
}

// tick comes as often as the wait is to be shown, and never when there is none.
func (l *limit) tick() <-chan time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ticker == nil || l.given {
		return nil
	}
	return l.ticker.C
}

// waiting is the wait as it is shown; nil when there is none.
func (l *limit) waiting() any {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer == nil || l.given {
		return nil
	}
	return proto.Waiting{Since: l.since, Retry: &proto.Retry{Provider: l.from, Kind: string(model.KindLimit), Why: l.why,
		Until: l.until, Seconds: time.Until(l.until).Round(time.Millisecond).Seconds()}}
}
