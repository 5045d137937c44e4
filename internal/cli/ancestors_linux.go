package cli

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"jig/internal/process"
	"jig/internal/sandbox"
)

// underWarden looks for a warden among the ancestors of this process.
func underWarden() bool {
	for pid, steps := os.Getppid(), 0; pid > 0 && steps < 256; steps++ {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		name := stat[bytes.IndexByte(stat, '(')+1 : bytes.LastIndexByte(stat, ')')]
		if string(name) == process.InitName || isWarden(pid) {
			return true
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return false
		}
	}
	return false
}

// isWarden tells a warden by what it was started as: where it may write to nothing under /proc it
// cannot give itself its name.
func isWarden(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := bytes.Split(line, []byte{0})
	return err == nil && len(words) > 1 && string(words[0]) == "jig" && string(words[1]) == sandbox.Command
}
