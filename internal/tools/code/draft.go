package code

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// draft is a new file in the directory of the target, until it takes its place. Where the system can
// do it, it has no name before that, so that nothing is left of it when the process dies. At the very
// moment at which it takes the place it needs one; what is left then is taken away with the next change
// in the directory.
type draft struct {
	f    *os.File
	dir  *os.Root
	name string // "" while it has none
}

func (w *writer) draft(mode os.FileMode) (*draft, error) {
	dir, err := w.root.OpenRoot(filepath.Dir(w.rel))
	if err != nil {
		return nil, err
	}
	d := &draft{dir: dir}
	if d.f, err = nameless(dir, mode); err != nil {
		err = d.named(mode)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// named makes the draft a file with a name of its own.
func (d *draft) named(mode os.FileMode) (err error) {
	name, err := d.free(func(name string) (err error) {
		d.f, err = d.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		return err
	})
	if err == nil {
		d.name = name
	}
	return err
}

// draftName is the name of every draft, so that one that was left is found without listing the directory.
const draftName = ".jig-draft.tmp"

// leftOver is the age at which a draft belongs to nobody any more: one that is alive was written a moment
// ago.
const leftOver = time.Minute

// free uses a name with what fails where the name is taken. While somebody else uses the one of all drafts,
// which the turns that writers take all but rule out, it is one by chance.
func (d *draft) free(use func(name string) error) (string, error) {
	err := use(draftName)
	if errors.Is(err, os.ErrExist) {
		if info, e := d.dir.Lstat(draftName); e == nil && time.Since(info.ModTime()) > leftOver {
			_ = d.dir.Remove(draftName)
			err = use(draftName)
		}
	}
	if !errors.Is(err, os.ErrExist) {
		return draftName, err
	}
	name := ".jig-" + rand.Text()[:12] + ".tmp"
	return name, use(name)
}

// replace puts the draft in the place of the file of that name.
func (d *draft) replace(name string) error {
	if d.name == "" { // only a name can be renamed over another
		own, err := d.free(func(own string) error { return christen(d.f, d.dir, own) })
		if err != nil {
			return err
		}
		d.name = own
	}
	err := d.dir.Rename(d.name, name)
	if err == nil {
		d.name = ""
	}
	return err
}

// link gives the draft a name that nothing else has yet.
func (d *draft) link(name string) error {
	if d.name == "" {
		return christen(d.f, d.dir, name)
	}
	return d.dir.Link(d.name, name)
}

// close lets go of the draft; what has not taken its place is gone.
func (d *draft) close() {
	if d.f != nil {
		_ = d.f.Close()
	}
	if d.name != "" {
		_ = d.dir.Remove(d.name)
	}
	_ = d.dir.Close()
}
