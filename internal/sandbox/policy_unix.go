//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// systemTemp is the machine's folder for temporary files, writable in every regime.
const systemTemp = "/tmp"

// mayWrite reports whether this user may make files in a directory.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// couldChange reports whether this user could have put something into a directory, now or before
// somebody closed it, or could have put the directory there.
func couldChange(dir string) bool {
	uid := os.Geteuid()
	for at := dir; ; at = filepath.Dir(at) {
		fi, err := os.Lstat(at)
		if uid == 0 || err != nil || mayWrite(at) {
			return true
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); !ok || int(st.Uid) == uid {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// Stamp identifies the places a policy names by device and inode. An init holds places, not names:
// when the stamp differs from the one taken at its start, a place was replaced and what is inside
// still writes to the old one, so a new init is due. A place whose name leads elsewhere by now is
// none any more.
func Stamp(p Policy) string {
	var b strings.Builder
	add := func(real string) {
		fi, err := os.Lstat(real)
		if err != nil {
			b.WriteString("-;")
			return
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok {
			fmt.Fprintf(&b, "%d:%d;", st.Dev, st.Ino)
		}
	}
	for _, w := range p.places() {
		add(w.real)
	}
	if g := p.git(); g.Dir != "" {
		add(g.Dir)
		add(g.Common)
	}
	return b.String()
}
