//go:build unix

package cli_test

import (
	"database/sql"

	"github.com/rogpeppe/go-internal/testscript"
)

// historyCommands are what scripts about the history can do.
var historyCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){"sql": cmdSQL}

// cmdSQL does something to a database that jig would not do: sql FILE STATEMENT.
func cmdSQL(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "sql FILE STATEMENT")
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	_, err = db.Exec(args[1])
	ts.Check(err)
}
