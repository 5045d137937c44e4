package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Delete removes sessions with all that was kept of them but what they cost, and gives their room back
// to the disk. One that is being written is left, and named by a *HeldError.
func (d *DB) Delete(ids ...string) (removed int, err error) {
	// What is deleted is overwritten. It is not asked for elsewhere: it makes every change slower.
	if err := d.pragma("secure_delete = on"); err != nil {
		return 0, err
	}
	defer func() {
		if e := d.pragma("secure_delete = off"); err == nil {
			err = e // one fault of the disk is told once
		}
	}()
	words, err := d.erase(ids)
	if err != nil {
		return 0, err
	}
	var held error
	for _, id := range ids {
		var h *HeldError
		e := unwrapped(d.write(func(w *writer) error { return d.remove(w, id) }))
		switch {
		case errors.Is(e, ErrTaken): // somebody else was first
		case errors.As(e, &h):
			held = errors.Join(held, h)
		case e != nil: // the next one would meet it, too
			_ = words.done()
			return removed, errors.Join(held, e)
		default:
			removed++
		}
	}
	err = d.sweep(words.forget)
	if e := words.done(); err == nil {
		err = e
	}
	if err == nil {
		err = d.sweep(forgetFacts)
	}
	if err == nil && (removed > 0 || words.late) {
		err = d.shrink()
	}
	return removed, errors.Join(held, err)
}

func (d *DB) remove(w *writer, id string) error {
	var x index
	var num int64
	var parent string
	if err := x.read(w, id, &num, &parent); err != nil {
		return err
	}
	h, alive, err := d.lease.holding(x.holder)
	if err != nil {
		return err
	}
	if alive {
		return &HeldError{ID: id, Holder: h}
	}
	// The session is gone with this. Its transcript and its facts are many and go afterwards, so that others can
	// write in between.
	for _, q := range []string{"INSERT INTO doomed (num) VALUES (?)", "DELETE FROM session WHERE num = ?"} {
		if _, err := w.exec(q, num); err != nil {
			return err
		}
	}
	return w.forgetAbout(num)
}

// What goes at once, so that nobody else waits for long: so many rows at most, and no more once they have so many
// bytes together.
const (
	stepRows  = 200
	stepBytes = 1 << 20
)

// sweep takes steps for each session that is gone, also for those whose removal was cut short, until a step says
// that there is nothing more of it.
func (d *DB) sweep(step func(w *writer, num int64) (more bool, err error)) error {
	for num := int64(0); ; {
		over, begun := false, time.Now()
		err := d.write(func(w *writer) error {
			var next int64
			if err := w.row("SELECT coalesce(min(num), 0) FROM doomed WHERE num > ?", []any{num}, &next); err != nil || next == 0 {
				over = true
				return err
			}
			more, err := step(w, next)
			if err == nil && !more {
				num = next
			}
			return err
		})
		if err != nil || over {
			return err
		}
		d.rest(time.Since(begun))
	}
}

// rest leaves those who wait a time to write after a step that took so long. They look again and again whether
// they may, up to every 100 ms, so a moment between two steps would hardly ever be met.
func (d *DB) rest(took time.Duration) {
	const most = 50 * time.Millisecond
	select {
	case <-d.hurry:
	case <-time.After(min(took/2, most)):
	}
}

// forgetFacts removes some facts of a session that is gone.
func forgetFacts(w *writer, num int64) (more bool, err error) {
	var last int64
	err = w.row(`SELECT coalesce(max(key), 0) FROM (SELECT key, sum(size) OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) - size AS before FROM
		(SELECT key, octet_length(body) AS size FROM fact WHERE key >= ?1 << 32 AND key < (?1 + 1) << 32 ORDER BY key LIMIT ?2)) WHERE before < ?3`,
		[]any{num, stepRows, stepBytes}, &last)
	if err != nil {
		return false, err
	}
	if last == 0 {
		_, err = w.exec("DELETE FROM doomed WHERE num = ?", num)
		return false, err
	}
	_, err = w.exec("DELETE FROM fact WHERE key >= ? AND key <= ?", keyOf(num, 0), last)
	return true, err
}

// shrink gives free pages back and empties the log of changes, so that what was deleted is gone from
// the disk. A reader that is at work only puts that off.
func (d *DB) shrink() error {
	const pages = 500 // at once, so that others can write in between
	for {
		begun := time.Now()
		var free int
		if err := d.pool.QueryRowContext(context.Background(), "PRAGMA freelist_count").Scan(&free); err != nil {
			return d.explain(err)
		}
		if free == 0 {
			return d.emptyLog()
		}
		if err := d.pragma(fmt.Sprintf("incremental_vacuum(%d)", pages)); err != nil {
			return err
		}
		var left int
		if err := d.pool.QueryRowContext(context.Background(), "PRAGMA freelist_count").Scan(&left); err != nil || left >= free {
			return errors.Join(d.explain(err), d.emptyLog()) // it cannot be vacuumed so
		}
		d.rest(time.Since(begun))
	}
}

// emptyLog brings all of the log of changes into the file: most of it while others write, which that which empties
// it does not let them.
func (d *DB) emptyLog() error {
	if err := d.pragma("wal_checkpoint(passive)"); err != nil {
		return err
	}
	return d.pragma("wal_checkpoint(truncate)")
}

// pragma tells the writer's connection something, to the end: some do their work a row at a time.
func (d *DB) pragma(what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w == nil {
		return ErrClosed
	}
	rows, err := d.w.conn.QueryContext(context.Background(), "PRAGMA "+what)
	if err != nil {
		return d.explain(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() { //nolint:revive // the steps are what is wanted
	}
	return d.explain(rows.Err())
}
