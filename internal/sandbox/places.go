package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A name in a place that commands may write to belongs to the commands: what was a folder of the
// project is a link to the home directory after the next call. So names are resolved once, when a
// session begins, and count later only while they still lead to the same place. And a name that
// leads through a link which a command could have made, in an earlier session, counts only when it
// ends where commands may write anyway.

// Settle fixes what the names of a policy stand for, once, before the first command runs: Real and
// Git of the result. A place that is refused is left out of Real.
func Settle(p Policy) Policy {
	git := FindGit(p.Root)
	p.Real = settle(p.names(), git.Dir, git.Common)
	// What lies in a writable place is writable already. A git directory of which only a part does
	// was put together by somebody, and opening the rest would widen what commands may write.
	p.Git = git
	for _, real := range p.Real {
		if git.Dir != "" && (within(real, git.Dir) || within(real, git.Common)) {
			p.Git = Git{}
		}
	}
	return p
}

// names are the places that are asked for.
func (p Policy) names() []string {
	if len(p.Write) == 0 && p.Root != "" {
		return []string{p.Root}
	}
	return p.Write
}

// writePlace is a writable place.
type writePlace struct{ name, real string }

// places gives what commands may write to now: what was settled and still leads to the same place.
func (p Policy) places() []writePlace {
	known := p.Real
	if known == nil {
		known = settle(p.names(), p.Git.Dir, p.Git.Common)
	}
	var out []writePlace
	for _, name := range p.names() {
		if real := known[name]; real != "" && resolve(name) == real {
			out = append(out, writePlace{name, real})
		}
	}
	return out
}

// git gives the git directory while its names lead to the same place, and nothing else.
func (p Policy) git() Git {
	if p.Git.Dir == "" || resolve(p.Git.Dir) != p.Git.Dir || resolve(p.Git.Common) != p.Git.Common {
		return Git{}
	}
	return p.Git
}

// sharedMemory is writable in the tier without mounts, although no list names it.
const sharedMemory = "/dev/shm"

// settle resolves names and leaves out those that a command could have turned elsewhere. also names
// more places that commands write to.
//
// Which links a command could have made depends on which places are writable, and that on which
// links are believed. It is worked out from what needs no belief: places without such links. Where
// two places speak for one another against each other, both are refused.
func settle(names []string, also ...string) map[string]string {
	also = append(slices.DeleteFunc(slices.Clone(also), func(s string) bool { return s == "" }), sharedMemory)
	type candidate struct {
		writePlace
		links []string
	}
	out := map[string]string{}
	var left, held []candidate
	var open []string
	accept := func(c candidate) { out[c.name] = c.real; open = append(open, c.real) }
	for _, name := range names {
		real, links := trace(name)
		if c := (candidate{writePlace{name, real}, links}); len(links) == 0 {
			accept(c)
		} else {
			left = append(left, c)
		}
	}
	for len(left) > 0 {
		// what lies in a place that is writable for sure
		var rest []candidate
		for _, c := range left {
			if leads(c.links, also) || leads(c.links, open) {
				held = append(held, c)
			} else {
				rest = append(rest, c)
			}
		}
		// the next one that none of the others could have made
		next := slices.IndexFunc(rest, func(c candidate) bool {
			return !slices.ContainsFunc(rest, func(d candidate) bool { return d.name != c.name && leads(c.links, []string{d.real}) })
		})
		if next < 0 {
			break
		}
		accept(rest[next])
		left = slices.Delete(rest, next, next+1)
	}
	for _, c := range held {
		if inside(open, c.real) {
			out[c.name] = c.real
		}
	}
	return out
}

// leads reports whether one of the links lies in one of the places.
func leads(links, places []string) bool {
	return slices.ContainsFunc(links, func(link string) bool { return inside(places, link) })
}

// inside reports whether path lies in one of the places.
func inside(places []string, path string) bool {
	return slices.ContainsFunc(places, func(p string) bool { return within(p, path) })
}

// mostLinks is how many links a path may lead through; the kernel takes 40.
const mostLinks = 40

// trace follows a path as the kernel does, as far as it exists, and keeps the rest. links are the
// symbolic links on the way that this user could have put there.
func trace(path string) (real string, links []string) {
	path = filepath.Clean(path)
	if runtime.GOOS == "windows" || !filepath.IsAbs(path) {
		return evaluate(path), nil
	}
	const slash = string(filepath.Separator)
	real = slash
	rest := strings.Split(path, slash)
	for n := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		at := filepath.Join(real, name)
		to, err := os.Readlink(at)
		if err != nil {
			real = at
			continue
		}
		if couldChange(real) {
			links = append(links, at)
		}
		if n++; n > mostLinks { // a circle: nothing opens it
			return filepath.Join(at, filepath.Join(rest...)), links
		}
		if filepath.IsAbs(to) {
			real = slash
		}
		rest = append(strings.Split(to, slash), rest...)
	}
	return real, links
}

// resolve follows symbolic links as far as the path exists and keeps the rest.
func resolve(path string) string {
	real, _ := trace(path)
	return real
}

// evaluate is resolve where paths have volumes.
func evaluate(path string) string {
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
