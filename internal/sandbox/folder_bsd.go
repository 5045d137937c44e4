//go:build unix && !linux

package sandbox

import "golang.org/x/sys/unix"

// openFolderAt opens a folder to go on from.
func openFolderAt(dir int, name string) (int, error) {
	return unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}
