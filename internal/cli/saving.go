package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"jig/internal/config"
	"jig/internal/print"
	"jig/internal/session"
	"jig/internal/store"
)

// databaseName is the file in the data folder.
const databaseName = "jig.db"

// database is where sessions are kept; an error says that there is no place for it.
func database(w World) (string, error) {
	places, err := config.UserPlaces(config.Env{Getenv: w.Getenv, GOOS: w.GOOS, Home: w.Home, Cwd: w.Cwd})
	if err != nil {
		return "", err
	}
	return filepath.Join(places.Data, databaseName), nil
}

// saving is the database of a run that has just begun. It opens while the rest is got ready.
type saving struct {
	path    string
	instead string
	opening *store.Opening
	log     *store.Opened
}

// startSaving begins to open the database where there is one. A new one is only made once it is known
// that the run keeps anything.
func startSaving(w World, o Options) *saving {
	path, err := database(w)
	if err != nil || o.NoSave {
		return nil // that there is no such folder is said with the rest of what is missing
	}
	k := &saving{path: path, instead: store.Unsaved}
	if modelStarted(w) { // where --no-save is refused
		k.instead = "where a command's sandbox keeps it from writing there, write: or XDG_DATA_HOME gives it a place"
	}
	if _, err := os.Stat(path); err == nil {
		k.opening = store.Start(path, k.instead)
	}
	return k
}

// begin makes a new session's log, nil where nothing is kept.
func (k *saving) begin(p *plan) (id string, log session.Store) {
	if k == nil || p.agent.NoSave {
		return "", nil
	}
	if k.opening == nil {
		k.opening = store.Start(k.path, k.instead)
	}
	k.log = k.opening.New(store.NewID())
	return k.log.ID(), k.log
}

// hurry lets the run's end wait for no other process.
func (k *saving) hurry() {
	if k != nil && k.opening != nil {
		k.opening.Hurry()
	}
}

// end lets go of the session and closes the database.
func (k *saving) end(w World) {
	if k == nil || k.opening == nil {
		return
	}
	var err error
	if k.log != nil {
		err = k.log.Close()
	}
	if err = errors.Join(err, k.opening.Close()); err != nil && k.log != nil {
		w.warn("the session could not be closed in good order: %v", err)
	}
}

// openStore opens the database for a command that needs what is kept there.
func openStore(w World) (*store.DB, error) {
	path, err := database(w)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, errNoSessions
	}
	return store.OpenOr(path, "") // what needs sessions has no way without them
}

// closeStore closes the database at the end of a command.
func closeStore(w World, db *store.DB) {
	if err := db.Close(); err != nil {
		w.warn("the session database could not be closed in good order: %v", err)
	}
}

// newStore opens the database and makes it where there is none.
func newStore(w World) (*store.DB, error) {
	path, err := database(w)
	if err != nil {
		return nil, err
	}
	return store.OpenOr(path, "")
}

// errNoSessions is for commands that need a session where none was ever kept.
var errNoSessions = errors.New("there are no sessions yet: every run but those with --no-save becomes one")

// hint tells a person how to go on with a session.
func (w World) hint(id string, o Options) {
	if id != "" && w.ErrTerm && o.Format == string(print.Text) {
		print.Hint(w.Err, "session "+id+"  (to go on: jig resume "+beginning(id, shortestID)+" -m TEXT)", w.color(true))
	}
}
