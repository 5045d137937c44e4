package cli_test

import (
	"os"

	"golang.org/x/sys/unix"
)

// silent keeps a terminal from showing what is typed: when the echo comes would be a matter of luck.
func silent(line *os.File) error {
	t, err := unix.IoctlGetTermios(int(line.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	t.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(int(line.Fd()), unix.TCSETS, t)
}
