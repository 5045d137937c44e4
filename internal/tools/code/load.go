package code

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// maxFile is how much of a file is read.
const maxFile = 20 << 20

var errDirectory = errors.New("is a directory")

// irregular is the error of opening what is neither a file nor a directory.
type irregular struct{ kind string }

func (e irregular) Error() string { return "is " + e.kind + ", not a regular file" }

// kind names what is no regular file.
func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// contents is what was read of a file.
type contents struct {
	data []byte
	info fs.FileInfo
	record
}

// errOwn is of a file that jig itself has open. To close a second opening of it would let go of the locks
// that its first one holds, and another jig would then write into the same pages.
var errOwn = errors.New("it is jig's own database, which is not opened as a file: see jig history and jig export")

// own says whether a file is one of those.
func (s *Set) own(info fs.FileInfo) bool {
	for _, p := range s.cfg.Own {
		if st, err := os.Stat(p); err == nil && os.SameFile(st, info) {
			return true
		}
	}
	return false
}

// notOwn leaves those files out of a search, which opens all that it meets. It is nil where the search
// cannot meet them: it costs a look at every name.
func (s *Set) notOwn(base string, include func(string) bool) func(string) bool {
	root := realPath(s.root)
	met := realPath(filepath.Join(s.root, filepath.FromSlash(base)))
	if !slices.ContainsFunc(s.cfg.Own, func(p string) bool { p = realPath(p); return inside(root, p) || inside(met, p) }) {
		return include
	}
	var own []fs.FileInfo
	for _, p := range s.cfg.Own {
		if st, err := os.Stat(p); err == nil {
			own = append(own, st)
		}
	}
	return func(rel string) bool {
		if include != nil && !include(rel) {
			return false
		}
		info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(rel)))
		return err != nil || !slices.ContainsFunc(own, func(o fs.FileInfo) bool { return os.SameFile(o, info) })
	}
}

// inside says that a path lies below a directory.
func inside(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// load reads a regular file, up to maxFile bytes of it. Nothing else is opened, because opening a
// pipe waits and opening a device may do something. look and open are those of an *os.Root or of
// package os.
func (s *Set) load(look func() (fs.FileInfo, error), open func(flag int) (*os.File, error)) (contents, error) {
	info, err := look()
	if err != nil {
		return contents{}, err
	}
	if err := regular(info); err != nil {
		return contents{}, err
	}
	if s.own(info) {
		return contents{}, errOwn
	}
	f, err := open(os.O_RDONLY | nonblock)
	if err != nil {
		return contents{}, err
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
		return contents{}, err
	}
	if err := regular(info); err != nil {
		return contents{}, err
	}
	// Ordinary files have no deadlines, and this fails. Some that only look ordinary, such as the
	// kernel's logs in /proc, would wait for news.
	_ = f.SetReadDeadline(time.Now().Add(patience))
	data, err := readAll(f, info.Size())
	if err != nil {
		return contents{}, err
	}
	c := contents{data: data[:min(len(data), maxFile)], info: info}
	c.mtime, c.sum = info.ModTime(), sha256.Sum256(c.data)
	c.size = max(info.Size(), int64(len(data))) // files in /proc say 0 and are longer
	c.whole = c.size <= maxFile
	return c, nil
}

// patience is how long a read may wait for a file that has nothing to give yet.
const patience = 2 * time.Second

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errDirectory
	case !info.Mode().IsRegular():
		return irregular{kind(info.Mode())}
	}
	return nil
}

// readAll reads at most one byte more than maxFile, into a buffer that fits what the file says it is.
func readAll(r io.Reader, expect int64) ([]byte, error) {
	b := make([]byte, 0, min(max(expect, 512), maxFile)+1)
	for len(b) <= maxFile {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):min(cap(b), maxFile+1)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// loadPath reads the file a path leads to, through links wherever they lead.
func (s *Set) loadPath(abs string) (contents, error) {
	return s.load(func() (fs.FileInfo, error) { return os.Stat(abs) },
		func(flag int) (*os.File, error) { return os.OpenFile(abs, flag, 0) })
}
