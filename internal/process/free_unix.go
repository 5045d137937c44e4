//go:build unix

package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// freeBytes is what an ordinary user can still write beside f.
func freeBytes(f *os.File) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // 32 bits wide elsewhere
}
