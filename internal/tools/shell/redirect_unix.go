//go:build unix

package shell

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// apply connects one descriptor. Anything but 0, 1 and 2 is nothing a parsed line asks for.
func (r redirection) apply() error {
	from := r.From
	if r.Op != "dup" {
		f, err := os.OpenFile(r.Path, r.flags(), 0o666)
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

// become replaces the running program.
func become(path string, argv, env []string) error { return syscall.Exec(path, argv, env) }

func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0
}
