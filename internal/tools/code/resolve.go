package code

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"jig/internal/tool"
)

// spot is where a path argument leads.
type spot struct {
	arg string // as it was written
	rel string // below the root, clean, with slashes; "." is the root
	abs string // as the operating system takes it
}

func (p spot) shown() string { return shown(p.rel) }

// need says how far a spelling that does not exist may be read as another one that does.
type need int

const (
	existing need = iota // only what exists is of use
	creating             // what does not exist may be meant: only spellings of the same name count
)

// resolve finds what a path argument means; see the package comment.
func (s *Set) resolve(arg string, n need) (spot, error) {
	trimmed := strings.TrimSpace(arg)
	for _, spelling := range s.spellings(arg, trimmed, n) {
		if rel, fail := confine(s.goos, s.root, spelling); fail == nil && s.exists(rel) {
			return spot{arg, rel, s.native(rel)}, nil
		}
	}
	if trimmed == "" {
		return spot{}, tool.Missing.With("name", "path")
	}
	refused := outside
	if plain, ok := s.expand(trimmed); ok {
		rel, fail := confine(s.goos, s.root, plain)
		if fail == nil {
			rel, err := s.sibling(arg, rel, n)
			return spot{arg, rel, s.native(rel)}, err
		}
		refused = fail
	}
	return spot{}, refused.With("root", shown(s.root), "path", shown(arg))
}

// spellings lists what an argument may mean, if it exists, the likeliest first.
func (s *Set) spellings(arg, trimmed string, n need) []string {
	var out []string
	try := func(p string) {
		if p, ok := s.expand(p); ok && p != "" {
			out = append(out, p)
		}
	}
	try(arg)
	try(trimmed)
	if n == existing {
		if name, err := strconv.Unquote(trimmed); err == nil && trimmed[0] == '"' {
			try(name)
		}
		if name, ok := strings.CutPrefix(trimmed, "@"); ok {
			try(name)
		}
	}
	return out
}

func (s *Set) exists(rel string) bool {
	_, err := os.Lstat(s.native(rel))
	return err == nil
}

// expand replaces ~ by the home directory, and a file URL by its path unless something has the URL
// for its name. It is false where the home directory is not known.
func (s *Set) expand(p string) (string, bool) {
	rest, ok := strings.CutPrefix(p, "~")
	if ok && (rest == "" || rest[0] == '/' || s.goos == "windows" && rest[0] == '\\') {
		return s.cfg.Home + rest, s.cfg.Home != ""
	}
	if len(p) <= len("file://") || !strings.EqualFold(p[:len("file://")], "file://") {
		return p, true
	}
	if rel, fail := confine(s.goos, s.root, p); fail == nil && s.exists(rel) {
		return p, true
	}
	u, err := url.Parse(p)
	if err != nil || u.Path == "" || u.Host != "" && u.Host != "localhost" {
		return p, true
	}
	if s.goos == "windows" {
		return strings.TrimPrefix(u.Path, "/"), true
	}
	return u.Path, true
}

func (s *Set) native(rel string) string {
	if rel == "." {
		return s.root
	}
	return filepath.Join(s.root, filepath.FromSlash(rel))
}

// sibling reads a path that does not exist as one that looks the same, component by component. The
// path itself is the answer where nothing does.
func (s *Set) sibling(arg, rel string, n need) (string, error) {
	form := looks
	if n == creating {
		form = canonical
	}
	at := "."
	parts := strings.Split(rel, "/")
	for i, name := range parts {
		if next := path.Join(at, name); s.exists(next) {
			at = next
			continue
		}
		switch found := s.alike(at, form(name), form); len(found) {
		case 0:
			return path.Join(append([]string{at}, parts[i:]...)...), nil
		case 1:
			at = path.Join(at, found[0])
		default:
			for i := range found {
				found[i] = strconv.QuoteToASCII(path.Join(at, found[i]))
			}
			return "", lookalike.With("path", shown(arg), "names", strings.Join(found, ", "))
		}
	}
	return at, nil
}

// alike are the names in a directory that have a form. None are in one that cannot be read.
func (s *Set) alike(dir, want string, form func(string) string) (found []string) {
	entries, _ := os.ReadDir(s.native(dir))
	for _, e := range entries {
		if form(e.Name()) == want {
			found = append(found, e.Name())
		}
	}
	return found
}

// missing says that an error means that nothing is there. A path that goes on below a file is as
// absent as any other.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// directory resolves the optional path argument of the tools that look through a directory.
func (s *Set) directory(a tool.Args) (spot, error) {
	arg := a.String("path")
	if strings.TrimSpace(arg) == "" {
		arg = "."
	}
	return s.resolve(arg, existing)
}
