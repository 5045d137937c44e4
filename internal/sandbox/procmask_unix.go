//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
)

// procMasks lists what of /proc is not about processes and can be written to, or holds what can:
// settings of the whole machine, which uid 0 may change without any capability.
func procMasks() []string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil || e.Type()&os.ModeSymlink != 0 {
			continue
		}
		fi, err := e.Info()
		if err == nil && (fi.IsDir() || fi.Mode().Perm()&0o222 != 0) {
			out = append(out, filepath.Join("/proc", e.Name()))
		}
	}
	return out
}
