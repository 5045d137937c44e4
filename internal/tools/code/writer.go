package code

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
)

// writer changes one file. While it is open, no other writer changes anything in the directory.
type writer struct {
	set    *Set
	at     spot
	root   *os.Root
	rel    string // where the file really is below the root
	unlock func()
}

func (s *Set) writer(ctx context.Context, p spot) (*writer, error) {
	rel, err := s.target(p)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, cannotWrite.With("path", p.shown(), "error", cause(err))
	}
	s.writing.Lock()
	w := &writer{set: s, at: p, root: root, rel: rel, unlock: func() {}}
	for dir := filepath.Dir(rel); ; dir = filepath.Dir(dir) {
		d, err := root.Open(dir)
		if err == nil {
			w.unlock = lock(ctx, d)
		}
		if err == nil || dir == "." {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *writer) close() {
	w.unlock()
	w.set.writing.Unlock()
	_ = w.root.Close()
}

// errMoved says that another file has taken the place of the one that was read.
var errMoved = errors.New("another file is in its place")

// replace gives an existing file, read a moment ago, new content.
func (w *writer) replace(before contents, content []byte) error {
	err := w.put(before, content)
	switch {
	case errors.Is(err, errMoved), err != nil && missing(err):
		return changed.With("path", w.at.shown())
	case err != nil:
		return cannotWrite.With("path", w.at.shown(), "error", cause(err))
	}
	w.note(content)
	return nil
}

// note records the file as the session has just written it, so that changes can follow each other.
func (w *writer) note(content []byte) {
	info, err := w.root.Lstat(w.rel)
	if err != nil {
		return
	}
	n := int64(len(content))
	w.set.ledger.put(realPath(w.at.abs), record{mtime: info.ModTime(), size: n, whole: n <= maxFile, sum: sha256.Sum256(content[:min(n, maxFile)])})
}

// put writes the new file beside the old one and renames it, where that keeps everything but the
// content; a write that is interrupted then leaves the old file. Otherwise, or when that fails, it
// writes in place. A file that may not be written is not replaced by one that may.
func (w *writer) put(before contents, content []byte) error {
	old, err := w.root.OpenFile(w.rel, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer func() { _ = old.Close() }()
	info, err := old.Stat()
	if err != nil {
		return err
	}
	if !same(info, before.info) {
		return errMoved
	}
	if single(info) {
		err := w.swap(old, before, content)
		if err == nil || errors.Is(err, errMoved) {
			return err
		}
	}
	return overwrite(old, info.Size(), before, content)
}

// same says whether a file is the one that was read, not touched since.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// swap replaces a file by a new one.
func (w *writer) swap(old *os.File, before contents, content []byte) error {
	d, err := w.draft(0o600)
	if err != nil {
		return err
	}
	defer d.close()
	if _, err := d.f.Write(content); err != nil {
		return err
	}
	if err := keep(d.f, old); err != nil {
		return err
	}
	if err := d.f.Sync(); err != nil {
		return err
	}
	now, err := w.root.Lstat(w.rel)
	if err != nil || !same(now, before.info) {
		return errMoved
	}
	return d.replace(filepath.Base(w.rel))
}

// overwrite gives an open file new content in place. The space that is needed beyond the old size is
// taken first, so that a full disk leaves the file as it was; if writing over the old content fails
// after that, the old content is put back.
func overwrite(f *os.File, size int64, before contents, content []byte) error {
	n := int64(len(content))
	if n > size {
		if _, err := f.WriteAt(content[size:], size); err != nil {
			return errors.Join(err, f.Truncate(size))
		}
	}
	head := content[:min(n, size)]
	if _, err := f.WriteAt(head, 0); err != nil {
		if before.whole {
			_, back := f.WriteAt(before.data[:min(n, size)], 0)
			return errors.Join(err, back, f.Truncate(size))
		}
		return err
	}
	if n < size {
		if err := f.Truncate(n); err != nil {
			return err
		}
	}
	return f.Sync()
}

// create writes a file that is not there yet, and the directories above it. Whoever creates it
// meanwhile keeps it.
func (w *writer) create(content []byte) error {
	made, err := w.makeDirectory(filepath.Dir(w.rel))
	if err == nil {
		err = w.createFile(content)
	}
	if err == nil {
		w.note(content)
		return nil
	}
	for _, dir := range made {
		_ = w.root.Remove(dir) // fails if something else has been put there
	}
	if errors.Is(err, os.ErrExist) {
		return unread.With("path", w.at.shown())
	}
	return cannotWrite.With("path", w.at.shown(), "error", cause(err))
}

// makeDirectory makes a directory and those above it, and lists what it made, the deepest first.
func (w *writer) makeDirectory(dir string) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := w.root.Lstat(at); err == nil || at == "." {
			break
		}
		made = append(made, at)
	}
	return made, w.root.MkdirAll(dir, 0o755)
}

// createFile writes beside the name and links: a link never replaces anything, where renaming would.
// File systems without links get the file by its name at once.
func (w *writer) createFile(content []byte) error {
	d, err := w.draft(0o644)
	if err != nil {
		return err
	}
	defer d.close()
	if err := fill(d.f, content); err != nil {
		return err
	}
	if err = d.link(filepath.Base(w.rel)); err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := w.root.OpenFile(w.rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(f, content), f.Close()); err != nil {
		_ = w.root.Remove(w.rel)
		return err
	}
	return nil
}

func fill(f *os.File, content []byte) error {
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}
