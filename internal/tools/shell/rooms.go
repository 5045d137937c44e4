package shell

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"jig/internal/process"
	"jig/internal/sandbox"
)

// rooms are the two places commands may run in.
type rooms struct{ inside, outside *room }

// room starts commands in one regime. It opens an init when there is something to start, and another
// when that one has ended or holds places that were replaced since.
type room struct {
	tier   sandbox.Tier
	policy func() sandbox.Policy
	binary string
	limits process.Limits

	mu     sync.Mutex
	now    *process.Warden
	stamp  string
	before []*process.Warden // with places that are gone; what runs in them goes on
	closed bool
}

// openLimit bounds how long an init may take to be ready.
const openLimit = 30 * time.Second

// mostTries is after how many inits that end at once nobody believes in the next.
const mostTries = 5

var errClosed = errors.New("the session is over")

func (s *Shell) room(t sandbox.Tier) *room {
	binary := s.opts.Binary
	if binary == "" && s.opts.OS == "linux" {
		binary = "/proc/self/exe"
	}
	return &room{tier: t, policy: s.policy, binary: binary, limits: s.opts.Limits}
}

// start runs a command. An init that ends between being found and being asked is replaced.
func (r *room) start(ctx context.Context, c process.Command) (*process.Job, error) {
	for try := 1; ; try++ {
		w, err := r.enter(ctx)
		if err != nil {
			return nil, err
		}
		j, err := w.Start(c)
		if !errors.Is(err, process.ErrGone) || try == mostTries {
			return j, err
		}
		r.mu.Lock()
		if r.now == w {
			r.now = nil
		}
		r.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

func (r *room) enter(ctx context.Context) (*process.Warden, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	p, stamp := sandbox.Policy{}, ""
	if r.tier != sandbox.None {
		p = r.policy()
		stamp = sandbox.Stamp(p)
	}
	if r.now != nil && !over(r.now) && stamp == r.stamp {
		return r.now, nil
	}
	if r.now != nil {
		r.before = append(r.before, r.now)
		r.now = nil
	}
	r.forget()
	w, err := r.open(ctx, p)
	if err != nil {
		return nil, err
	}
	r.now, r.stamp = w, stamp
	return w, nil
}

func (r *room) open(ctx context.Context, p sandbox.Policy) (*process.Warden, error) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	l, err := sandbox.Enter(r.tier, p, r.binary)
	if err == nil {
		l.Limits = r.limits
		var w *process.Warden
		if w, err = process.Open(ctx, l); err == nil {
			return w, nil
		}
	}
	if r.tier == sandbox.None {
		return nil, fmt.Errorf("the process that starts commands could not be started: %w", err)
	}
	// Never without: what was promised to be confined is not run at all.
	return nil, fmt.Errorf("the sandbox (%s) could not be entered: %w", r.tier, err)
}

// forget drops inits that have ended. Callers hold mu.
func (r *room) forget() {
	var rest []*process.Warden
	for _, w := range r.before {
		if !over(w) {
			rest = append(rest, w)
		}
	}
	r.before = rest
}

func over(w *process.Warden) bool {
	select {
	case <-w.Gone():
		return true
	default:
		return false
	}
}

// leave ends everything but what detached itself, and lists that.
func (r *room) leave() []process.Left {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var out []process.Left
	for _, w := range append(r.before, r.now) {
		if w == nil || over(w) {
			continue
		}
		left, _ := w.Leave() // an init that is gone has left nothing
		out = append(out, left...)
	}
	r.now, r.before = nil, nil
	return out
}
