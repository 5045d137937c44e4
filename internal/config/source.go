package config

import (
	"fmt"
	"strings"
)

// Level says how near to the user's hands a source is, and so which entry wins and
// what it may say.
type Level int

const (
	// User is the user's own configuration folder.
	User Level = iota
	// Project is a .jig folder between the project root and the working directory.
	// It came with a checkout, so it counts only when trusted.
	Project
	// Flag is a file named on the command line; it replaces the configuration files
	// of the other levels (not their personas).
	Flag
)

// String gives the level's name as messages use it.
func (l Level) String() string {
	switch l {
	case User:
		return "user"
	case Project:
		return "project"
	case Flag:
		return "-c"
	}
	return fmt.Sprintf("level %d", int(l))
}

// Kind tells the two sorts of files apart.
type Kind int

const (
	// ConfigFile is a config.yaml.
	ConfigFile Kind = iota
	// PersonaFile is a personas/<id>.md.
	PersonaFile
)

// Source is one file as it was read.
type Source struct {
	Level Level
	// Depth orders project levels: 0 is the project root, a greater one is nearer to
	// the working directory. Other levels leave it 0.
	Depth int
	Kind  Kind
	// Path is the file's path, for messages and for a persona's name.
	Path string
	// Dir is what relative paths in the file start from.
	Dir string
	// Trusted must be set on a project source before any of it counts. The zero value
	// is the safe one: an untrusted source is left out and reported, never parsed.
	Trusted bool
	Data    []byte
}

// rank orders sources from the farthest to the nearest.
func (s Source) rank() int {
	switch s.Level {
	case User:
		return 0
	case Project:
		return 1 + max(0, min(s.Depth, 1<<20))
	}
	return 1 << 21
}

// Env is what expansion and path rules need to know of the machine.
type Env struct {
	// Getenv looks an environment variable up; nil knows none.
	Getenv func(string) (string, bool)
	// GOOS decides about separators and absolute paths; empty means a Unix.
	GOOS string
	// Home is ${userHome}, Cwd ${cwd}, Workspace ${workspaceFolder} (the project
	// root), AppHome ${appHome} (the user's configuration folder of this program).
	Home, Cwd, Workspace, AppHome string
}

func (e Env) getenv(name string) (string, bool) {
	if e.Getenv == nil {
		return "", false
	}
	return e.Getenv(name)
}

// Input is all that Load looks at.
type Input struct {
	// Sources may come in any order.
	Sources []Source
	Env     Env
}

// Pos is a place in a file. Line and Col count from 1, Col in characters; 0 means
// the file as a whole.
type Pos struct {
	Path      string
	Line, Col int
}

// String gives path:line:col, leaving out what is not known. Characters that could
// fool a reader are written as escapes.
func (p Pos) String() string {
	var b strings.Builder
	b.WriteString(Shown(p.Path))
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Col > 0 {
			fmt.Fprintf(&b, ":%d", p.Col)
		}
	}
	return b.String()
}

// Problem is one thing that is wrong with a source: it fails the load.
type Problem struct {
	Pos Pos
	// Coordinate names the setting, as in agents.coder.tools; empty for the whole file.
	Coordinate string
	Message    string
	// Persona marks a problem of a persona file, which costs only that persona.
	Persona bool
}

// Error gives one line: config <path>:<line>:<col>: <coordinate>: <message>.
func (p *Problem) Error() string {
	kind := "config "
	if p.Persona {
		kind = "persona "
	}
	if p.Coordinate == "" {
		return kind + p.Pos.String() + ": " + p.Message
	}
	return kind + p.Pos.String() + ": " + p.Coordinate + ": " + p.Message
}

// Warning is something a person should know that does not fail the load.
type Warning Problem

// String gives the same one line as [Problem.Error].
func (w Warning) String() string { return (*Problem)(&w).Error() }

// Secret is a value that must not reach a screen or a log by accident: every
// ordinary way of printing or encoding it hides it.
type Secret string

// Reveal gives the value itself, for the request that needs it.
func (s Secret) Reveal() string { return string(s) }

// String hides the value, telling only whether there is one.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(hidden)"
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the value from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
