//go:build linux && !portable

package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// A search spends most of its time in the kernel, so here files are opened
// relative to their directory, read into a buffer that is used again, and
// never become an os.File: that would cost a poller registration, a finalizer
// and some garbage for each of many thousand files.

// folder is an open directory, shared by the walk and the files still to be
// opened in it.
type folder struct {
	fd    int
	path  string // relative to the root, "" or ending in a slash
	below int    // where path goes on below the base
	refs  atomic.Int32
}

const openFlags = syscall.O_RDONLY | syscall.O_CLOEXEC | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_LARGEFILE

func openFolder(path, prefix string) (*folder, error) {
	for {
		fd, err := syscall.Open(path, openFlags|syscall.O_DIRECTORY, 0)
		switch err {
		case nil:
			return newFolder(fd, prefix, len(prefix)), nil
		case syscall.EINTR:
			continue
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
}

func newFolder(fd int, path string, below int) *folder {
	f := &folder{fd: fd, path: path, below: below}
	f.refs.Store(1)
	return f
}

func (f *folder) hold() { f.refs.Add(1) }

func (f *folder) release() {
	if f.refs.Add(-1) == 0 {
		_ = syscall.Close(f.fd)
	}
}

// sub opens the directory called name in d. f must be the base of the walk:
// the way there starts from it, so that a deep tree needs no more descriptors
// than a flat one.
func (f *folder) sub(d *folder, name []byte) (*folder, error) {
	way := d.path + string(name) + "/\x00"
	from := []byte(way[f.below : len(way)-2])
	fd, err := openAt(f.fd, append(from, 0), openFlags|syscall.O_DIRECTORY|syscall.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	return newFolder(fd, way[:len(way)-1], f.below), nil
}

// openAt opens name, which ends in a zero byte, without copying it.
func openAt(dir int, name []byte, flags int) (int, error) {
	for {
		fd, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(&name[0])), uintptr(flags), 0, 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case syscall.EINTR:
			continue
		}
		return -1, errno
	}
}

// read appends what the directory holds, unsorted.
func (f *folder) read(l *listing) error {
	if l.raw == nil {
		l.raw = make([]byte, 32<<10)
	}
	for {
		n, err := syscall.ReadDirent(f.fd, l.raw)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		for rest := l.raw[:n]; len(rest) > 0; {
			const nameAt = 19
			size := binary.NativeEndian.Uint16(rest[16:])
			kind, name := rest[18], rest[nameAt:size]
			rest = rest[size:]
			name = name[:bytes.IndexByte(name, 0)]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			l.add(name, f.kind(kind, name))
		}
	}
}

// kind translates the type in a directory entry. Some file systems leave it
// out; then the entry itself is asked.
func (f *folder) kind(kind byte, name []byte) fs.FileMode {
	if kind != syscall.DT_UNKNOWN {
		return fileType(kind)
	}
	const path = 0x200000 // O_PATH: opens nothing but the name, so it never waits
	fd, err := openAt(f.fd, append(bytes.Clone(name), 0), path|syscall.O_NOFOLLOW|syscall.O_CLOEXEC)
	if err != nil {
		return fs.ModeIrregular
	}
	defer func() { _ = syscall.Close(fd) }()
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return fs.ModeIrregular
	}
	return fileType(byte(st.Mode & syscall.S_IFMT >> 12))
}

func fileType(kind byte) fs.FileMode {
	switch kind {
	case syscall.DT_REG:
		return 0
	case syscall.DT_DIR:
		return fs.ModeDir
	case syscall.DT_LNK:
		return fs.ModeSymlink
	case syscall.DT_FIFO:
		return fs.ModeNamedPipe
	case syscall.DT_SOCK:
		return fs.ModeSocket
	case syscall.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case syscall.DT_BLK:
		return fs.ModeDevice
	}
	return fs.ModeIrregular
}

// handle is one open regular file at a time.
type handle struct {
	fd int
	st syscall.Stat_t
}

// open opens the file called name, which is followed by a zero byte, and
// reports its size. It never waits, and fails for all but regular files.
func (h *handle) open(d *folder, name []byte) (size int64, err error) {
	h.fd, err = openAt(d.fd, name[:len(name)+1], openFlags|syscall.O_NOFOLLOW)
	if err != nil {
		return 0, err
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Fstat(h.fd, &h.st)
	}
	if err == nil && h.st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		h.close()
		return 0, err
	}
	return h.st.Size, nil
}

func (h *handle) read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(h.fd, p)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		return n, nil
	}
}

func (h *handle) close() { _ = syscall.Close(h.fd) }

func replaced(err error) bool {
	return errors.Is(err, errNotRegular) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENXIO)
}
