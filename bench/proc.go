package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// What /proc says of processes that run. Where there is none, figures are 0.

// peakNow is the largest resident set so far, in KiB, of what the process runs now. What the system
// reports when a process ends also counts the program it was forked from.
func peakNow(pid int) int { return procField(pid, "status", "VmHWM:") }

// memory is the resident set of a process and the part that is its own alone, in KiB.
func memory(pid int) (rss, private int) {
	return procField(pid, "smaps_rollup", "Rss:"),
		procField(pid, "smaps_rollup", "Private_Clean:") + procField(pid, "smaps_rollup", "Private_Dirty:")
}

func procField(pid int, file, name string) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0
	}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		if f := strings.Fields(s.Text()); len(f) > 1 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}

// below lists the processes that a process started, and those that they did.
func below(pid int) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is ours
	for _, file := range tasks {
		data, _ := os.ReadFile(file) // a thread that has ended has none
		for _, f := range strings.Fields(string(data)) {
			child, _ := strconv.Atoi(f)
			all = append(append(all, child), below(child)...)
		}
	}
	return all
}
