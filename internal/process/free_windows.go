package process

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeBytes is what this user can still write beside f.
func freeBytes(f *os.File) (int64, error) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(f.Name()))
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(dir, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(min(free, 1<<62)), nil
}
