package store

import "context"

// A deleted entry's words stay in the index, marked as deleted, until the parts that they are in are joined
// with others. Whoever deletes a session wants them gone at once. There are two ways to that: to take each
// word of each entry out of its page, which costs some 10 ms an entry, and to write the whole index anew.
const eraseShare = 400 // the first way is taken for less than one in so many entries

// erase prepares for the transcripts of sessions being forgotten. done makes sure, after that, that their words
// are gone.
func (d *DB) erase(ids []string) (done func() error, err error) {
	ctx := context.Background() // a deletion is not broken off half done
	var going, all int
	for _, id := range ids {
		var n int
		err := d.pool.QueryRowContext(ctx, `SELECT count(*) FROM history_stretch s JOIN history_entry e ON e.num >= s.num << 12 AND e.num < (s.num + 1) << 12
			WHERE s.session = (SELECT num FROM session WHERE id = ?)`, id).Scan(&n)
		if err != nil {
			return nil, d.explain(err)
		}
		going += n
	}
	if going == 0 {
		return func() error { return nil }, nil
	}
	if err := d.pool.QueryRowContext(ctx, "SELECT count(*) FROM history_word_docsize").Scan(&all); err != nil {
		return nil, d.explain(err)
	}
	if going > all/eraseShare {
		return d.rewriteWords, nil
	}
	thorough := func(on int) error {
		return d.write(func(w *writer) error {
			_, err := w.exec("INSERT INTO history_word (history_word, rank) VALUES ('secure-delete', ?)", on)
			return err
		})
	}
	return func() error { return thorough(0) }, thorough(1)
}

// rewriteWords writes the whole index anew, in steps between which others write.
func (d *DB) rewriteWords() error {
	for {
		if more, err := d.merge(-128); err != nil || !more {
			return err
		}
	}
}

// forget drops a session's transcript.
func (w *writer) forget(session int64) error {
	for {
		var stretch int64
		if err := w.row("SELECT coalesce(max(num), 0) FROM history_stretch WHERE session = ?", []any{session}, &stretch); err != nil {
			return err
		}
		if stretch == 0 {
			break
		}
		if err := w.dropEntries(stretch<<stretchBits, (stretch+1)<<stretchBits); err != nil {
			return err
		}
		if _, err := w.exec("DELETE FROM history_stretch WHERE num = ?", stretch); err != nil {
			return err
		}
	}
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
