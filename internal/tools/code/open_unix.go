//go:build unix

package code

import "syscall"

// nonblock keeps opening a pipe from waiting for its other end, should one have taken the place of
// the file that was looked at.
const nonblock = syscall.O_NONBLOCK
