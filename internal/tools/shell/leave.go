package shell

import (
	"os"
	"path/filepath"
	"strings"

	"jig/internal/sandbox"
)

// leaving is a call of the running program itself, which a sandboxed set starts outside.
type leaving struct {
	argv []string // by the hidden redirect command
	dir  string   // the working directory, without links
}

// leaves decides whether a command line leaves the sandbox: it is one simple command, its first
// word is the running program, by device and inode, which nothing inside could have replaced, and
// the project it would work in is one that commands may write to already.
func (s *Shell) leaves(line, dir string) (leaving, bool) {
	if s.self == nil {
		return leaving{}, false
	}
	c, ok := parseSimple(line)
	if !ok || hidden(c.words[1:]) || !s.isSelf(s.locate(c.words[0], dir)) {
		return leaving{}, false
	}
	p := s.policy()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !sandbox.Writable(p, dir) || !sandbox.Writable(p, projectRoot(dir)) {
		return leaving{}, false
	}
	argv := []string{s.opts.Binary, RedirectCommand, redirectSpec(dir, c.redirs, p)}
	return leaving{append(argv, c.words[1:]...), dir}, true
}

// hidden reports whether the arguments name one of the commands the program runs itself as: those
// trust whoever starts them.
func hidden(args []string) bool {
	for _, a := range args {
		if a == sandbox.Command || a == RedirectCommand {
			return true
		}
		if !strings.HasPrefix(a, "-") {
			break
		}
	}
	return false
}

// projectRoot is what a jig that is started in dir would take for its project, which it lets its own
// commands write to: the next folder upwards with a .git, else dir.
func projectRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
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
