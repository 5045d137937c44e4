package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// RedirectCommand is the hidden command of the program that RedirectMain is the entry of.
const RedirectCommand = "redirect"

// RedirectMain is the entry of the hidden redirect command: it connects its descriptors to files as
// its first argument says and becomes this same program with the rest of the arguments, in env. The session's
// own process must not open such files itself: names under /proc/self would be its own descriptors,
// and a FIFO would hold it up. It returns, with an exit code, only when something went wrong.
func RedirectMain(args, env []string) int {
	err := redirectAndRun(args, env)
	fmt.Fprintln(os.Stderr, "jig:", err)
	return 1
}

func redirectAndRun(args, env []string) error {
	if len(args) == 0 {
		return errors.New("redirect is an internal command")
	}
	var redirs []redirection
	if err := json.Unmarshal([]byte(args[0]), &redirs); err != nil {
		return errors.New("redirect is an internal command")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, r := range redirs {
		if err := r.apply(); err != nil {
			return err
		}
	}
	return become(self, append([]string{self}, args[1:]...), env)
}

// flags are how a file is opened for an operator.
func (r redirection) flags() int {
	switch r.Op {
	case "<":
		return os.O_RDONLY
	case ">>":
		return os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	return os.O_WRONLY | os.O_CREATE | os.O_TRUNC
}
