//go:build !linux || portable

package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// folder is a directory, by its path. There is nothing to hold open here.
type folder struct {
	place string // for the operating system
	path  string // relative to the root, "" or ending in a slash
}

func openFolder(place, prefix string) (*folder, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: place, Err: syscall.ENOTDIR}
	}
	d, err := os.Open(place)
	if err != nil {
		return nil, err
	}
	d.Close()
	return &folder{place: place, path: prefix}, nil
}

func (f *folder) hold()    {}
func (f *folder) release() {}

// sub returns the directory called name in d. Whether it can be read shows
// when it is read.
func (f *folder) sub(d *folder, name []byte) (*folder, error) {
	place := filepath.Join(d.place, string(name))
	info, err := os.Lstat(place)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	return &folder{place: place, path: d.path + string(name) + "/"}, nil
}

// read appends what the directory holds, unsorted.
func (f *folder) read(l *listing) error {
	d, err := os.Open(f.place)
	if err != nil {
		return err
	}
	defer d.Close()
	found, err := d.ReadDir(-1)
	for _, e := range found {
		l.add([]byte(e.Name()), e.Type())
	}
	return err
}

// handle is one open regular file at a time.
type handle struct{ f *os.File }

// open opens the file called name and reports its size. It never waits, and
// fails for all but regular files.
func (h *handle) open(d *folder, name []byte) (size int64, err error) {
	h.f, err = os.OpenFile(filepath.Join(d.place, string(name)), os.O_RDONLY|noWaitNoFollow, 0)
	if err != nil {
		return 0, err
	}
	info, err := h.f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		h.close()
		return 0, err
	}
	return info.Size(), nil
}

func (h *handle) read(p []byte) (int, error) { return h.f.Read(p) }

func (h *handle) close() { h.f.Close() }

func replaced(err error) bool {
	return errors.Is(err, errNotRegular) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
