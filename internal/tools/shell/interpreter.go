package shell

import (
	"errors"
	"fmt"
	"strings"
)

// interpreter is the program that reads command lines.
type interpreter struct {
	path string // absolute; empty: none was found, and why says so for every call
	name string // as a model knows it, such as bash or PowerShell
	why  string
	*dialect
}

// Machine is what is looked at to find an interpreter. Tests put another in its place.
type Machine struct {
	OS     string                               // as in runtime.GOOS
	Getenv func(name string) string             // the environment the program was started with
	Look   func(name string) (path string)      // an executable file: a path as it is, a name on PATH; "" when there is none
	Exists func(path string) (regularFile bool) // whether an executable file is there
}

var errNoInterpreter = errors.New("no shell interpreter found: tried Git Bash (install Git for Windows or set JIG_GIT_BASH_PATH), pwsh.exe, powershell.exe and cmd.exe — set JIG_SHELL to name one")

// find goes down the ladder. What is named explicitly is never replaced by something else: it works
// or every call says that it does not. The error is for the person who starts the session.
func (m Machine) find() (interpreter, error) {
	if name := strings.TrimSpace(m.Getenv("JIG_SHELL")); name != "" {
		in := interpreter{path: m.Look(name), name: stem(name), dialect: dialectOf(name)}
		if in.path == "" {
			in.why = fmt.Sprintf("JIG_SHELL names %q, which is no executable file on this system", name)
		}
		return in.named(), nil
	}
	if m.OS != "windows" {
		in := interpreter{path: m.Look("bash"), name: "bash", dialect: posix()}
		if in.path == "" {
			in.why = "bash is not installed, or not on PATH; JIG_SHELL can name another shell"
		}
		return in, nil
	}
	if path := m.gitBash(); path != "" {
		return interpreter{path: path, name: "Git Bash", dialect: posix()}, nil
	}
	for _, name := range []string{"pwsh.exe", "powershell.exe"} {
		if path := m.Look(name); path != "" {
			return interpreter{path: path, name: stem(name), dialect: powershell()}.named(), nil
		}
	}
	for _, name := range []string{m.Getenv("COMSPEC"), "cmd.exe"} {
		if name == "" || stem(name) != "cmd" {
			continue
		}
		if path := m.Look(name); path != "" {
			return interpreter{path: path, name: "cmd", dialect: cmd()}.named(), nil
		}
	}
	return interpreter{}, errNoInterpreter
}

// gitBash looks where Git for Windows puts its bash. Any other bash.exe on PATH is left alone: it is
// most likely the launcher of a Linux subsystem, where the project's paths mean nothing.
func (m Machine) gitBash() string {
	if path := strings.TrimSpace(m.Getenv("JIG_GIT_BASH_PATH")); path != "" && m.Exists(path) {
		return path
	}
	var places []string
	if git := m.Look("git.exe"); git != "" {
		if up, ok := above(git, 2); ok {
			places = append(places, up)
		}
	}
	for _, name := range []string{"ProgramFiles", "ProgramFiles(x86)"} {
		if dir := m.Getenv(name); dir != "" {
			places = append(places, dir+`\Git`)
		}
	}
	if dir := m.Getenv("LOCALAPPDATA"); dir != "" {
		places = append(places, dir+`\Programs\Git`)
	}
	for _, dir := range places {
		if path := dir + `\bin\bash.exe`; m.Exists(path) {
			return path
		}
	}
	return ""
}

// above is the folder n levels above a file.
func above(path string, n int) (string, bool) {
	for range n {
		i := strings.LastIndexAny(path, `/\`)
		if i <= 0 {
			return "", false
		}
		path = path[:i]
	}
	return path, true
}

// named gives an interpreter the name a model knows it by.
func (in interpreter) named() interpreter {
	switch in.name {
	case "pwsh":
		in.name = "PowerShell 7 (pwsh)"
	case "powershell":
		in.name = "Windows PowerShell (powershell)"
	case "cmd":
		in.name = "cmd.exe"
	}
	return in
}
