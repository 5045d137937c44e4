package shell

import "golang.org/x/sys/unix"

// passFlags hold a folder that is only passed through, and need not be readable.
const passFlags = unix.O_PATH | unix.O_DIRECTORY
