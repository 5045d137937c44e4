package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// archive keeps a text in <temp>/jig-archive/<session>/1.txt and so on, and gives the path. The temporary
// folder is shared, with other users and with the session's own commands: the folder above may be
// somebody else's, and no link leads out. It is a convenience, so "" is all that is said of a failure.
func archive(temp, session, text string) (path string) {
	if session == "" {
		session = fmt.Sprintf("process-%d", os.Getpid()) // a session that is not kept has no name
	}
	root, err := os.OpenRoot(temp)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	for _, above := range Archives() {
		if private(root, above) != nil {
			continue
		}
		dir := filepath.Join(above, session)
		if private(root, dir) != nil {
			continue
		}
		if name, err := numbered(root, dir, text); err == nil {
			return filepath.Join(temp, name)
		}
	}
	return ""
}

// Archives are the folders in the temporary one in which a session's archive may be, in one of its name.
func Archives() []string { return []string{"jig-archive", fmt.Sprintf("jig-archive-%d", os.Getuid())} }

// private makes sure of a folder of ours that nobody else can look into.
func private(root *os.Root, name string) error {
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	st, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return fs.ErrInvalid // a link, which a command may have put there
	}
	if st.Mode().Perm() == 0o700 && ours(st) {
		return nil
	}
	if !ours(st) {
		return fs.ErrPermission
	}
	return root.Chmod(name, 0o700)
}

// numbered writes a text to the first file of a folder that is not there yet.
func numbered(root *os.Root, dir, text string) (name string, err error) {
	const most = 10_000
	for i := range most {
		name = filepath.Join(dir, fmt.Sprintf("%d.txt", i+1))
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(text)
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			_ = root.Remove(name)
		}
		return name, err
	}
	return "", fs.ErrExist
}
