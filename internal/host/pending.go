package host

import (
	"fmt"
	"sync"

	"jig/internal/proto"
)

// pending is the questions of one session that wait for an answer, and what was allowed for as long
// as the process lives.
type pending struct {
	mu      sync.Mutex
	waiting map[string]chan proto.Answer
	allowed map[string]bool
}

func newPending() pending {
	return pending{waiting: map[string]chan proto.Answer{}, allowed: map[string]bool{}}
}

func (p *pending) open(call string) <-chan proto.Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	ch := make(chan proto.Answer, 1)
	p.waiting[call] = ch
	return ch
}

func (p *pending) drop(call string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, call)
}

// answer takes the first answer; whoever comes later is told so.
func (p *pending) answer(a proto.Answer) error {
	switch a.Choice {
	case proto.Once, proto.Session, proto.Deny:
	default:
		return fmt.Errorf("%q is no answer (once, session, deny)", a.Choice)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ch := p.waiting[a.Call]
	if ch == nil {
		return fmt.Errorf("%s waits for no answer", a.Call)
	}
	delete(p.waiting, a.Call)
	ch <- a
	return nil
}

func (p *pending) allow(scope string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed[scope] = true
}

func (p *pending) allows(scope string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.allowed[scope]
}
