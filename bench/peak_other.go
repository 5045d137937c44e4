//go:build !unix

package main

import "os"

// peakKiB is not to be had here.
func peakKiB(*os.ProcessState) int { return 0 }
