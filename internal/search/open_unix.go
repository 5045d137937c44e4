//go:build unix && (!linux || portable)

package search

import "syscall"

const noWaitNoFollow = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
