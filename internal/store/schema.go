package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// application marks a database file as jig's: the letters "jig" and a format number.
const application = 0x6a696701

// migrations make the schema; the database says in user_version how many of them it has. One that was
// released is never changed: a new one is added, and a test opens a database that the version before
// wrote.
var migrations = []string{sessionTables + usageTables + historyTables}

const sessionTables = `
-- The index of the sessions: what can be listed and chosen without reading a log.
CREATE TABLE session (
  num     INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice, since logs are found by it
  id      TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL,                   -- milliseconds since 1970, as all times here
  updated INTEGER NOT NULL,
  agent   TEXT NOT NULL DEFAULT '',
  provider TEXT NOT NULL DEFAULT '',
  model   TEXT NOT NULL DEFAULT '',
  root    TEXT NOT NULL DEFAULT '',           -- the project's
  title   TEXT NOT NULL DEFAULT '',
  named   INTEGER NOT NULL DEFAULT 0,         -- the title is a person's
  state   TEXT NOT NULL DEFAULT '',           -- running, or how the last turn ended
  goal    TEXT NOT NULL DEFAULT '',           -- its status
  turns   INTEGER NOT NULL DEFAULT 0,         -- messages of a person
  parent  TEXT NOT NULL DEFAULT '',           -- the session this is a copy of
  holder  TEXT NOT NULL DEFAULT ''            -- the process that writes it; see lease
) STRICT;
CREATE INDEX session_newest ON session (updated);
CREATE INDEX session_of_root ON session (root, updated);
-- The logs. The key is the session's num and the fact's number together, so that a log lies in one
-- piece and needs no second index.
CREATE TABLE fact (
  key  INTEGER PRIMARY KEY,
  at   INTEGER NOT NULL,
  body BLOB NOT NULL                          -- one JSON object
) STRICT;
-- Sessions that were deleted and have facts left.
CREATE TABLE doomed (num INTEGER PRIMARY KEY) STRICT;
`

const usageTables = `
-- What was spent, by quarters of an hour, so that days can be made of them in any time zone. It stays
-- when a session is deleted: the money is spent.
CREATE TABLE usage (
  slot     INTEGER NOT NULL,
  agent    TEXT NOT NULL,
  provider TEXT NOT NULL,
  model    TEXT NOT NULL,
  requests INTEGER NOT NULL,
  input    INTEGER NOT NULL,
  output   INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost     INTEGER NOT NULL,                  -- in the money package's unit
  estimated INTEGER NOT NULL,                 -- a part of it was worked out from sizes
  PRIMARY KEY (slot, agent, provider, model)
) STRICT, WITHOUT ROWID;
`

// errForeign says that the file is a database of another program.
var errForeign = errors.New("is a database of another program")

// newerError says that a newer jig wrote the file.
type newerError struct{ has, known int }

func (e *newerError) Error() string {
	return fmt.Sprintf("was written by a newer jig (its schema is %d, this jig knows %d)", e.has, e.known)
}

// migrate brings the schema up to date. Where it is, which is the usual case, it only reads.
func migrate(conn *sql.Conn) error {
	ctx := context.Background()
	has, err := version(ctx, conn)
	if err != nil {
		return err
	}
	if has == 0 { // it must come before any table
		if _, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = incremental"); err != nil {
			return err
		}
	}
	// Whoever repaired the file may have left it without a log of changes.
	if _, err := conn.ExecContext(ctx, "PRAGMA journal_mode = wal"); err != nil || has == len(migrations) {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := upgrade(ctx, conn); err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

// upgrade looks again at what there is: another jig may have been first.
func upgrade(ctx context.Context, conn *sql.Conn) error {
	has, err := version(ctx, conn)
	if err != nil {
		return err
	}
	for _, m := range migrations[has:] {
		if _, err := conn.ExecContext(ctx, m); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, len(migrations)))
	return err
}

func version(ctx context.Context, conn *sql.Conn) (int, error) {
	var app, has, tables int
	for _, q := range []struct {
		query string
		into  *int
	}{{"PRAGMA user_version", &has}, {"PRAGMA application_id", &app}, {"SELECT count(*) FROM sqlite_schema LIMIT 1", &tables}} {
		if err := conn.QueryRowContext(ctx, q.query).Scan(q.into); err != nil {
			return 0, err
		}
	}
	switch {
	case app != application && (app != 0 || has != 0 || tables > 0):
		return 0, errForeign
	case has > len(migrations):
		return 0, &newerError{has, len(migrations)}
	}
	return has, nil
}
