//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// systemTemp is the machine's folder for temporary files, writable in every regime.
const systemTemp = "/tmp"

// mayWrite reports whether this user may make files in a directory.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// Stamp identifies the places a policy names by device and inode. An init holds places, not names:
// when the stamp differs from the one taken at its start, a place was replaced and what is inside
// still writes to the old one, so a new init is due.
func Stamp(p Policy) string {
	var b strings.Builder
	for _, w := range append([]string{p.Root, p.Git.Dir, p.Git.Common}, p.Write...) {
		fi, err := os.Stat(w)
		if err != nil {
			b.WriteString("-;")
			continue
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok {
			fmt.Fprintf(&b, "%d:%d;", st.Dev, st.Ino)
		}
	}
	return b.String()
}
