// Package session is what a session is: an ordered log of facts (Line) and the state that follows
// from them (State). It runs nothing and shows nothing.
package session

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"jig/internal/proto"
)

// Store keeps facts. The facts of one Append are one transaction: all are kept, or none. from is
// the number of the first.
type Store interface {
	Append(from uint64, facts ...proto.Fact) error
}

// Line is one session's log and its now, and the only place where a session changes. Whoever wants
// to see it reads with a cursor of their own, so a slow reader holds nobody up.
type Line struct {
	mu     sync.Mutex
	store  Store
	facts  []proto.Fact
	state  State
	now    map[string]any
	watch  map[*watcher]bool
	closed bool
}

type watcher struct {
	at    uint64
	dirty []string // keys in the order in which they first changed
	wake  chan struct{}
}

// NewLine opens a log. With a nil store the facts live as long as the Line.
func NewLine(s Store, old ...proto.Fact) *Line {
	return &Line{store: s, facts: old, state: Fold(old), now: map[string]any{}, watch: map[*watcher]bool{}}
}

// Say stores facts, then lets them be seen. An error means that nobody saw them.
func (l *Line) Say(facts ...proto.Fact) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store != nil {
		if err := l.store.Append(uint64(len(l.facts))+1, facts...); err != nil {
			return err
		}
	}
	for _, f := range facts {
		l.state = l.state.Next(l.facts, f)
		l.facts = append(l.facts, f)
	}
	l.wake("")
	return nil
}

// Show sets one key of the now; nil removes it.
func (l *Line) Show(key string, v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v == nil {
		if _, ok := l.now[key]; !ok {
			return
		}
		delete(l.now, key)
	} else {
		l.now[key] = v
	}
	l.wake(key)
}

func (l *Line) wake(key string) {
	for w := range l.watch {
		if key != "" && !slices.Contains(w.dirty, key) {
			w.dirty = append(w.dirty, key)
		}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// State is what the facts so far make of the session. It is a view: nobody may change it, and it
// stays as it is when more facts come.
func (l *Line) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.view()
}

// Facts are all there are so far. Nobody may change them.
func (l *Line) Facts() []proto.Fact {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.facts)
}

// Close ends every Watch, once it has yielded what was said.
func (l *Line) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wake("")
}

// Watch yields every fact after the given number and the newest value of each key of the now.
// Attaching, resuming and reconnecting are this one call. What was known when it is called is
// yielded first, the facts before the now.
func (l *Line) Watch(ctx context.Context, after uint64) iter.Seq[proto.Event] {
	return func(yield func(proto.Event) bool) {
		w := &watcher{at: after, wake: make(chan struct{}, 1)}
		l.mu.Lock()
		w.dirty = slices.Sorted(maps.Keys(l.now))
		l.watch[w] = true
		l.mu.Unlock()
		defer func() { l.mu.Lock(); delete(l.watch, w); l.mu.Unlock() }()
		for {
			e, ok, closed := l.next(w)
			if ok {
				if !yield(e) {
					return
				}
				continue
			}
			if closed {
				return
			}
			select {
			case <-w.wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (l *Line) next(w *watcher) (e proto.Event, ok, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.at < uint64(len(l.facts)) {
		w.at++
		return proto.Event{Seq: w.at, Fact: l.facts[w.at-1]}, true, false
	}
	if len(w.dirty) > 0 {
		k := w.dirty[0]
		w.dirty = w.dirty[1:]
		return proto.Event{Key: k, Now: l.now[k]}, true, false
	}
	return proto.Event{}, false, l.closed
}
