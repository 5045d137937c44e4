package code

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"jig/internal/tool"
)

// Failures of writing.
var (
	leadsOutside = tool.Fails("path leads outside the project root through a symbolic link: {path}")
	cannotWrite  = tool.Fails("cannot write {path}: {error}")
)

// target follows the links of a path that is to be written and says where below the real root it
// leads, as a native path without links. Nothing need exist there.
func (s *Set) target(p spot) (string, error) {
	root, err := filepath.EvalSymlinks(s.root)
	if err != nil {
		return "", cannotWrite.With("path", p.shown(), "error", cause(err))
	}
	full, err := follow(root, filepath.FromSlash(p.rel))
	if err != nil {
		return "", cannotWrite.With("path", p.shown(), "error", cause(err))
	}
	rel, err := filepath.Rel(root, full)
	if err != nil || !filepath.IsLocal(rel) {
		return "", leadsOutside.With("path", shown(p.arg))
	}
	return rel, nil
}

// maxLinks is how many links a path may lead through before it counts as a circle.
const maxLinks = 40

// follow is filepath.EvalSymlinks for paths whose end need not exist.
func follow(at, rest string) (string, error) {
	links := 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, string(filepath.Separator))
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return filepath.Join(next, rest), nil
		case err != nil:
			return "", err
		case info.Mode()&os.ModeSymlink == 0:
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
			to = to[len(filepath.VolumeName(to)):]
		}
		rest = to + string(filepath.Separator) + rest
	}
	return at, nil
}

// known is the file at a path, if the session has read it as it is.
func (s *Set) known(p spot) (contents, error) {
	if _, err := s.target(p); err != nil {
		return contents{}, err
	}
	seen, ok := s.ledger.get(realPath(p.abs))
	if !ok {
		return contents{}, unread.With("path", p.shown())
	}
	c, err := s.loadPath(p.abs)
	var odd irregular
	switch {
	case err != nil && (missing(err) || errors.Is(err, errDirectory) || errors.As(err, &odd)):
		return contents{}, changed.With("path", p.shown())
	case err != nil:
		return contents{}, cannotRead.With("path", p.shown(), "error", cause(err))
	case !seen.still(c.record):
		return contents{}, changed.With("path", p.shown())
	}
	return c, nil
}
