package code

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jig/internal/search"
	"jig/internal/tool"
)

// gitignore is the rules of the root's .gitignore, nil if there are none. It is read for every call,
// because it is a file like any other and may just have been changed. Like git, it follows no link
// to it.
func (s *Set) gitignore() *search.Ignore {
	name := filepath.Join(s.root, ".gitignore")
	c, err := s.load(func() (fs.FileInfo, error) { return os.Lstat(name) },
		func(flag int) (*os.File, error) { return os.OpenFile(name, flag, 0) })
	if err != nil {
		return nil
	}
	if s.goos == "windows" || s.goos == "darwin" {
		return search.ParseIgnoreFold(c.data)
	}
	return search.ParseIgnore(c.data)
}

// filter is a file name pattern over paths below the root, as an argument gave it.
type filter struct {
	*search.Glob
	base bool // it is for the last part of a path alone
}

// filter compiles a pattern. One that is written as an absolute path, or with ~, is taken as what it
// means below the root and refused outside of it.
func (s *Set) filter(pattern string) (filter, error) {
	refused := outside.With("root", shown(s.root), "path", shown(pattern))
	below, ok := s.expand(pattern)
	if !ok {
		return filter{}, refused
	}
	if s.goos == "windows" {
		below = strings.ReplaceAll(below, `\`, "/")
	}
	if absolute(s.goos, below) {
		rel, fail := within(s.goos, s.root, below)
		if fail != nil {
			return filter{}, refused
		}
		below = rel
	}
	for strings.HasPrefix(below, "./") {
		below = below[2:]
	}
	if below == ".." || strings.HasPrefix(below, "../") {
		return filter{}, refused
	}
	g, err := search.CompileGlob(below)
	if err != nil {
		return filter{}, err
	}
	return filter{Glob: g.Prefer(s.exists), base: !strings.Contains(below, "/")}, nil
}

// absolute says whether a path or pattern does not begin at the root.
func absolute(goos, p string) bool {
	if goos == "windows" {
		vol, rest := volume(strings.ReplaceAll(p, `\`, "/"))
		return vol != "" || strings.HasPrefix(rest, "/")
	}
	return strings.HasPrefix(p, "/")
}

// start is where a walk for what the filter matches begins: deeper than the given directory where
// the pattern names the way. What is named is searched, even if it is ignored.
func (f filter) start(dir string) string {
	if f.Glob == nil || f.base {
		return dir
	}
	if d := f.Dir(); d != "." && (dir == "." || strings.HasPrefix(d, dir+"/")) {
		return d
	}
	return dir
}

// walkFailure is what an error of a walk means to the model; nil says that there is nothing there.
// An argument's directory was looked at before, so this is about a pattern's.
func (p spot) walkFailure(err error) error {
	var at *fs.PathError
	if missing(err) {
		return nil
	}
	if errors.As(err, &at) {
		return cannotList.With("dir", p.shown(), "error", cause(err))
	}
	return err
}

// notRead is the note about what a walk had to leave out, "" if it saw everything.
func notRead(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n[%s could not be read]", count(n, "path"))
}

var walkFailures = []*tool.Failure{notDirectory, cannotList}
