package shell

import "golang.org/x/sys/unix"

// passFlags hold a folder that is only passed through.
const passFlags = unix.O_RDONLY | unix.O_DIRECTORY
