// Package store is jig's database: one SQLite file that holds the logs of all sessions, an index of
// them, what was spent, and the transcripts that can be searched. It keeps facts and gives them back;
// what they mean is session's business. Several jigs use one file at the same time.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// busy is how long a statement waits for another process that writes. A transaction waits as long, but
// looks every impatient whether anybody still wants it to.
const (
	busy      = 10 * time.Second
	impatient = 200 * time.Millisecond
)

// readers are how many may read at once; others wait for one of them to end. Each takes two descriptors,
// and none reads anything else of the database while it reads.
const readers = 16

// DB is the database, open. Its methods may be called from any goroutine.
type DB struct {
	path    string
	instead string  // of keeping sessions
	pool    *sql.DB // readers, and the writer's one connection
	lease   lease

	hurry chan struct{} // closed when nobody wants to wait for others any more
	once  sync.Once

	mu sync.Mutex // the writer's
	w  *writer

	file os.FileInfo // as it was opened
}

// Open opens the database and makes it where there is none: the file for its owner alone, in a folder
// for its owner alone. An error says, in one line, what a person can do.
func Open(path string) (*DB, error) { return OpenOr(path, Unsaved) }

// OpenOr is Open, and tells, where the database cannot be used, what a person can do instead; "" is nothing.
func OpenOr(path, instead string) (*DB, error) {
	d := &DB{path: path, instead: instead, hurry: make(chan struct{}), lease: lease{dir: filepath.Join(filepath.Dir(path), "open")}}
	if err := private(path); err != nil {
		return nil, d.explain(err)
	}
	if err := d.open(); err != nil {
		return nil, d.explain(err)
	}
	return d, nil
}

func (d *DB) open() error {
	var err error
	if d.pool, err = sql.Open("sqlite", dsn(d.path)); err != nil {
		return err
	}
	d.pool.SetMaxIdleConns(4)
	d.pool.SetMaxOpenConns(1 + readers)
	conn, err := d.pool.Conn(context.Background())
	if err == nil {
		if err = migrate(conn); err == nil {
			_, err = conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA busy_timeout = %d", impatient.Milliseconds()))
		}
		if err == nil {
			d.file, err = os.Stat(d.path)
		}
		if err == nil {
			d.w = &writer{conn: conn, hurry: d.hurry, prepared: map[string]*sql.Stmt{}}
			return nil
		}
		_ = conn.Close()
	}
	_ = d.pool.Close()
	return err
}

// private makes the folder and the file before SQLite would: it gives the files beside it the mode
// that this one has.
func private(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// One that is there is not opened: closing it would let go of the locks that SQLite has on it where
	// this process has it open already.
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if runtime.GOOS == "windows" {
		return nil // a user's folder is the user's there
	}
	for _, p := range []string{dir, path} {
		st, err := os.Stat(p)
		if err != nil {
			return err
		}
		if st.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(p, st.Mode().Perm()&0o700); err != nil {
				return err
			}
		}
	}
	return nil
}

func dsn(path string) string {
	q := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()),
		"synchronous(normal)", "temp_store(memory)", "journal_size_limit(16777216)",
	}}
	p := filepath.ToSlash(path)
	if p[0] != '/' {
		p = "/" + p // a drive
	}
	return (&url.URL{Scheme: "file", Path: p, RawQuery: q.Encode()}).String()
}

// Close gives up what this process holds and closes the file. The last one to do so brings the log of changes
// into the file, with two fsyncs, which is most of what a short run's end takes. Leaving it beside the file
// instead would be faster, but then a machine that loses its power could lose runs that ended long before, a copy
// of jig.db alone would lack the newest sessions without anybody noticing, and the next jig had to read it all.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w == nil {
		return nil
	}
	err := errors.Join(d.lost(), d.lease.end(), d.w.close(), d.pool.Close())
	d.w = nil
	return err
}

// lost says that what was written went to a file that is not there any more.
func (d *DB) lost() error {
	if st, err := os.Stat(d.path); err == nil && os.SameFile(st, d.file) {
		return nil
	}
	return &Error{Path: d.path, What: "was removed or replaced while this jig wrote it", Todo: "what it kept meanwhile is lost"}
}

// Hurry lets nothing wait for other processes from now on: the program is about to end.
func (d *DB) Hurry() { d.once.Do(func() { close(d.hurry) }) }

// Path is the file.
func (d *DB) Path() string { return d.path }

// ErrClosed says that the database was closed.
var ErrClosed = errors.New("the session database is closed")

// write carries out one transaction. Nothing of it is kept when f fails.
func (d *DB) write(f func(*writer) error) error {
	return d.with(func(w *writer) error { return w.transaction(f) })
}

// alone carries out one statement, which is a transaction of its own: most facts need no more.
func (d *DB) alone(f func(*writer) error) error {
	return d.with(func(w *writer) error { return w.patient(func() error { return f(w) }) })
}

func (d *DB) with(f func(*writer) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w == nil {
		return ErrClosed
	}
	return d.explain(f(d.w))
}

// writer is the one connection that writes, with its statements prepared.
type writer struct {
	conn     *sql.Conn
	hurry    <-chan struct{}
	prepared map[string]*sql.Stmt
}

func (w *writer) transaction(f func(*writer) error) error {
	err := w.patient(func() error { _, err := w.exec("BEGIN IMMEDIATE"); return err })
	if err != nil {
		return err
	}
	err = f(w)
	if err == nil {
		_, err = w.exec("COMMIT")
	}
	if err != nil {
		_, _ = w.exec("ROLLBACK") // where a commit failed it may be rolled back already
	}
	return err
}

// patient waits until no other process writes.
func (w *writer) patient(f func() error) error {
	for start := time.Now(); ; {
		err := f()
		if err == nil || !isBusy(err) || time.Since(start) > busy {
			return err
		}
		select {
		case <-w.hurry:
			return err
		default:
		}
	}
}

func (w *writer) exec(query string, args ...any) (sql.Result, error) {
	st, err := w.statement(query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(context.Background(), args...)
}

func (w *writer) statement(query string) (*sql.Stmt, error) {
	if st := w.prepared[query]; st != nil {
		return st, nil
	}
	st, err := w.conn.PrepareContext(context.Background(), query)
	if err == nil {
		w.prepared[query] = st
	}
	return st, err
}

// row reads one row. sql.ErrNoRows says that there is none.
func (w *writer) row(query string, args []any, into ...any) error {
	st, err := w.statement(query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(context.Background(), args...).Scan(into...)
}

func (w *writer) close() error {
	for _, st := range w.prepared {
		_ = st.Close() // the connection goes with it
	}
	return w.conn.Close()
}

// explain puts an error of the database in words for a person.
func (d *DB) explain(err error) error {
	var told *Error
	if err == nil || errors.As(err, &told) || errors.Is(err, ErrClosed) {
		return err
	}
	what, todo := advice(err, d.instead)
	return &Error{Path: d.path, What: what, Todo: todo, Err: err}
}

// Error is a fault of the database file.
type Error struct {
	Path, What, Todo string
	Err              error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("the session database %s %s", e.Path, e.What)
	if e.Todo != "" {
		s += "; " + e.Todo
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// cause leaves out the path that an error of the file system repeats.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
