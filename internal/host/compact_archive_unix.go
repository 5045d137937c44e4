//go:build unix

package host

import (
	"io/fs"
	"os"
	"syscall"
)

// ours says whether a file belongs to who we are.
func ours(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
