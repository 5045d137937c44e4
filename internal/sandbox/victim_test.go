//go:build linux

package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"unsafe"
)

// victimMain answers questions about itself on standard input: whether its memory is as it was and
// whether a signal came. It holds a file open and a secret in its environment.
func victimMain(args []string) int {
	held, err := os.Open(filepath.Join(args[0], "file"))
	if err != nil {
		return 1
	}
	defer held.Close()
	came := make(chan os.Signal, 16)
	signal.Notify(came, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGIO)
	memory := []byte("untouched")
	fmt.Printf("%d\n", uintptr(unsafe.Pointer(&memory[0])))
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch in.Text() {
		case "memory":
			fmt.Printf("%s\n", memory)
		case "signals":
			fmt.Println(len(came))
		}
	}
	return 0
}
