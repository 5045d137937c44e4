//go:build !unix

package main

import (
	"os"
	"time"
)

// cpuUsed is not to be had here.
func cpuUsed() time.Duration { return 0 }

// peakKiB is not to be had here.
func peakKiB(*os.ProcessState) int { return 0 }
