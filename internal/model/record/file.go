package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// File is where a recording is written: one JSON value a line.
type File interface {
	// Line adds a value, whole or not at all.
	Line(any) error
	Close() error
}

// ErrTaken says that there is something under the name of a recording already.
var ErrTaken = errors.New("there is a file of that name already")

// header is the first line.
const header = `{"version":1,"recorded":true}` + "\n"

// disk is a recording on a disk. Each reply is one write, so that a jig which is killed leaves a file
// that can be played up to there.
type disk struct {
	f    *os.File
	made bool
	size int64
	n    int
}

// Create begins a recording that nobody but the user can read. It takes a name that is free, or an
// empty file, as mktemp leaves one: nothing is ever overwritten. What is still empty when it is closed
// goes again.
func Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	d := &disk{f: f, made: err == nil}
	if errors.Is(err, fs.ErrExist) {
		st, e := os.Lstat(path)
		if e != nil || !st.Mode().IsRegular() || st.Size() > 0 {
			return nil, ErrTaken
		}
		if d.f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			err = os.Chmod(path, 0o600)
		}
	}
	if err != nil {
		if d.f != nil {
			_ = d.f.Close()
		}
		return nil, err
	}
	return d, d.add([]byte(header))
}

func (d *disk) Line(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	if err := d.add(b.Bytes()); err != nil {
		return err
	}
	d.n++
	return nil
}

// add writes a whole line. Of one that does not fit on the disk nothing stays.
func (d *disk) add(line []byte) error {
	n, err := d.f.Write(line)
	if err != nil {
		if n > 0 {
			_ = d.f.Truncate(d.size)
		}
		return err
	}
	d.size += int64(n)
	return nil
}

// Close ends the recording. A folder of recordings is no place for files in which nothing is.
func (d *disk) Close() error {
	var err error
	if d.n > 0 {
		err = d.f.Sync()
	}
	if e := d.f.Close(); err == nil {
		err = e
	}
	if d.n == 0 {
		if d.made {
			_ = os.Remove(d.f.Name())
		} else {
			_ = os.Truncate(d.f.Name(), 0)
		}
	}
	return err
}
