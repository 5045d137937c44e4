//go:build unix

package sandbox

import (
	"fmt"
	"maps"
	"os"
	"slices"
)

// bwrapArgs is bubblewrap's argument vector for a plan. Order counts: what comes later lies on top.
//
// --die-with-parent is not used: it watches the thread that started it, and Go ends threads. The
// init sees its socket close instead.
//
// What it runs is the program behind the first descriptor that it inherits, with the arguments. A
// name of that descriptor would do, but for the program's own name, which is seen in lists.
func bwrapArgs(o plan, masks []string, arguments ...string) []string {
	args := []string{"bwrap"}
	add := func(a ...string) { args = append(args, a...) }
	bind := func(how, path string) { add(how, path, path) }

	base := "--ro-bind"
	if slices.Contains(o.Write, "/") {
		base = "--bind"
	}
	bind(base, "/")
	const program = "/dev/jig"
	add("--dev", "/dev", "--symlink", "/proc/self/fd/4", program, "--perms", "1777", "--tmpfs", "/dev/shm", "--proc", "/proc")
	// bubblewrap itself covers only what looks writable from above, which /proc/sys does not
	for _, path := range masks {
		bind("--ro-bind", path)
	}
	// what holds a writable place is hidden first, so that the place can be put back into it
	var before, after []string
	for _, path := range o.Hide {
		if slices.ContainsFunc(o.Write, func(w string) bool { return w != "/" && within(w, path) }) {
			after = append(after, path)
		} else {
			before = append(before, path)
		}
	}
	hide := func(paths []string) {
		for _, path := range paths {
			if isDir(path) {
				add("--perms", permissions(path), "--tmpfs", path)
			} else {
				add("--ro-bind", "/dev/null", path)
			}
		}
	}
	hide(before)
	for _, path := range o.Write {
		switch {
		case path == "/":
		case within("/dev", path): // --bind would make a device of it that cannot be opened
			bind("--dev-bind", path)
		default:
			bind("--bind", path)
		}
	}
	hide(after)
	for _, path := range o.Keep {
		bind("--ro-bind-try", path)
	}
	for _, link := range slices.Sorted(maps.Keys(o.Links)) {
		add("--symlink", o.Links[link], link)
	}
	for _, path := range o.Guard {
		bind("--ro-bind", path)
	}
	for _, path := range o.Shared {
		bind("--bind", path)
	}
	for _, path := range o.guardedAgain() {
		bind("--ro-bind", path)
	}
	for _, path := range before {
		if isDir(path) {
			add("--remount-ro", path)
		}
	}
	add("--unshare-pid", "--unshare-ipc")
	if !o.Network {
		add("--unshare-net")
	}
	// as root bubblewrap leaves every capability where it was, and a remount undoes it all
	add("--cap-drop", "ALL", "--as-pid-1", "--chdir", "/", "--", program)
	return append(args, arguments...)
}

// permissions of a folder, as bubblewrap wants them. What hides a folder gets the same: tmux and X
// refuse a folder of theirs with others.
func permissions(path string) string {
	fi, err := os.Stat(path)
	if err != nil {
		return "0755"
	}
	mode := fi.Mode().Perm()
	if fi.Mode()&os.ModeSticky != 0 {
		mode |= 0o1000
	}
	return fmt.Sprintf("%04o", mode)
}

// guardedAgain is what stays read-only inside what was opened again below a guarded folder.
func (o plan) guardedAgain() []string {
	var out []string
	for _, path := range o.Guard {
		if slices.ContainsFunc(o.Shared, func(s string) bool { return s != path && within(s, path) }) {
			out = append(out, path)
		}
	}
	return out
}
