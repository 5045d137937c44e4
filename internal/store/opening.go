package store

import (
	"errors"
	"slices"
	"sync"

	"jig/internal/msg"
	"jig/internal/proto"
)

// Opening is a database that is being opened while the program goes on starting.
type Opening struct {
	done chan struct{}
	db   *DB
	err  error
}

// Start begins to open a database. Its errors say what a person can do instead of keeping sessions there.
func Start(path, instead string) *Opening {
	o := &Opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.db, o.err = OpenOr(path, instead)
	}()
	return o
}

// DB waits for the database.
func (o *Opening) DB() (*DB, error) {
	<-o.done
	return o.db, o.err
}

// Hurry lets nothing wait for other processes from now on.
func (o *Opening) Hurry() {
	go func() { // the opening itself may be what waits
		if db, err := o.DB(); err == nil {
			db.Hurry()
		}
	}()
}

// Close waits for the opening and closes the database.
func (o *Opening) Close() error {
	if db, err := o.DB(); err == nil {
		return db.Close()
	}
	return nil // whoever needed it was told
}

// New makes a new session there. Its first facts are kept in memory for as long as they need no more:
// what a model answers, and all that follows from it, is only told once it lies in the database.
func (o *Opening) New(id string) *Opened { return &Opened{opening: o, id: id} }

// Opened is a new session of a database that may still be opening.
type Opened struct {
	opening *Opening
	id      string

	mu      sync.Mutex
	session *Session
	waiting []proto.Fact  // not kept yet; the first has the number 1
	late    chan struct{} // closed when what waited was tried to be kept; nil while nothing has to be
	failed  bool          // facts could not be kept, and that was told
}

// ID is the session's.
func (s *Opened) ID() string { return s.id }

// Append keeps facts, or keeps them waiting.
func (s *Opened) Append(from uint64, facts ...proto.Fact) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		return s.session.Append(from, facts...)
	}
	if from != uint64(len(s.waiting))+1 {
		return errors.New("a fact is missing")
	}
	all := slices.Concat(s.waiting, facts)
	if !begun(all) || early(all) { // a session that nobody said anything in is none
		s.waiting = all
		if begun(all) && s.late == nil {
			s.late = make(chan struct{})
			go s.catchUp()
		}
		return nil
	}
	err := s.keep(all)
	s.failed = s.failed || err != nil
	return err
}

// catchUp keeps what waits as soon as there is a database: a model may take minutes to answer, and a
// jig that is killed meanwhile should leave the question. What fails here is met again, and told, with
// the facts that follow.
func (s *Opened) catchUp() {
	defer close(s.late)
	<-s.opening.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil && !s.failed { // else the run has ended, and there is no more to be told of it
		_ = s.keep(s.waiting)
	}
}

// keep makes the session of its first facts.
func (s *Opened) keep(all []proto.Fact) error {
	db, err := s.opening.DB()
	if err != nil {
		return err
	}
	session := db.New(s.id)
	session.broken = s.failed
	if err := session.Append(1, all...); err != nil {
		return err
	}
	s.session, s.waiting = session, nil
	return nil
}

// early says that facts come before the first request: nothing has been done that must not be lost.
func early(facts []proto.Fact) bool {
	for _, f := range facts {
		switch f := f.(type) {
		case proto.Began, proto.Goal, proto.Titled:
		case proto.Said:
			if f.Message.Role == msg.Assistant {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// begun says that somebody said something.
func begun(facts []proto.Fact) bool {
	for _, f := range facts {
		if _, ok := f.(proto.Said); ok {
			return true
		}
	}
	return false
}

// Close lets others write the session.
func (s *Opened) Close() error {
	s.mu.Lock()
	late := s.late
	s.mu.Unlock()
	if late != nil {
		<-late
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil
	}
	return s.session.Close()
}
