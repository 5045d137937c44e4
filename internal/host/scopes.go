package host

import (
	"context"
	"slices"
	"sync"
)

// scopes is a stack of what a person can end: the turn, and inside it the running calls.
type scopes struct {
	mu    sync.Mutex
	stack []*scope
}

type scope struct{ cancel context.CancelFunc }

func (s *scopes) open(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	sc := &scope{cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stack = append(s.stack, sc)
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stack = slices.DeleteFunc(s.stack, func(x *scope) bool { return x == sc })
	}
}

// endInnermost reports whether there was anything to end.
func (s *scopes) endInnermost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.stack)
	if n > 0 {
		s.stack[n-1].cancel()
		s.stack = s.stack[:n-1]
	}
	return n > 0
}

// endAll reports whether there was anything to end.
func (s *scopes) endAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.stack) > 0
	for _, sc := range s.stack {
		sc.cancel()
	}
	s.stack = nil
	return had
}
