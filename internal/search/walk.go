package search

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// A Tree says what is walked.
type Tree struct {
	Root   string  // the directory all paths are relative to
	Base   string  // where the walk begins, relative to Root; "" and "." mean Root
	Ignore *Ignore // nil ignores nothing
}

// A File is something in the tree that is not a directory.
type File struct {
	Path string      // relative to the root, with slashes
	Type fs.FileMode // type bits only; symbolic links are reported as such
	root string
}

// Info reads the metadata of the file, of a symbolic link those of the link.
func (f File) Info() (fs.FileInfo, error) {
	return os.Lstat(filepath.Join(f.root, filepath.FromSlash(f.Path)))
}

// Walked says how complete a walk was.
type Walked struct {
	Unread  int // directories that could not be read, whole or in part
	Ignored int // files and directories left out because of the rules
}

// Walk calls visit for everything below the base that is not a directory. The
// order is that of the names, byte by byte, within each directory, and what is
// in a directory comes where its name belongs.
//
// Anything called .git is left out, and so is what the rules ignore. A base
// that is itself ignored, or lies in an ignored directory, was asked for by
// name and is walked without the rules. The base may be a symbolic link; none
// is followed below it, so there are no loops. Paths begin with the base as it
// was given, cleaned. A directory that cannot be read is counted and passed over.
//
// The error is that of opening the base, of the context or of visit; visit may
// return fs.SkipAll to end the walk without one.
func Walk(ctx context.Context, tree Tree, visit func(File) error) (Walked, error) {
	w, err := newWalker(ctx, tree)
	if err != nil {
		return Walked{}, err
	}
	w.visit = func(d *folder, name []byte, kind fs.FileMode) error {
		return visit(File{Path: d.path + string(name), Type: kind, root: tree.Root})
	}
	err = w.run()
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return w.walked, err
}

// A walker walks one tree on one goroutine.
type walker struct {
	ctx    context.Context
	ignore *Ignore
	base   *folder
	visit  func(d *folder, name []byte, kind fs.FileMode) error
	lists  []*listing // one for each level, reused
	walked Walked
}

// A listing is what one directory holds.
type listing struct {
	names   []byte // each ends in a zero byte
	entries []entry
	raw     []byte // room for reading the directory, where it is read raw
}

type entry struct {
	from, to int // the name within names
	kind     fs.FileMode
}

func (l *listing) reset() { l.names, l.entries = l.names[:0], l.entries[:0] }

func (l *listing) add(name []byte, kind fs.FileMode) {
	from := len(l.names)
	l.names = append(l.names, name...)
	l.entries = append(l.entries, entry{from, len(l.names), kind})
	l.names = append(l.names, 0)
}

func (l *listing) sort() {
	slices.SortFunc(l.entries, func(a, b entry) int {
		return bytes.Compare(l.names[a.from:a.to], l.names[b.from:b.to])
	})
}

func newWalker(ctx context.Context, tree Tree) (*walker, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	base := path.Clean(tree.Base)
	prefix := ""
	if base != "." {
		prefix = base + "/"
	}
	f, err := openFolder(filepath.Join(tree.Root, filepath.FromSlash(base)), prefix)
	if err != nil {
		return nil, err
	}
	w := &walker{ctx: ctx, ignore: tree.Ignore, base: f}
	if tree.Ignore.covers(base) {
		w.ignore = nil
	}
	return w, nil
}

func (w *walker) run() error {
	w.base.hold()
	defer w.base.release()
	return w.folder(w.base, 0)
}

// folder walks an open directory and lets go of it.
func (w *walker) folder(d *folder, depth int) error {
	defer d.release()
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if depth == len(w.lists) {
		w.lists = append(w.lists, &listing{})
	}
	l := w.lists[depth]
	l.reset()
	if err := d.read(l); err != nil && !vanished(err) {
		w.walked.Unread++ // what was read until then is walked all the same
	}
	l.sort()
	for _, e := range l.entries {
		name := l.names[e.from:e.to]
		if string(name) == ".git" {
			continue
		}
		if w.ignore != nil && w.ignore.Match(d.path+string(name), e.kind.IsDir()) {
			w.walked.Ignored++
			continue
		}
		if !e.kind.IsDir() {
			if err := w.visit(d, l.names[e.from:e.to:e.to+1], e.kind); err != nil {
				return err
			}
			continue
		}
		sub, err := w.base.sub(d, name)
		if err != nil {
			if !vanished(err) {
				w.walked.Unread++
			}
			continue
		}
		if err := w.folder(sub, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// vanished says that what was listed is not there any more, or is something
// else by now.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || replaced(err)
}
