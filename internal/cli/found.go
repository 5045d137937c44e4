package cli

import (
	"context"
	"errors"
	"fmt"

	"jig/internal/proto"
	"jig/internal/store"
)

// found is the session that a command line means. Where it is to go on in a copy, or comes from a file,
// it is only read before make makes it.
type found struct {
	facts   []proto.Fact
	from    string   // the session's id, "" of a file's
	arrived *arrival // of a file

	db   *store.DB
	id   string
	log  *store.Session
	made bool // a session that there was not before
}

// find reads a session, and takes it where it is to be written itself.
func find(ctx context.Context, w World, o resumeOptions) (*found, error) {
	if isFile(o.Session) {
		a, err := readImport(w, o)
		if err != nil {
			return nil, err
		}
		return &found{arrived: a, facts: a.facts}, nil
	}
	db, err := openStore(w)
	if err != nil {
		return nil, err
	}
	f := &found{db: db}
	if f.from, err = chosen(ctx, w, db, o); err == nil && o.Fork {
		f.facts, err = db.Facts(f.from)
	} else if err == nil {
		f.id = f.from
		f.log, f.facts, err = db.Take(f.id)
		if held := (*store.HeldError)(nil); errors.As(err, &held) {
			err = fmt.Errorf("%w, or make a copy with --fork", err)
		}
	}
	if err != nil {
		f.close(w)
		return nil, err
	}
	return f, nil
}

// name is how people know it.
func (f *found) name() string {
	if f.arrived != nil {
		return f.arrived.from
	}
	return f.from
}

// make makes the session where there is none yet.
func (f *found) make(w World) (err error) {
	if f.log != nil {
		return nil
	}
	if f.db == nil {
		if f.db, err = newStore(w); err != nil {
			return err
		}
	}
	f.id = store.NewID()
	if f.arrived != nil {
		err = f.arrived.keep(f.db, f.id)
	} else {
		err = f.db.Copy(f.from, f.id, uint64(len(f.facts))) // the other may be written meanwhile
	}
	if err != nil {
		return err
	}
	f.made = true
	f.log, f.facts, err = f.db.Take(f.id)
	return err
}

// drop removes a session again that was made for what could not be begun.
func (f *found) drop(w World) bool {
	if !f.made {
		return false
	}
	if f.log != nil {
		_ = f.log.Close()
		f.log = nil
	}
	if _, err := f.db.Delete(f.id); err != nil {
		w.warn("session %s was made for nothing and could not be deleted: %v", f.id, err)
	}
	return true
}

// tell says what became of a file.
func (f *found) tell(w World) {
	if f.made && f.arrived != nil {
		fmt.Fprintf(w.Err, "jig: %s is session %s here\n", f.arrived.shown(), f.id)
	}
}

func (f *found) close(w World) {
	if f.log != nil {
		_ = f.log.Close() // the lock goes with the process in any case
	}
	if f.db != nil {
		closeStore(w, f.db)
	}
}
