//go:build unix

package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// apply connects one descriptor. Anything but 0, 1 and 2 is nothing a parsed line asks for.
func (r redirection) apply(places []string) error {
	from := r.From
	if r.Op != "dup" {
		f, err := r.open(places)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		from = int(f.Fd())
	} else if from < 0 || from > 2 {
		return fmt.Errorf("redirect: no descriptor %d", from)
	}
	if r.FD < 0 || r.FD > 2 {
		return fmt.Errorf("redirect: no descriptor %d", r.FD)
	}
	if from == r.FD {
		return nil
	}
	return unix.Dup2(from, r.FD)
}

// open opens the file. Where commands can write they can have put a link to anywhere, or a pipe that
// nobody reads: there no link is followed, and only what is a file is opened. What lies on the way
// to such a place, or outside, was made by others and is followed.
func (r redirection) open(places []string) (*os.File, error) {
	if slices.Contains(streams, r.Path) {
		return os.OpenFile(r.Path, r.flags(), 0o666)
	}
	path, theirs, err := trace(r.Path, places)
	var f *os.File
	switch {
	case err != nil:
	case theirs:
		f, err = openNoLinks(path, r.flags()|unix.O_NONBLOCK, 0o666)
	default:
		f, err = os.OpenFile(path, r.flags(), 0o666)
	}
	var in *fs.PathError
	switch {
	case theirs && errors.Is(err, unix.ELOOP):
		return nil, linkError(r.Path) // it was put there just now
	case theirs && errors.Is(err, unix.ENXIO):
		return nil, notFileError(r.Path)
	case errors.As(err, &in):
		return nil, &fs.PathError{Op: "open", Path: r.Path, Err: in.Err}
	case err != nil || !theirs:
		return f, err
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		_ = f.Close()
		return nil, notFileError(r.Path)
	}
	return f, unix.SetNonblock(int(f.Fd()), false)
}

// streams are links that the system makes, to what the process has open.
var streams = []string{"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2"}

func linkError(path string) error {
	return fmt.Errorf("%s is a symbolic link that a command could have made, so it is not followed: redirect to the file itself", path)
}

func notFileError(path string) error {
	return fmt.Errorf("%s is not a file: redirect to one, or to /dev/null", path)
}

// trace finds what a path leads to, and whether that is where commands can write. A link that one
// could have made is an error.
func trace(path string, places []string) (real string, theirs bool, err error) {
	if !filepath.IsAbs(path) {
		wd, err := unix.Getwd()
		if err != nil {
			return "", false, err
		}
		path = wd + "/" + path // not cleaned: .. after a link is not where the link is
	}
	if strings.HasSuffix(path, "/") {
		path += "." // only a folder is meant
	}
	places = slices.Clone(places)
	for i, p := range places {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			places[i] = r
		}
	}
	inPlaces := func(dir string) bool {
		return slices.ContainsFunc(places, func(p string) bool { return within(p, dir) })
	}
	real = "/"
	for rest, links := strings.Split(path, "/"), 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		fi, err := os.Lstat(strings.TrimSuffix(real, "/") + "/" + name)
		switch {
		case name == "":
			continue
		case err != nil && (len(rest) > 0 || name == "."):
			return "", false, err
		case err != nil || fi.Mode()&fs.ModeSymlink == 0:
			real = filepath.Join(real, name) // real has no links, so this is right for .. as well
			continue
		case inPlaces(real):
			return "", false, linkError(filepath.Join(real, name))
		}
		to, err := os.Readlink(filepath.Join(real, name))
		if links++; err != nil || links > 40 {
			return "", false, &fs.PathError{Op: "open", Path: path, Err: unix.ELOOP}
		}
		if filepath.IsAbs(to) {
			real = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return real, inPlaces(filepath.Dir(real)), nil
}

// within reports whether a clean path is dir or lies below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// workingDir is where the process is, whatever its environment says.
func workingDir() (string, error) { return unix.Getwd() }

// become replaces the running program.
func become(path string, argv, env []string) error { return syscall.Exec(path, argv, env) }

func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0
}
