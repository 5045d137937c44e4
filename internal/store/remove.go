package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	done, err := d.erase(ids)
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
			_ = done()
			return removed, errors.Join(held, e)
		default:
			removed++
		}
	}
	if err = done(); err == nil {
		err = d.sweep()
	}
	if err == nil && removed > 0 {
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
	// The session is gone with this. Its facts are many and go afterwards, so that others can write in between.
	for _, q := range []string{"INSERT INTO doomed (num) VALUES (?)", "DELETE FROM session WHERE num = ?"} {
		if _, err := w.exec(q, num); err != nil {
			return err
		}
	}
	return w.forget(num)
}

// step is how many facts go at once.
const step = 200

// sweep removes the facts of sessions that are gone, also of those whose removal was cut short.
func (d *DB) sweep() error {
	for done := false; !done; {
		err := d.write(func(w *writer) error {
			var num int64
			err := w.row("SELECT num FROM doomed LIMIT 1", nil, &num)
			if errors.Is(err, sql.ErrNoRows) {
				done = true
				return nil
			}
			if err != nil {
				return err
			}
			r, err := w.exec("DELETE FROM fact WHERE key IN (SELECT key FROM fact WHERE key >= ?1 << 32 AND key < (?1 + 1) << 32 LIMIT ?2)", num, step)
			if err != nil {
				return err
			}
			if n, err := r.RowsAffected(); err != nil || n == step {
				return err
			}
			_, err = w.exec("DELETE FROM doomed WHERE num = ?", num)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shrink gives free pages back and empties the log of changes, so that what was deleted is gone from
// the disk. A reader that is at work only puts that off.
func (d *DB) shrink() error {
	const pages = 2000 // at once, so that others can write in between
	for {
		var free int
		if err := d.pool.QueryRowContext(context.Background(), "PRAGMA freelist_count").Scan(&free); err != nil {
			return d.explain(err)
		}
		if free == 0 {
			return d.pragma("wal_checkpoint(truncate)")
		}
		if err := d.pragma(fmt.Sprintf("incremental_vacuum(%d)", pages)); err != nil {
			return err
		}
		var left int
		if err := d.pool.QueryRowContext(context.Background(), "PRAGMA freelist_count").Scan(&left); err != nil || left >= free {
			return errors.Join(d.explain(err), d.pragma("wal_checkpoint(truncate)")) // it cannot be vacuumed so
		}
	}
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
