package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"jig/internal/history"
	"jig/internal/proto"
	"jig/internal/session"
)

const (
	// gather is how long what was said waits for more of it, so that writing it down falls into the time
	// in which a model answers and takes few transactions.
	gather = 300 * time.Millisecond
	// sweepAfter is when a program that goes on looks for what others left undone, and gentle how many
	// times as long as it works on that it then rests: it may be much, and nobody waits for it.
	sweepAfter = 5 * time.Second
	gentle     = 4
	// longest is how long an end waits for what is left.
	longest = 2 * time.Second
)

// Transcriber writes the transcripts of this process's sessions while they go on. No round waits for it,
// and no session fails with it: at the first fault it stops for good and says so once.
type Transcriber struct {
	db         func() (*DB, error)
	attributes func(root string) map[string]string
	ctx        context.Context // ends the work at once
	cancel     context.CancelFunc
	idle       context.Context // ends what can wait, when no more is to come
	busy       context.CancelFunc
	ended      sync.WaitGroup
	news       chan struct{}

	mu       sync.Mutex
	heard    map[string][]history.Fact // what was said since it was last looked at
	err      error
	followed map[string]*follower // the worker's own
}

// NewTranscriber starts one. db may wait for a database that is being opened. attributes says what to keep
// of a session that runs in a project's root.
func NewTranscriber(db func() (*DB, error), attributes func(root string) map[string]string) *Transcriber {
	t := &Transcriber{db: db, attributes: attributes, news: make(chan struct{}, 1),
		heard: map[string][]history.Fact{}, followed: map[string]*follower{}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.idle, t.busy = context.WithCancel(t.ctx)
	t.ended.Go(func() { t.fail(t.work()) })
	t.ended.Go(func() { t.fail(t.sweep()) })
	return t
}

// DB is the database that the session is kept in.
func (s *Session) DB() (*DB, error) { return s.db, nil }

// Beside is a log whose facts are transcribed once it has kept them.
func (t *Transcriber) Beside(id string, log session.Store) session.Store {
	return &heardLog{log, t, id}
}

type heardLog struct {
	session.Store
	t  *Transcriber
	id string
}

func (l *heardLog) Append(from uint64, facts ...proto.Fact) error {
	if err := l.Store.Append(from, facts...); err != nil {
		return err
	}
	l.t.hear(l.id, from, facts)
	return nil
}

func (t *Transcriber) hear(id string, from uint64, facts []proto.Fact) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	for i, f := range facts {
		t.heard[id] = append(t.heard[id], history.Fact{Seq: from + uint64(i), Time: now, Fact: f})
	}
	select {
	case t.news <- struct{}{}:
	default:
	}
}

// Close writes what is left of this run, within 2 seconds; the rest, and what is older, is made up for by
// the next jig. It must come before the database is closed. The error, for a person, is the fault that stopped it.
func (t *Transcriber) Close() error {
	t.busy()
	late := time.AfterFunc(longest, t.cancel)
	t.ended.Wait()
	late.Stop()
	t.cancel()
	return t.Err()
}

// Err is the fault that stopped it, nil while there is none.
func (t *Transcriber) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *Transcriber) fail(err error) {
	if err == nil || errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = fmt.Errorf("history unavailable: %w", err)
	t.heard = nil
}

func (t *Transcriber) work() error {
	for {
		select {
		case <-t.idle.Done():
			return t.write()
		case <-t.news:
			more := time.NewTimer(gather)
			select {
			case <-more.C:
			case <-t.idle.Done():
			}
			more.Stop()
			if err := t.write(); err != nil {
				return err
			}
		}
	}
}

// sweep makes up, in a program that goes on for a while, for what others left undone.
func (t *Transcriber) sweep() error {
	later := time.NewTimer(sweepAfter)
	defer later.Stop()
	select {
	case <-t.idle.Done():
		return nil
	case <-later.C:
	}
	d, err := t.db()
	if err != nil {
		return nil //nolint:nilerr // whoever needs the database says so
	}
	return d.transcribe(t.idle, t.attributes, gentle)
}

// write transcribes what was heard.
func (t *Transcriber) write() error {
	t.mu.Lock()
	heard := t.heard
	t.heard = map[string][]history.Fact{}
	t.mu.Unlock()
	if len(heard) == 0 {
		return nil
	}
	d, err := t.db()
	if err != nil {
		return nil //nolint:nilerr // whoever needs the database says so
	}
	for _, id := range slices.Sorted(maps.Keys(heard)) {
		left, err := t.writeOne(d, id, heard[id])
		if err != nil {
			return err
		}
		if len(left) > 0 { // its session is not in the database yet
			t.mu.Lock()
			t.heard[id] = append(left, t.heard[id]...)
			t.mu.Unlock()
		}
	}
	return nil
}

func (t *Transcriber) writeOne(d *DB, id string, facts []history.Fact) (left []history.Fact, err error) {
	f := t.followed[id]
	if f == nil {
		if f, err = d.follow(t.ctx, id, t.attributes); err != nil {
			if overtaken(err) {
				return facts, nil
			}
			return nil, err
		}
		t.followed[id] = f
	}
	switch next := f.projector.Upto() + 1; {
	case facts[0].Seq == next:
		err = f.tell(t.ctx, t.ctx, facts)
	case facts[0].Seq < next+factsRead: // what came before is only in the log
		err = f.catchUp(t.ctx, t.ctx)
	default: // and it is much, as of a copy: no end waits for what is not of this run
		err = f.catchUp(t.ctx, t.idle)
	}
	if err != nil && overtaken(err) {
		delete(t.followed, id)
		return nil, nil
	}
	return nil, err
}
