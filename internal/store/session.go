package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"jig/internal/proto"
)

// Session is one session's log, opened to be written by this process alone.
type Session struct {
	db     *DB
	id     string
	num    int64
	now    func() time.Time
	facts  uint64
	index  index
	marks  []mark // of each message of a person that stands
	parent string
	spent  spent
	copied bool // what its facts cost was spent by another session
	broken bool // the last facts could not be kept
}

// HeldError says that another process writes a session.
type HeldError struct {
	ID     string
	Holder Holder
	Mine   bool // it is this process
}

func (e *HeldError) Error() string {
	if e.Mine {
		return fmt.Sprintf("session %s is open in this jig already", e.ID)
	}
	return fmt.Sprintf("session %s is open in %s; end that one first", e.ID, e.Holder)
}

// ErrTaken says that a session was given to another process meanwhile, or deleted.
var ErrTaken = errors.New("the session was deleted or taken over by another jig")

// NewID makes the id of a session: letters and digits, by chance, so that a few of them name it.
func NewID() string { return newID(12) }

// New makes a session of that id. Nothing is written before its first fact that is worth keeping.
func (d *DB) New(id string) *Session { return &Session{db: d, id: id, now: time.Now} }

// Take opens a session to go on with it, and gives what it holds. A *HeldError says who else writes it.
func (d *DB) Take(id string) (*Session, []proto.Fact, error) {
	s, err := d.take(id)
	if err != nil {
		return nil, nil, err
	}
	facts, err := d.Facts(id)
	if err != nil {
		_ = s.Close()
		return nil, nil, err
	}
	then := Session{}
	for i, f := range facts {
		s.spent.add(f)
		then.tell(uint64(i)+1, f, time.Time{})
	}
	s.marks = then.marks
	s.facts = uint64(len(facts))
	return s, facts, nil
}

func (d *DB) take(id string) (*Session, error) {
	s := d.New(id)
	mine, err := d.lease.begin()
	if err != nil {
		return nil, fmt.Errorf("session %s cannot be opened: %w; see that %s is yours, has room and lies on a disk that locks files", id, cause(err), d.lease.dir)
	}
	err = d.write(func(w *writer) error {
		if err := s.index.read(w, id, &s.num, &s.parent); err != nil {
			return err
		}
		h, alive, err := d.lease.holding(s.index.holder)
		if err != nil {
			return err
		}
		if alive {
			return &HeldError{ID: id, Holder: h, Mine: s.index.holder == mine}
		}
		s.index.holder = mine
		_, err = w.exec("UPDATE session SET holder = ? WHERE num = ?", mine, s.num)
		return err
	})
	if err != nil {
		return nil, unwrapped(err)
	}
	return s, nil
}

// unwrapped leaves our own errors as they are.
func unwrapped(err error) error {
	var held *HeldError
	if errors.As(err, &held) {
		return held
	}
	if errors.Is(err, ErrTaken) {
		return ErrTaken
	}
	return err
}

// ID is the session's.
func (s *Session) ID() string { return s.id }

// Close lets others write the session. It has nothing to say of a log that took no more: that was told,
// and what this process holds is free when it ends.
func (s *Session) Close() error {
	if s.num == 0 {
		return nil
	}
	err := s.db.write(func(w *writer) error {
		_, err := w.exec("UPDATE session SET holder = '' WHERE num = ? AND holder = ?", s.num, s.index.holder)
		return err
	})
	if s.broken {
		return nil
	}
	return err
}

// keyOf is where a fact lies.
func keyOf(num int64, seq uint64) int64 { return num<<32 | int64(seq) }

// Append keeps facts, the first of which has the number from: all of them, or none.
func (s *Session) Append(from uint64, facts ...proto.Fact) error {
	if from != s.facts+1 {
		return fmt.Errorf("fact %d cannot follow fact %d", from, s.facts)
	}
	next := *s
	at := s.now()
	bodies := make([][]byte, len(facts))
	var costs []charge
	changed := false
	for i, f := range facts {
		var err error
		if bodies[i], err = proto.Encode(from+uint64(i), f); err != nil {
			return err
		}
		changed = next.tell(from+uint64(i), f, at) || changed
		if c := next.spent.add(f); !s.copied {
			costs = append(costs, c...)
		}
	}
	var err error
	if next.num != 0 && !changed && len(costs) == 0 && len(facts) == 1 {
		err = s.db.alone(func(w *writer) error { return next.keep(w, from, at, bodies[0]) })
	} else {
		err = s.db.write(func(w *writer) error { return next.keepAll(w, from, at, changed, bodies, costs) })
	}
	if err != nil {
		s.broken = true
		return unwrapped(err)
	}
	next.facts += uint64(len(facts))
	*s = next
	return nil
}

// keep writes one fact where the session is still ours.
func (s *Session) keep(w *writer, seq uint64, at time.Time, body []byte) error {
	return ours(w.exec("INSERT INTO fact (key, at, body) SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM session WHERE num = ? AND holder = ?)",
		keyOf(s.num, seq), at.UnixMilli(), body, s.num, s.index.holder))
}

// keepAll writes facts, what they change of the session's row, and what they cost.
func (s *Session) keepAll(w *writer, from uint64, at time.Time, changed bool, bodies [][]byte, costs []charge) error {
	var err error
	switch {
	case s.num == 0:
		err = s.create(w, at)
	case changed:
		err = s.update(w)
	}
	for i, b := range bodies {
		if err == nil {
			err = s.keep(w, from+uint64(i), at, b)
		}
	}
	for _, c := range costs {
		if err == nil {
			err = c.book(w, at)
		}
	}
	return err
}

func (s *Session) create(w *writer, at time.Time) error {
	mine, err := s.db.lease.begin()
	if err != nil {
		return err
	}
	x := &s.index
	x.holder = mine
	r, err := w.exec(`INSERT INTO session (id, created, updated, agent, provider, model, root, title, named, state, goal, turns, parent, holder)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.id, at.UnixMilli(), at.UnixMilli(), x.agent, x.provider, x.model, x.root, x.title, x.named, x.state, x.goal, x.turns, s.parent, mine)
	if err == nil {
		s.num, err = r.LastInsertId()
	}
	return err
}

func (s *Session) update(w *writer) error {
	x := s.index
	return ours(w.exec(`UPDATE session SET updated = ?, agent = ?, provider = ?, model = ?, root = ?, title = ?, named = ?, state = ?, goal = ?, turns = ? WHERE num = ? AND holder = ?`,
		x.updated, x.agent, x.provider, x.model, x.root, x.title, x.named, x.state, x.goal, x.turns, s.num, x.holder))
}

// ours gives ErrTaken where a statement found no session that we hold.
func ours(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, ErrTaken)
	}
	return nil
}

// Read gives the facts of a session after a number, in order. A session that is being written is read
// as it was when the reading began.
func (d *DB) Read(id string, after uint64) iter.Seq2[proto.Event, error] {
	return func(yield func(proto.Event, error) bool) {
		for line, err := range d.Lines(id, after) {
			var e proto.Event
			if err == nil {
				e.Seq, e.Fact, err = proto.Decode(line)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Lines gives the facts as they are kept: one JSON object each. A line is good until the next.
func (d *DB) Lines(id string, after uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var num int64
		err := d.pool.QueryRowContext(context.Background(), "SELECT num FROM session WHERE id = ?", id).Scan(&num)
		if errors.Is(err, sql.ErrNoRows) {
			err = ErrTaken
		}
		if err != nil {
			yield(nil, unwrapped(d.explain(err)))
			return
		}
		rows, err := d.pool.QueryContext(context.Background(), "SELECT body FROM fact WHERE key > ? AND key < ? ORDER BY key", keyOf(num, after), keyOf(num+1, 0))
		if err != nil {
			yield(nil, d.explain(err))
			return
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var body sql.RawBytes
			err := rows.Scan(&body)
			if !yield(body, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, d.explain(err))
		}
	}
}

// Facts gives all facts of a session, for one who goes on with it.
func (d *DB) Facts(id string) ([]proto.Fact, error) {
	var out []proto.Fact
	for e, err := range d.Read(id, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq != uint64(len(out))+1 {
			return nil, &Error{Path: d.path, What: fmt.Sprintf("is damaged: fact %d of session %s is missing", len(out)+1, id), Todo: "the session can be read with jig export, not resumed"}
		}
		out = append(out, e.Fact)
	}
	return out, nil
}
