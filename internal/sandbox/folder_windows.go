package sandbox

import (
	"errors"
	"io"
	"os"
)

// holdFolder makes a folder and those above it. It holds none: one that is open here cannot be removed.
func holdFolder(real string, perm uint32) (*os.File, error) {
	return nil, os.MkdirAll(real, os.FileMode(perm))
}

// readSmall reads a regular file of at most 64 KiB.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() || fi.Size() > smallFile {
		return nil, errors.New("not a small file: " + path)
	}
	return io.ReadAll(io.LimitReader(f, smallFile))
}
