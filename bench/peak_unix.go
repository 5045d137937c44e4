//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// cpuUsed is the processor time of this process so far.
func cpuUsed() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

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
