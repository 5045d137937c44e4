package sandbox

import (
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
	// Real is what each place of Write stood for when the session began, as Settle found it; what is
	// missing is refused. nil: the places are resolved when they are asked for.
	Real  map[string]string
	Bwrap string // where bubblewrap is; empty: not installed

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
// backend leaves it out: making it would leave folders behind that nobody asked for. Settle says
// which of them can be believed.
func WriteRoots(p Places) []string {
	var all, shown, real []string
	for _, path := range append([]string{p.Root, p.Temp, systemTemp, p.Cache}, p.Write...) {
		if path != "" {
			all = append(all, filepath.Clean(path))
		}
	}
	believed := settle(all)
	for _, path := range all {
		r, ok := believed[path]
		if slices.Contains(shown, path) || ok && slices.Contains(real, r) {
			continue
		}
		shown = append(shown, path)
		// a link that is believed for where it leads to must not stand for that place alone
		_, links := trace(path)
		if ok && (!leads(links, among(believed, "")) || inside(among(believed, r), r)) {
			real = append(real, r)
		}
	}
	if p.Cache != "" {
		// a failure shows as a permission error of the command that needs it
		if real := believed[filepath.Clean(p.Cache)]; real != "" {
			_ = makeFolder(real, 0o700)
		}
	}
	return shown
}

// among lists the real places but one.
func among(places map[string]string, but string) []string {
	var out []string
	for _, real := range places {
		if real != but {
			out = append(out, real)
		}
	}
	return out
}

// Writable reports whether commands under the policy could write to path, or replace it. What they
// could write is not to be trusted: a cached answer, a helper program, the binary itself.
func Writable(p Policy, path string) bool {
	var open []string
	for _, w := range p.places() {
		open = append(open, w.real)
	}
	for _, real := range p.Real { // also what was replaced since: it was writable until then
		open = append(open, real)
	}
	if p.Git.Dir != "" {
		open = append(open, p.Git.Dir, p.Git.Common)
	}
	real, links := trace(path)
	return inside(open, real) || leads(links, open) || leads(links, []string{sharedMemory})
}

// isMachine reports whether a real path is the machine itself rather than a place for files. None of
// these is opened, whatever names it: the init reads its own /proc, and what could be set there and in
// /sys is not the commands'.
func isMachine(real string) bool {
	return real == "/dev" || within("/proc", real) || within("/sys", real)
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
