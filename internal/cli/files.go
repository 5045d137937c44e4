package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"jig/internal/config"
)

// maxFile is how large a file of the configuration may be, in bytes.
const maxFile = config.MaxFile

// readSmall reads a regular file. It never waits: a checked-out folder may hold a pipe or a device
// where a file is expected. A file that is not there is fs.ErrNotExist.
func readSmall(path string, limit int64) ([]byte, error) {
	var b bytes.Buffer
	err := copySmall(&b, path, limit)
	return b.Bytes(), err
}

// copySmall gives a regular file to w, and nothing of one that is larger than the limit in bytes.
func copySmall(w io.Writer, path string, limit int64) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if st.Size() > limit {
		return fmt.Errorf("too large (%d bytes, at most %d)", st.Size(), limit)
	}
	n, err := io.Copy(w, io.LimitReader(f, limit+1))
	if err == nil && n > limit { // it grew, or its size is not told
		return fmt.Errorf("too large (at most %d bytes)", limit)
	}
	return err
}

// writePrivate replaces a file that only the user may read, whole or not at all.
func writePrivate(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".jig-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Sync(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// cause is an error without the operation and the path that Go puts before it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
