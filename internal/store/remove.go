package store

import (
	"context"
	"errors"
)

// Delete removes sessions with all that was kept of them but what they cost, and gives their room back
// to the disk. One that is being written is left, and named by a *HeldError.
func (d *DB) Delete(ids ...string) (removed int, err error) {
	// What is deleted is overwritten. It is not asked for elsewhere: it makes every change slower.
	if err := d.pragma("secure_delete = on"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.pragma("secure_delete = off")) }()
	done, err := d.erase(ids)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		e := d.write(func(w *writer) error { return d.remove(w, id) })
		switch {
		case errors.Is(e, ErrTaken): // somebody else was first
		case e != nil:
			err = errors.Join(err, unwrapped(e))
		default:
			removed++
		}
	}
	err = errors.Join(err, done())
	if removed > 0 {
		err = errors.Join(err, d.shrink())
	}
	return removed, err
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
	for _, q := range []string{"DELETE FROM fact WHERE key >= ?1 << 32 AND key < (?1 + 1) << 32", "DELETE FROM session WHERE num = ?1"} {
		if _, err := w.exec(q, num); err != nil {
			return err
		}
	}
	return w.forget(num)
}

// shrink gives free pages back and empties the log of changes, so that what was deleted is gone from
// the disk. A reader that is at work only puts that off.
func (d *DB) shrink() error {
	return errors.Join(d.pragma("incremental_vacuum"), d.pragma("wal_checkpoint(truncate)"))
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
	defer rows.Close()
	for rows.Next() { //nolint:revive // the steps are what is wanted
	}
	return d.explain(rows.Err())
}
