package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"jig/internal/history"
	"jig/internal/msg"
	"jig/internal/proto"
)

// A transcript is written in transactions of at most so much, so that whoever waits to write a fact does
// not wait for long.
const (
	smallChange = 24       // facts
	smallText   = 32 << 10 // bytes, about
	factsRead   = 64       // at once, from the log
)

// follower brings the transcript of one session up to date.
type follower struct {
	db        *DB
	id        string
	num       int64
	projector *history.Projector
	rests     int // after each change, for so many times as long as it took
}

// follow finds out how far a session's transcript goes. A *history.NoSessionError says that there is no
// such session, or not yet.
func (d *DB) follow(ctx context.Context, id string, attributes func(root string) map[string]string) (*follower, error) {
	f := &follower{db: d, id: id, projector: &history.Projector{Session: id, Attributes: attributes}}
	var upto int64
	err := d.pool.QueryRowContext(ctx, "SELECT s.num, coalesce(h.upto, 0) FROM session s LEFT JOIN history h ON h.session = s.num WHERE s.id = ?", id).Scan(&f.num, &upto)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &history.NoSessionError{Session: id}
	}
	if err != nil {
		return nil, d.explain(err)
	}
	before, err := f.before(ctx, uint64(upto))
	f.projector.Skip(uint64(upto), before)
	return f, err
}

// before reads back to the last reply that made calls: their results may be still to come.
func (f *follower) before(ctx context.Context, upto uint64) ([]history.Fact, error) {
	var out []history.Fact
	for upto > 0 {
		some, err := f.facts(ctx, "key >= ? AND key <= ? ORDER BY key DESC", keyOf(f.num, 1), keyOf(f.num, upto))
		if err != nil || len(some) == 0 {
			return out, err
		}
		for _, x := range some {
			out = slices.Insert(out, 0, x)
			if s, ok := x.Fact.(proto.Said); ok && s.Message.Role == msg.Assistant && len(s.Message.Blocks.Calls()) > 0 {
				return out, nil
			}
		}
		upto = some[len(some)-1].Seq - 1
	}
	return out, nil
}

// facts reads some facts of the log. What a newer jig wrote, and this one cannot read, says nothing.
func (f *follower) facts(ctx context.Context, where string, from, to int64) ([]history.Fact, error) {
	rows, err := f.db.pool.QueryContext(ctx, "SELECT key, at, body FROM fact WHERE "+where+" LIMIT ?", from, to, factsRead)
	if err != nil {
		return nil, f.db.explain(err)
	}
	defer func() { _ = rows.Close() }()
	var out []history.Fact
	for rows.Next() {
		var key int64
		var x history.Fact
		var body sql.RawBytes
		if err := rows.Scan(&key, (*millis)(&x.Time), &body); err != nil {
			return nil, f.db.explain(err)
		}
		x.Seq = uint64(key - keyOf(f.num, 0))
		if _, fact, err := proto.Decode(body); err == nil {
			x.Fact = fact
		}
		out = append(out, x)
	}
	return out, f.db.explain(rows.Err())
}

// catchUp transcribes what the log has, until the second context ends: then it lets a piece come to its end.
func (f *follower) catchUp(ctx, until context.Context) error {
	for until.Err() == nil {
		some, err := f.facts(ctx, "key > ? AND key < ? ORDER BY key", keyOf(f.num, f.projector.Upto()), keyOf(f.num+1, 0))
		if err != nil || len(some) == 0 {
			return err
		}
		if err := f.tell(ctx, until, some); err != nil {
			return err
		}
	}
	return nil
}

// tell transcribes facts in small pieces until the second context ends.
func (f *follower) tell(ctx, until context.Context, facts []history.Fact) error {
	for len(facts) > 0 && until.Err() == nil {
		n, begun := little(facts), time.Now()
		if err := f.db.Collection().Change(ctx, f.projector.Next(facts[:n])); err != nil {
			return err
		}
		facts = facts[n:]
		if f.rests > 0 {
			select {
			case <-until.Done():
			case <-time.After(time.Duration(f.rests) * time.Since(begun)):
			}
		}
	}
	return nil
}

// little is how many of the facts make a small change.
func little(facts []history.Fact) int {
	size := 0
	for i, x := range facts {
		if i == smallChange || size > smallText {
			return i
		}
		switch f := x.Fact.(type) {
		case proto.Said:
			size += len(f.Message.Blocks.Text())
		case proto.Closed:
			size += min(len(f.Result.Blocks.Text()), history.MaxResult)
		}
	}
	return len(facts)
}

// Transcribe brings up to date the transcripts of all sessions that nobody writes: a jig that died left
// some behind. What ctx does not leave time for is done the next time.
func (d *DB) Transcribe(ctx context.Context, attributes func(root string) map[string]string) error {
	return d.transcribe(ctx, attributes, 0)
}

func (d *DB) transcribe(ctx context.Context, attributes func(root string) map[string]string, rests int) error {
	ids, err := d.behind(ctx)
	for _, id := range ids {
		if err != nil || ctx.Err() != nil {
			break
		}
		var f *follower
		if f, err = d.follow(ctx, id, attributes); err == nil {
			f.rests = rests
			err = f.catchUp(ctx, ctx)
		}
		if overtaken(err) {
			err = nil
		}
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the rest is for the next time
	}
	return err
}

// overtaken says that a session was deleted, or another jig transcribes it.
func overtaken(err error) bool {
	var none *history.NoSessionError
	var gap *history.GapError
	return errors.As(err, &none) || errors.As(err, &gap)
}

// behind lists the sessions whose transcripts are behind their logs, the newest first.
func (d *DB) behind(ctx context.Context) ([]string, error) {
	rows, err := d.pool.QueryContext(ctx, `SELECT s.id, s.holder FROM session s LEFT JOIN history h ON h.session = s.num
		WHERE (SELECT max(key) FROM fact WHERE key >= s.num << 32 AND key < (s.num + 1) << 32) > (s.num << 32) + coalesce(h.upto, 0) ORDER BY s.num DESC`)
	if err != nil {
		return nil, d.explain(err)
	}
	defer func() { _ = rows.Close() }()
	alive := map[string]bool{"": false} // each holder is looked at once
	var out []string
	for rows.Next() {
		var id, holder string
		if err := rows.Scan(&id, &holder); err != nil {
			return nil, d.explain(err)
		}
		held, seen := alive[holder]
		if !seen {
			_, ok, err := d.lease.holding(holder)
			held = ok || err != nil
			alive[holder] = held
		}
		if !held {
			out = append(out, id)
		}
	}
	return out, d.explain(rows.Err())
}
