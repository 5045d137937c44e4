package code

import (
	"crypto/rand"
	"os"
	"path/filepath"
)

// draft is a new file in the directory of the target, until it takes its place. Where the system can
// do it, it has no name before that, so that nothing is left of it whenever the process dies.
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
	name := draftName()
	if d.f, err = d.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err == nil {
		d.name = name
	}
	return err
}

func draftName() string { return ".jig-" + rand.Text()[:12] + ".tmp" }

// replace puts the draft in the place of the file of that name.
func (d *draft) replace(name string) error {
	if d.name == "" { // only a name can be renamed over another
		temporary := draftName()
		if err := christen(d.f, d.dir, temporary); err != nil {
			return err
		}
		d.name = temporary
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
