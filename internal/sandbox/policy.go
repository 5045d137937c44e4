package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tier names a regime. The names appear in reports and in the manual.
type Tier string

// The regimes, strongest first.
const (
	Bwrap       Tier = "bwrap"      // bubblewrap: mounts, PID, IPC and network namespaces
	Namespaces  Tier = "namespaces" // the same namespaces made by jig, with Landlock for writes
	Landlock    Tier = "landlock"   // Landlock alone, with seccomp for the network
	SandboxExec Tier = "seatbelt"   // macOS: sandbox-exec with a profile made by jig
	None        Tier = "none"       // no confinement
)

// Policy is what commands may do, resolved: every path is absolute.
type Policy struct {
	Root    string   // the project root
	Write   []string // every place commands may write to, as WriteRoots gives them
	Network bool     // whether commands may use the network
	Home    string   // the user's home directory; its sockets are hidden. Empty: none is looked for
	Hide    []string // more files and folders to hide, where the tier can hide
	Git     Git      // the git directory that lies outside the root
	Bwrap   string   // where bubblewrap is; empty: not installed

	// abi lowers the Landlock version that is used; 0 is what the kernel has. Tests prove with it
	// that older kernels are confined as well.
	abi int
}

// Places is where the write list comes from. Empty fields are left out.
type Places struct {
	Root  string   // the project root
	Temp  string   // the run's directory for temporary files
	Cache string   // jig's own cache directory; created if missing
	Write []string // what the configuration adds, absolute
}

// WriteRoots gives the places commands may write to: the project root, the run's temporary
// directory, /tmp, the cache directory, then what the configuration adds. Two spellings of one
// place count once, the first as it was written. A place that does not exist is listed, and a
// backend leaves it out: making it would leave folders behind that nobody asked for.
func WriteRoots(p Places) []string {
	if p.Cache != "" {
		// a failure shows as a permission error of the command that needs it
		_ = os.MkdirAll(p.Cache, 0o700)
	}
	var shown, real []string
	for _, path := range append([]string{p.Root, p.Temp, systemTemp, p.Cache}, p.Write...) {
		if path == "" {
			continue
		}
		path = filepath.Clean(path)
		if r := resolve(path); !slices.Contains(real, r) {
			shown, real = append(shown, path), append(real, r)
		}
	}
	return shown
}

// TempDir gives the directory to put in TMPDIR: want where it is or can be made a directory that
// this user can write to, else the system's. A TMPDIR that names a folder somebody removed would
// fail every mktemp.
func TempDir(want string) string {
	if filepath.IsAbs(want) && os.MkdirAll(want, 0o700) == nil && mayWrite(want) {
		return filepath.Clean(want)
	}
	if systemTemp != "" {
		return systemTemp // what the environment names may be what was wanted
	}
	return os.TempDir()
}

// Writable reports whether commands under the policy could write to path, or replace it. What they
// could write is not to be trusted: a cached answer, a helper program, the binary itself.
func Writable(p Policy, path string) bool {
	real := resolve(path)
	for _, w := range p.Write {
		if within(resolve(w), real) {
			return true
		}
	}
	for _, w := range []string{p.Git.Dir, p.Git.Common} {
		if w != "" && within(resolve(w), real) {
			return true
		}
	}
	return false
}

// resolve follows symbolic links as far as the path exists and keeps the rest.
func resolve(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = up
	}
}

// within reports whether path is dir or lies below it. Both are clean and absolute.
func within(dir, path string) bool {
	if dir == path {
		return true
	}
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// outermost drops every path that lies below another of the list, keeping the order.
func outermost(paths []string) []string {
	var out []string
	for i, p := range paths {
		inside := false
		for j, q := range paths {
			if within(q, p) && (q != p || j < i) {
				inside = true
				break
			}
		}
		if !inside {
			out = append(out, p)
		}
	}
	return out
}
