//go:build linux

package sandbox

import (
	"fmt"
	"os"
)

// attemptMain runs a function of the table below and prints what it found.
func attemptMain(args []string) int {
	f, ok := functions()[args[0]]
	if !ok {
		fmt.Println("no attempt called", args[0])
		return 2
	}
	if err := f(args[1:]); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// functions are the attempts that no shell line can make, or not on every machine.
func functions() map[string]func([]string) error {
	return map[string]func([]string) error{
		"create": func(a []string) error { return os.WriteFile(a[0], []byte("changed"), 0o644) },
	}
}
