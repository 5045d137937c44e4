package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Git is the git directory that a root's .git file names: the root is a linked worktree or a
// submodule, and what git must write lies outside it. Both are empty for an ordinary repository.
type Git struct {
	Dir    string // this checkout's own: HEAD, index
	Common string // what all worktrees share: objects, refs, config, hooks; Dir where nothing is shared
}

// FindGit reads the root's .git file. Anything else there, or a file that names nothing, gives the
// empty Git. A command can write that file, and folders that look like git's into every writable
// place, so both sides must agree: the directory must say that the root is its checkout, and must
// lie where git puts it inside the directory that all checkouts share. Read once, before the first
// command runs: Settle does.
func FindGit(root string) Git {
	root = resolve(root)
	dir := pointer(filepath.Join(root, ".git"), "gitdir:", root)
	if dir == "" {
		return Git{}
	}
	if dir = resolve(dir); !isPlain(filepath.Join(dir, "HEAD")) {
		return Git{}
	}
	g := Git{Dir: dir, Common: dir}
	if common := pointer(filepath.Join(dir, "commondir"), "", dir); common != "" {
		g.Common = resolve(common)
		if filepath.Dir(dir) != filepath.Join(g.Common, "worktrees") {
			return Git{}
		}
	} else if !isSubmodule(dir) {
		return Git{}
	}
	if !isFolder(filepath.Join(g.Common, "objects")) || !isFolder(filepath.Join(g.Common, "refs")) || !g.belongs(root) {
		return Git{}
	}
	return g
}

// isSubmodule reports whether a real path is where git keeps a submodule: below the modules folder
// of a git directory, at any depth, as a submodule's name may hold slashes.
func isSubmodule(dir string) bool {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		up := filepath.Dir(filepath.Dir(at))
		if filepath.Base(filepath.Dir(at)) == "modules" && isPlain(filepath.Join(up, "HEAD")) &&
			(isFolder(filepath.Join(up, "objects")) || isPlain(filepath.Join(up, "commondir"))) {
			return true
		}
	}
	return false
}

// belongs reports whether the git directory says that root is its checkout: a worktree's by its
// gitdir file, a submodule's by core.worktree.
func (g Git) belongs(root string) bool {
	if g.linked() {
		back := pointer(filepath.Join(g.Dir, "gitdir"), "", g.Dir)
		return back != "" && resolve(filepath.Dir(back)) == root
	}
	config, err := readSmall(filepath.Join(g.Dir, "config"))
	if err != nil {
		return false
	}
	section := ""
	for line := range strings.Lines(string(config)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(line)
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section != "[core]" || !strings.EqualFold(strings.TrimSpace(key), "worktree") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if !filepath.IsAbs(value) {
			value = filepath.Join(g.Dir, value)
		}
		return resolve(value) == root
	}
	return false
}

// smallFile is the most that is read of a file that a command could have written.
const smallFile = 64 << 10

// pointer reads a file of one line that names a path, relative to base. Empty: it names none.
func pointer(file, prefix, base string) string {
	b, err := readSmall(file)
	if err != nil || !bytes.HasPrefix(b, []byte(prefix)) {
		return ""
	}
	path := strings.TrimSpace(strings.TrimPrefix(string(b), prefix))
	if path == "" || strings.ContainsAny(path, "\x00\n") {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path)
}

// linked reports whether the directory is shared with other checkouts.
func (g Git) linked() bool { return g.Dir != "" && g.Dir != g.Common }

// guarded is what stays read-only in the git directories: what git runs, and where it is told to
// run something. The other checkouts' own directories and the submodules' hold the same again.
func (g Git) guarded() []string {
	if g.Dir == "" {
		return nil
	}
	var out []string
	guard := func(dir string, names ...string) {
		for _, name := range names {
			// a link that leads elsewhere leads to a place that is guarded, or not, by itself
			if p := filepath.Join(dir, name); isFolder(p) || isPlain(p) {
				out = append(out, p)
			}
		}
	}
	guard(g.Common, "hooks", "config", "config.worktree", "commondir", "modules", "worktrees")
	if g.linked() {
		guard(g.Dir, "hooks", "config", "config.worktree", "commondir", "gitdir")
	}
	return out
}

// placeholders are the guarded files that are usually absent, with what says nothing to git. An empty
// commondir would end it; the dot names the directory itself, as if there were no file.
func (g Git) placeholders() map[string]string {
	return map[string]string{
		filepath.Join(g.Common, "commondir"): ".\n", filepath.Join(g.Common, "config.worktree"): "", filepath.Join(g.Dir, "config.worktree"): "",
	}
}

// shared is what a backend that cannot take parts out again opens of a shared directory. Folders
// alone, and no links: what a link leads to is no part of the repository.
func (g Git) shared() []string {
	var out []string
	for _, name := range []string{"objects", "refs", "logs", "rr-cache", "lfs"} {
		if p := filepath.Join(g.Common, name); isFolder(p) {
			out = append(out, p)
		}
	}
	return append(out, g.Dir)
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func isDir(path string) bool { fi, err := os.Stat(path); return err == nil && fi.IsDir() }

// isFolder reports whether path is a folder, not a link to one.
func isFolder(path string) bool { fi, err := os.Lstat(path); return err == nil && fi.IsDir() }

// isPlain reports whether path is a regular file, not a link to one.
func isPlain(path string) bool { fi, err := os.Lstat(path); return err == nil && fi.Mode().IsRegular() }
