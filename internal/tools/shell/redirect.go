package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"jig/internal/sandbox"
)

// RedirectCommand is the hidden command of the program that RedirectMain is the entry of.
const RedirectCommand = "redirect"

// redirecting is the first argument of the hidden command.
type redirecting struct {
	Dir    string // where it must find itself, without links; "" is anywhere
	Redirs []redirection
	// Places are where commands can make links: what they can write to in one regime or another, and
	// the folders of their own processes.
	Places []string
}

func redirectSpec(dir string, redirs []redirection, p sandbox.Policy) string {
	places := append([]string{"/dev/shm", "/proc"}, p.Write...)
	for _, dir := range []string{p.Git.Dir, p.Git.Common} {
		if dir != "" {
			places = append(places, dir)
		}
	}
	for _, real := range p.Real { // what a name stood for when the session began
		places = append(places, real)
	}
	spec, _ := json.Marshal(redirecting{dir, redirs, places}) // strings and numbers
	return string(spec)
}

// RedirectMain is the entry of the hidden redirect command, by which a call leaves the sandbox: it
// makes sure of its working directory, connects its descriptors to files as its first argument says
// and becomes this same program with the rest of the arguments, in env. The session's own process
// must not open such files itself: names under /proc/self would be its own descriptors, and a FIFO
// would hold it up. It returns, with an exit code, only when something went wrong.
func RedirectMain(args, env []string) int {
	err := redirectAndRun(args, env)
	fmt.Fprintln(os.Stderr, "jig:", err)
	return 1
}

func redirectAndRun(args, env []string) error {
	if len(args) == 0 {
		return errors.New("redirect is an internal command")
	}
	var o redirecting
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return errors.New("redirect is an internal command")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if at, err := workingDir(); o.Dir != "" && (err != nil || at != o.Dir) {
		return errors.New("the working directory is not " + o.Dir + " any more: a command put something else in its place")
	}
	for _, r := range o.Redirs {
		if err := r.apply(o.Places); err != nil {
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
