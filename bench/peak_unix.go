//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakKiB is the largest resident set of a process that has ended.
func peakKiB(s *os.ProcessState) int {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" { // bytes there, KiB elsewhere
		return int(u.Maxrss / 1024)
	}
	return int(u.Maxrss)
}
