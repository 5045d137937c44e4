package store

import (
	"context"
	"time"
)

// A deleted entry's words stay in the index, marked as deleted, until the parts that they are in are joined
// with others. Whoever deletes a session wants them gone at once. There are two ways to that: to take each
// word of each entry out of its page, which costs some 10 ms an entry, and to write the whole index anew.
const eraseShare = 400 // the first way is taken for less than one in so many entries

// erasing is how the transcripts of sessions that are gone are removed.
type erasing struct {
	bytes int          // of entries, at once
	done  func() error // makes sure, after that, that their words are gone
	late  bool         // a removal that was cut short is among them
}

// erase prepares for the transcripts of sessions being forgotten.
func (d *DB) erase(ids []string) (erasing, error) {
	const atOnce, thoroughly = 256 << 10, 1 << 10 // bytes that take some 30 ms
	ctx := context.Background()                   // a deletion is not broken off half done
	var going, all, left int
	for _, id := range ids {
		var n int
		err := d.pool.QueryRowContext(ctx, `SELECT count(*) FROM history_stretch s JOIN history_entry e ON e.num >= s.num << 12 AND e.num < (s.num + 1) << 12
			WHERE s.session = (SELECT num FROM session WHERE id = ?)`, id).Scan(&n)
		if err != nil {
			return erasing{}, d.explain(err)
		}
		going += n
	}
	if err := d.pool.QueryRowContext(ctx, "SELECT count(*) FROM doomed").Scan(&left); err != nil {
		return erasing{}, d.explain(err)
	}
	if going+left == 0 {
		return erasing{bytes: atOnce, done: func() error { return nil }}, nil
	}
	if err := d.pool.QueryRowContext(ctx, "SELECT count(*) FROM history_word_docsize").Scan(&all); err != nil {
		return erasing{}, d.explain(err)
	}
	if going > all/eraseShare || left > 0 { // what words are left of what was cut short nobody knows
		return erasing{atOnce, d.rewriteWords, left > 0}, nil
	}
	thorough := func(on int) error {
		return d.write(func(w *writer) error {
			_, err := w.exec("INSERT INTO history_word (history_word, rank) VALUES ('secure-delete', ?)", on)
			return err
		})
	}
	return erasing{bytes: thoroughly, done: func() error { return thorough(0) }}, thorough(1)
}

// rewriteWords writes the whole index anew, in steps between which others write.
func (d *DB) rewriteWords() error {
	const pages = 64
	for {
		begun := time.Now()
		if more, err := d.merge(-pages); err != nil || !more {
			return err
		}
		d.rest(time.Since(begun))
	}
}

// forget removes some entries of the transcript of a session that is gone.
func (e erasing) forget(w *writer, session int64) (more bool, err error) {
	var stretch, last int64
	if err := w.row("SELECT coalesce(min(num), 0) FROM history_stretch WHERE session = ?", []any{session}, &stretch); err != nil || stretch == 0 {
		return false, err
	}
	from, to := stretch<<stretchBits, (stretch+1)<<stretchBits
	err = w.row(`SELECT coalesce(max(num), 0) FROM (SELECT num, sum(size) OVER (ORDER BY num ROWS UNBOUNDED PRECEDING) - size AS before FROM
		(SELECT num, octet_length(text) + octet_length(args) AS size FROM history_entry WHERE num >= ? AND num < ? ORDER BY num LIMIT ?)) WHERE before < ?`,
		[]any{from, to, stepRows, e.bytes}, &last)
	if err != nil {
		return false, err
	}
	if last == 0 {
		_, err = w.exec("DELETE FROM history_stretch WHERE num = ?", stretch)
		return true, err
	}
	return true, w.dropEntries(from, last+1)
}

// forgetAbout drops what is known of a session's transcript, so that nobody finds its entries.
func (w *writer) forgetAbout(session int64) error {
	for _, q := range []string{
		"DELETE FROM history WHERE session = ?",
		"DELETE FROM history_attribute WHERE session = ?",
	} {
		if _, err := w.exec(q, session); err != nil {
			return err
		}
	}
	_, err := w.exec("DELETE FROM history_value WHERE num NOT IN (SELECT value FROM history_attribute)")
	return err
}
