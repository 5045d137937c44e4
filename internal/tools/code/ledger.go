package code

import (
	"crypto/sha256"
	"path/filepath"
	"sync"
	"time"

	"jig/internal/tool"
)

// Failures of a change to a file that the session does not know as it is.
var (
	unread  = tool.Fails("{path} has not been read in this session — read it with read_file before modifying it")
	changed = tool.Fails("{path} changed on disk after it was read — read it again before modifying it")
)

// ledger remembers the files that were served, by their real path: reading a file through a link is
// reading the file. The zero ledger is empty.
type ledger struct {
	mu    sync.Mutex
	files map[string]record
}

// record is how a file was when it was served.
type record struct {
	mtime time.Time
	size  int64
	whole bool // sum covers all of it
	sum   [sha256.Size]byte
}

// still says whether a file is as it was. The content decides where it is known, since times also
// differ when somebody only touched the file, and can be equal although it was written: file systems
// count time in steps. Of a file too large to read whole, time and size have to do.
func (r record) still(now record) bool {
	if r.whole && now.whole {
		return r.sum == now.sum
	}
	return r.whole == now.whole && r.size == now.size && r.mtime.Equal(now.mtime)
}

func (l *ledger) put(name string, r record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string]record{}
	}
	l.files[name] = r
}

func (l *ledger) get(name string) (record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.files[name]
	return r, ok
}

// realPath is a file's path without links, the name under which the ledger knows it. Of one that has
// vanished, it is what it was as far as that can still be said.
func realPath(abs string) string {
	if p, err := filepath.EvalSymlinks(abs); err == nil {
		return p
	}
	if dir := filepath.Dir(abs); dir != abs {
		return filepath.Join(realPath(dir), filepath.Base(abs))
	}
	return abs
}
