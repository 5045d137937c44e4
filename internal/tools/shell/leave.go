package shell

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"jig/internal/sandbox"
)

// leaving is a call of the running program itself, which a sandboxed set starts outside.
type leaving struct {
	argv []string // its first word replaced by the program's real path
}

// leaves decides whether a command line leaves the sandbox: it is one simple command, and its first
// word is the running program, by device and inode, which nothing inside could have replaced.
func (s *Shell) leaves(line, dir string) (leaving, bool) {
	if s.self == nil {
		return leaving{}, false
	}
	c, ok := parseSimple(line)
	if !ok || !s.isSelf(s.locate(c.words[0], dir)) {
		return leaving{}, false
	}
	argv := append([]string{s.opts.Binary}, c.words[1:]...)
	if len(c.redirs) > 0 {
		spec, _ := json.Marshal(c.redirs) // strings and numbers
		argv = append([]string{s.opts.Binary, RedirectCommand, string(spec)}, c.words[1:]...)
	}
	return leaving{argv}, true
}

// locate is the file that a command's first word names, as a shell in dir would find it.
func (s *Shell) locate(first, dir string) string {
	if strings.ContainsRune(first, '/') {
		if filepath.IsAbs(first) {
			return first
		}
		return filepath.Join(dir, first)
	}
	return findOnPath(first, s.vars.get("PATH"), dir)
}

// findOnPath is the first executable file of that name. An entry that is not absolute is meant from
// dir, or left out when that is "".
func findOnPath(name, path, dir string) string {
	for _, entry := range filepath.SplitList(path) {
		if !filepath.IsAbs(entry) {
			if dir == "" {
				continue
			}
			entry = filepath.Join(dir, entry)
		}
		if file := filepath.Join(entry, name); executable(file) {
			return file
		}
	}
	return ""
}

// isSelf compares with what the running program was when the session began, so that a program that
// took its place since does not count.
func (s *Shell) isSelf(path string) bool {
	if path == "" || !executable(path) {
		return false
	}
	there, err := os.Stat(path)
	if err != nil || !os.SameFile(there, s.self) {
		return false
	}
	now, err := os.Stat(s.opts.Binary)
	return err == nil && os.SameFile(now, s.self) && !sandbox.Writable(s.policy(), s.opts.Binary)
}
