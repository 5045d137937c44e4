//go:build unix

package sandbox

import (
	"bytes"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Placeholders are the files that a mount needs to lie on in a git directory shared with other
// checkouts, and that would change nothing but are not the user's. A session holds them as long as
// it has commands; the last one that does takes them away again.
type Placeholders struct {
	git  Git
	held *os.File // the shared directory, locked
}

// Hold notes that a session may put placeholders there. It is nil where none are needed.
func Hold(t Tier, p Policy) *Placeholders {
	if t != Bwrap && t != Namespaces || !p.Git.linked() {
		return nil
	}
	fd, err := unix.Open(p.Git.Common, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	h := &Placeholders{p.Git, os.NewFile(uintptr(fd), p.Git.Common)}
	_ = unix.Flock(fd, unix.LOCK_SH) // where it cannot be locked nothing is taken away
	return h
}

// Release takes the placeholders away, unless another session holds them or commands go on that
// they guard something from.
func (h *Placeholders) Release(commandsGoOn bool) {
	if h == nil {
		return
	}
	defer func() { _ = h.held.Close() }()
	if commandsGoOn || unix.Flock(int(h.held.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	for path, text := range h.git.placeholders() {
		if b, err := readSmall(path); err == nil && bytes.Equal(b, []byte(text)) {
			_ = os.Remove(path)
		}
	}
	_ = unix.Rmdir(filepath.Join(h.git.Common, "modules")) // only when it is empty
}
