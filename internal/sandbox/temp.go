package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// TempDir gives the directory to put in TMPDIR: want where it is or can be made a directory that
// this user can write to, else the system's. A TMPDIR that names a folder somebody removed would
// fail every mktemp. others are more places that commands may write to: nothing is used or made
// through a link that they could have left there or in the system's directory.
func TempDir(want string, others ...string) string {
	dir, held := tempDir(want, others)
	_ = held.Close() // nil is none
	return dir
}

// tempDir leaves want open, where that is what it gives and the system can hold a folder.
func tempDir(want string, others []string) (string, *os.File) {
	if filepath.IsAbs(want) {
		want = filepath.Clean(want)
		names := append(slices.DeleteFunc(slices.Clone(others), func(s string) bool { return s == "" }), want)
		if systemTemp != "" {
			names = append(names, systemTemp)
		}
		if real := settle(names)[want]; real != "" && !isMachine(real) {
			if held, err := holdFolder(real, 0o700); err == nil {
				if mayWrite(real) {
					return want, held
				}
				_ = held.Close()
			}
		}
	}
	if systemTemp != "" {
		return systemTemp, nil // what the environment names may be what was wanted
	}
	return os.TempDir(), nil
}

// Temp is a directory for TMPDIR that is asked for again and again, since a command may remove it. It
// is looked for as [TempDir] does, but not while its name leads to the folder that was found last: that
// is held open, so that no other can pass for it.
type Temp struct {
	want   string
	others []string

	mu   sync.Mutex
	held *os.File
	is   os.FileInfo
}

// NewTemp is for the arguments of [TempDir]. It is to be closed.
func NewTemp(want string, others ...string) *Temp { return &Temp{want: want, others: others} }

// Dir is where the directory is now.
func (t *Temp) Dir() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held != nil {
		if fi, err := os.Stat(t.want); err == nil && os.SameFile(fi, t.is) && mayWrite(t.want) {
			return t.want
		}
		t.let()
	}
	dir, held := tempDir(t.want, t.others)
	if t.held = held; held != nil {
		var err error
		if t.is, err = held.Stat(); err != nil {
			t.let()
		}
	}
	return dir
}

// let lets go of the folder.
func (t *Temp) let() {
	_ = t.held.Close() // nil is none
	t.held = nil
}

// Close lets go of the directory.
func (t *Temp) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.let()
}

// makeFolder makes a folder and those above it.
func makeFolder(real string, perm uint32) error {
	held, err := holdFolder(real, perm)
	_ = held.Close() // nil is none
	return err
}
