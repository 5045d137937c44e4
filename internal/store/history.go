package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"jig/internal/history"
)

// An entry's number is that of its stretch and its place in it. A stretch is a row of entries of one
// session, so numbers rise with time, to within staleness, and a search that has seen enough of a
// session leaps over the rest of it, however many of its entries match.
const (
	stretchBits = 12
	stretchSize = 1 << stretchBits
	// staleness is how long a session goes on with a stretch while others begin theirs. A search gives
	// sessions in the order of their stretches.
	staleness = time.Hour
)

const historyTables = `
-- How far each session's transcript goes.
CREATE TABLE history (
  session INTEGER PRIMARY KEY,                -- its num
  upto    INTEGER NOT NULL,                   -- the last fact that is in it
  created INTEGER NOT NULL,
  newest  INTEGER NOT NULL,                   -- number of its last entry, 0 where it has none
  stretch INTEGER NOT NULL,                   -- that is written; 0 is none
  filled  INTEGER NOT NULL                    -- places of it
) STRICT;
CREATE INDEX history_newest ON history (newest);
CREATE TABLE history_stretch (
  num     INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL,
  began   INTEGER NOT NULL
) STRICT;
CREATE INDEX history_stretch_of ON history_stretch (session, num);
-- Attributes have few values, so that looking for a part of one is quick.
CREATE TABLE history_value (
  num   INTEGER PRIMARY KEY,
  key   TEXT NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (key, value)
) STRICT;
CREATE TABLE history_attribute (
  value   INTEGER NOT NULL,
  session INTEGER NOT NULL,
  PRIMARY KEY (value, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX history_attribute_of ON history_attribute (session);
CREATE TABLE history_entry (
  num     INTEGER PRIMARY KEY,
  fact    INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  outcome TEXT NOT NULL,
  tool    TEXT NOT NULL,
  args    TEXT NOT NULL,
  text    TEXT NOT NULL,
  -- In which regions it is, as words of private characters. A search that asks for one of them is done
  -- with no more work than its entries make; bounds of the number do not do that for an index that finds
  -- nothing between them. See regions.
  region  TEXT NOT NULL AS (char(57344) || (num >> 15) || ' ' || char(57345) || (num >> 17) || ' ' || char(57346) || (num >> 19) || ' '
    || char(57347) || (num >> 21) || ' ' || char(57348) || (num >> 23) || ' ' || char(57349) || (num >> 25)) VIRTUAL
) STRICT;
CREATE VIRTUAL TABLE history_word USING fts5(region, tool, args, text, content = 'history_entry', content_rowid = 'num',
  tokenize = 'unicode61 remove_diacritics 2');
-- Parts of the index are joined in small steps of our own (see joinWords): the usual way does much at
-- once now and then, while every writer waits.
INSERT INTO history_word (history_word, rank) VALUES ('automerge', 0), ('crisismerge', 1000), ('usermerge', 8);
`

// Collection is the transcripts of the database.
func (d *DB) Collection() history.Collection { return collection{d} }

type collection struct{ *DB }

// Change applies changes in one transaction.
func (c collection) Change(_ context.Context, changes ...history.Change) error {
	size := 0
	err := c.write(func(w *writer) error {
		for _, x := range changes {
			if err := w.transcribe(x); err != nil {
				return err
			}
			for _, e := range x.Append {
				size += len(e.Text) + len(e.Args)
			}
		}
		return nil
	})
	if err != nil {
		return untold(err)
	}
	return c.joinWords(size)
}

// untold leaves errors alone that are no fault of the database.
func untold(err error) error {
	var gap *history.GapError
	var none *history.NoSessionError
	switch {
	case errors.As(err, &gap):
		return gap
	case errors.As(err, &none):
		return none
	}
	return err
}

// joinWords does the index's share of upkeep for so many bytes of new text, in steps of a few
// milliseconds each.
func (d *DB) joinWords(size int) error {
	const pages, each = 32, 16 << 10
	for range 1 + size/each {
		if more, err := d.merge(pages); err != nil || !more {
			return err
		}
	}
	return nil
}

// merge joins parts of the index, about so many pages of them. It says whether anything was left to do.
func (d *DB) merge(pages int) (more bool, err error) {
	var before, after int
	err = d.write(func(w *writer) error {
		if err := w.row("SELECT total_changes()", nil, &before); err != nil {
			return err
		}
		if _, err := w.exec("INSERT INTO history_word (history_word, rank) VALUES ('merge', ?)", pages); err != nil {
			return err
		}
		return w.row("SELECT total_changes()", nil, &after)
	})
	return after-before >= 2, err
}

// transcript is a row of history.
type transcript struct {
	session, created        int64
	upto                    uint64
	newest, stretch, filled int64
	fit                     bool // the stretch was looked at: it may be gone on with
}

func (w *writer) transcribe(c history.Change) error {
	t := transcript{created: c.Created.Time.UnixMilli()}
	err := w.row("SELECT num FROM session WHERE id = ?", []any{c.Session}, &t.session)
	if errors.Is(err, sql.ErrNoRows) {
		return &history.NoSessionError{Session: c.Session}
	}
	if err != nil {
		return err
	}
	err = w.row("SELECT upto, created, newest, stretch, filled FROM history WHERE session = ?", []any{t.session}, &t.upto, &t.created, &t.newest, &t.stretch, &t.filled)
	fresh := errors.Is(err, sql.ErrNoRows)
	switch {
	case err != nil && !fresh:
		return err
	case c.Upto <= t.upto: // somebody else was first, or it is told again
		return nil
	case c.After > t.upto:
		return &history.GapError{Session: c.Session, Has: t.upto}
	}
	if fresh {
		if err := w.attributes(t.session, c.Created.Attributes); err != nil {
			return err
		}
	}
	if c.Cut > 0 {
		if err := w.cutTranscript(&t, c.Cut); err != nil {
			return err
		}
	}
	had := t.upto
	t.upto = c.Upto
	for _, e := range c.Append {
		if e.Fact <= had {
			continue
		}
		if err := w.addEntry(&t, e); err != nil {
			return err
		}
	}
	_, err = w.exec("INSERT OR REPLACE INTO history (session, upto, created, newest, stretch, filled) VALUES (?, ?, ?, ?, ?, ?)",
		t.session, t.upto, t.created, t.newest, t.stretch, t.filled)
	return err
}

func (w *writer) attributes(session int64, attributes map[string]string) error {
	for k, v := range attributes {
		if _, err := w.exec("INSERT OR IGNORE INTO history_value (key, value) VALUES (?, ?)", k, v); err != nil {
			return err
		}
		if _, err := w.exec("INSERT OR IGNORE INTO history_attribute (value, session) SELECT num, ? FROM history_value WHERE key = ? AND value = ?", session, k, v); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) addEntry(t *transcript, e history.Entry) error {
	at := e.Time.UnixMilli()
	if err := w.stretch(t, at); err != nil {
		return err
	}
	t.newest = t.stretch<<stretchBits | t.filled
	t.filled++
	if _, err := w.exec("INSERT INTO history_entry (num, fact, at, kind, outcome, tool, args, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		t.newest, int64(e.Fact), at, string(e.Kind), string(e.Outcome), e.Tool, e.Args, e.Text); err != nil {
		return err
	}
	// Not INSERT … SELECT: a statement that may insert several rows begins with a savepoint, at which the
	// index writes out what it has gathered.
	_, err := w.exec("INSERT INTO history_word (rowid, region, tool, args, text) VALUES (?, ?, ?, ?, ?)", t.newest, regionsOf(t.newest), e.Tool, e.Args, e.Text)
	return err
}

// stretch sees to it that there is a place for one more entry.
func (w *writer) stretch(t *transcript, at int64) error {
	if t.fit && t.filled < stretchSize {
		return nil
	}
	if t.stretch > 0 && t.filled < stretchSize {
		var newest, began int64
		if err := w.row("SELECT max(num), (SELECT began FROM history_stretch WHERE num = ?) FROM history_stretch", []any{t.stretch}, &newest, &began); err != nil {
			return err
		}
		if newest == t.stretch || at-began < staleness.Milliseconds() {
			t.fit = true
			return nil
		}
	}
	r, err := w.exec("INSERT INTO history_stretch (session, began) VALUES (?, ?)", t.session, at)
	if err != nil {
		return err
	}
	t.stretch, err = r.LastInsertId()
	t.filled, t.fit = 0, true
	return err
}

// cutTranscript drops the entries of a fact and all later ones.
func (w *writer) cutTranscript(t *transcript, fact uint64) error {
	for {
		// Facts rise with numbers, so what is dropped is at the end of the last stretches.
		from, err := w.firstOf(t.stretch, fact)
		if err != nil {
			return err
		}
		if err := w.dropEntries(from, (t.stretch+1)<<stretchBits); err != nil {
			return err
		}
		if from > t.stretch<<stretchBits || t.stretch == 0 {
			t.newest = max(from-1, 0)
			return nil // filled stays: a place is not given twice, since cursors name it
		}
		if _, err := w.exec("DELETE FROM history_stretch WHERE num = ?", t.stretch); err != nil {
			return err
		}
		t.newest, t.filled = 0, stretchSize // the one before is not written on with
		if err := w.row("SELECT coalesce(max(num), 0) FROM history_stretch WHERE session = ?", []any{t.session}, &t.stretch); err != nil || t.stretch == 0 {
			return err
		}
	}
}

// firstOf is the number in a stretch from which on entries are of that fact or later.
func (w *writer) firstOf(stretch int64, fact uint64) (int64, error) {
	last := stretch << stretchBits
	err := w.row("SELECT coalesce(max(num) + 1, ?1 << 12) FROM history_entry WHERE num >= ?1 << 12 AND num < (?1 + 1) << 12 AND fact < ?2", []any{stretch, int64(fact)}, &last)
	return last, err
}

// dropEntries takes entries from the transcript and from its index.
func (w *writer) dropEntries(from, to int64) error {
	if _, err := w.exec("INSERT INTO history_word (history_word, rowid, region, tool, args, text) SELECT 'delete', num, region, tool, args, text FROM history_entry WHERE num >= ? AND num < ?", from, to); err != nil {
		return err
	}
	_, err := w.exec("DELETE FROM history_entry WHERE num >= ? AND num < ?", from, to)
	return err
}
