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
// empty Git. A directory counts as git's only when it looks like one, so that a .git file written
// by a command cannot make any folder of the machine writable for the next session; and it must
// point back at the root, which a folder that merely looks right does not.
func FindGit(root string) Git {
	file := filepath.Join(root, ".git")
	if fi, err := os.Lstat(file); err != nil || !fi.Mode().IsRegular() {
		return Git{}
	}
	dir := pointer(file, "gitdir:", root)
	if dir == "" || !isFile(filepath.Join(dir, "HEAD")) {
		return Git{}
	}
	common := pointer(filepath.Join(dir, "commondir"), "", dir)
	if common == "" {
		common = dir
	}
	if !isDir(filepath.Join(common, "objects")) || !isDir(filepath.Join(common, "refs")) {
		return Git{}
	}
	g := Git{Dir: resolve(dir), Common: resolve(common)}
	if !g.belongs(root) {
		return Git{}
	}
	return g
}

// belongs reports whether the git directory says that root is its checkout: a worktree's by its
// gitdir file, a submodule's by core.worktree.
func (g Git) belongs(root string) bool {
	if back := pointer(filepath.Join(g.Dir, "gitdir"), "", g.Dir); back != "" {
		return resolve(filepath.Dir(back)) == resolve(root)
	}
	config, err := os.ReadFile(filepath.Join(g.Dir, "config"))
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
		return resolve(value) == resolve(root)
	}
	return false
}

// pointer reads a file of one line that names a path, relative to base. Empty: it names none.
func pointer(file, prefix, base string) string {
	b, err := os.ReadFile(file)
	if err != nil || len(b) > 64<<10 || !bytes.HasPrefix(b, []byte(prefix)) {
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
	out := []string{filepath.Join(g.Common, "hooks"), filepath.Join(g.Common, "config")}
	for _, name := range []string{"config.worktree", "modules", "worktrees"} {
		if p := filepath.Join(g.Common, name); exists(p) {
			out = append(out, p)
		}
	}
	if g.linked() {
		for _, name := range []string{"hooks", "config", "config.worktree", "commondir", "gitdir"} {
			if p := filepath.Join(g.Dir, name); exists(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// shared is what a backend that cannot take parts out again opens of a shared directory.
func (g Git) shared() []string {
	var out []string
	for _, name := range []string{"objects", "refs", "logs", "packed-refs", "rr-cache", "lfs"} {
		if p := filepath.Join(g.Common, name); exists(p) {
			out = append(out, p)
		}
	}
	return append(out, g.Dir)
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func isDir(path string) bool { fi, err := os.Stat(path); return err == nil && fi.IsDir() }

func isFile(path string) bool { fi, err := os.Stat(path); return err == nil && fi.Mode().IsRegular() }
