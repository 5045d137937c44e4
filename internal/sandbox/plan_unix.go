//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// plan is what a backend does, worked out from a policy before anything is confined. It holds real
// paths that exist. The init receives it as its first message.
type plan struct {
	Tier    Tier
	Network bool
	Write   []string          // writable, none inside another
	Guard   []string          // read-only again, inside Write
	Shared  []string          // writable where Guard cannot be taken out again, instead of a shared git directory
	Hide    []string          // folders and sockets that are not to be seen; the outermost first
	Keep    []string          // seen all the same, inside Hide
	Links   map[string]string // symbolic links made again inside Hide, with what they say
	ABI     int               // the Landlock version to use; 0: what the kernel has
}

// planFor looks at the machine and works the policy out.
func planFor(t Tier, p Policy, binary string) (plan, error) {
	out := plan{Tier: t, Network: p.Network, ABI: p.abi}
	if t == None {
		return out, nil
	}
	var write []string
	for _, w := range p.places() {
		if exists(w.real) && !isMachine(w.real) {
			write = append(write, w.real)
		}
	}
	out.Write = outermost(write)
	if g := p.git(); g.Dir != "" {
		if err := out.addGit(g, t); err != nil {
			return plan{}, err
		}
	}
	if t == Landlock {
		return out, nil
	}
	out.addHidden(p)
	out.addKept(binary)
	return out, nil
}

// addGit makes a linked git directory writable, without what git would run.
func (o *plan) addGit(g Git, t Tier) error {
	if inside(o.Write, g.Common) || inside(o.Write, g.Dir) {
		return nil // part of a writable place, as the .git of an ordinary repository is
	}
	if t == Landlock {
		// What one rule allows no other takes away. A submodule's directory belongs to the root
		// alone and is opened whole; of a shared one only the parts that cannot run anything.
		if g.linked() {
			o.Write = outermost(append(o.Write, g.shared()...))
		} else {
			o.Write = outermost(append(o.Write, g.Dir))
		}
		return nil
	}
	if err := g.complete(); err != nil {
		return err
	}
	o.Guard = append(o.Guard, g.guarded()...)
	o.Write = outermost(append(o.Write, g.Common, g.Dir))
	if g.linked() {
		o.Shared = append(o.Shared, g.Dir) // writable again below the guarded worktrees folder
	}
	return nil
}

// complete makes what is guarded and absent, with what says nothing to git: a mount needs something
// to lie on, and what is not there could be made from inside. The other way, to open only folders
// that cannot run anything, would take deleting a branch and packing references.
func (g Git) complete() error {
	missing := []error{makeFolder(filepath.Join(g.Common, "hooks"), 0o755)}
	if g.linked() { // else it is the root's alone, as the .git folder of an ordinary repository
		missing = append(missing, makeFolder(filepath.Join(g.Common, "modules"), 0o755))
		for path, text := range g.placeholders() {
			missing = append(missing, makeFile(filepath.Dir(path), filepath.Base(path), text))
		}
	}
	for _, err := range missing {
		// what this user cannot make its commands cannot make either
		if err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, syscall.EROFS) {
			return err
		}
	}
	return nil
}

// addHidden lists what holds other programs' sockets. A place commands may write to, or that holds
// one, is not hidden, but for /run: what is writable below it is put back.
func (o *plan) addHidden(p Policy) {
	candidates := append([]string{"/run"}, p.Hide...)
	candidates = append(candidates, socketPlaces(p)...)
	var hide []string
	for _, path := range candidates {
		if !exists(path) {
			continue
		}
		real := resolve(path)
		if real == "/" || slices.Contains(o.Write, real) || slices.Contains(hide, real) {
			continue
		}
		holds := slices.ContainsFunc(o.Write, func(w string) bool { return within(real, w) })
		if holds && real != "/run" {
			continue
		}
		hide = append(hide, real)
	}
	slices.Sort(hide)
	o.Hide = outermost(hide)
}

// addKept puts back what programs need of a hidden folder and what cannot be talked to: the name
// servers' list, a distribution's links to its programs, the binary itself. Only files: what lies at
// these paths may be a link to a socket by now.
func (o *plan) addKept(binary string) {
	hidden := func(path string) bool {
		return slices.ContainsFunc(o.Hide, func(h string) bool { return within(h, path) })
	}
	for _, path := range []string{"/etc/resolv.conf", "/etc/hosts", "/etc/localtime", binary} {
		if real := resolve(path); path != "" && isPlain(real) && hidden(real) {
			o.Keep = append(o.Keep, real)
		}
	}
	for _, path := range []string{"/run/current-system", "/run/booted-system", "/run/opengl-driver"} {
		if to, err := os.Readlink(path); err == nil && hidden(path) {
			if o.Links == nil {
				o.Links = map[string]string{}
			}
			o.Links[path] = to
		}
	}
}

// socketPlaces looks for sockets of other programs where they use to be: /tmp and a few folders of
// the home directory. A folder that belongs to one program is named by its name; a socket that
// lies about is named itself.
func socketPlaces(p Policy) []string {
	var out []string
	for _, pattern := range []string{"tmux-*", "ssh-*", ".*-unix", "screens", ".screen", "gpg-*", "pulse-*",
		"dbus-*", "emacs*", "vscode-*", "keyring-*", "kde-*", "zellij-*", ".esd-*"} {
		names, _ := filepath.Glob(filepath.Join("/tmp", pattern)) // the patterns are ours
		out = append(out, names...)
	}
	look := socketLook{left: maxSocketLook}
	for _, folder := range []string{"/tmp", "/var/tmp", "/var/lib/mysql"} {
		out = append(out, look.in(folder, folder == "/tmp")...)
	}
	if p.Home != "" {
		for _, name := range []string{".ssh", ".gnupg", ".docker", ".docker/run", ".docker/desktop", ".1password",
			".colima/default", ".rd", ".local/share/keyrings", ".cache/keyring", ".config/tmux"} {
			out = append(out, look.in(filepath.Join(p.Home, name), false)...)
		}
	}
	return out
}

// maxSocketLook bounds how many names are looked at: a /tmp of a million files must not hold up the
// first command.
const maxSocketLook = 20_000

// socketLook is one search; left is how many names it may still look at.
type socketLook struct{ left int }

// in lists the sockets of a folder and, if deep, the folders in it that hold sockets.
func (l *socketLook) in(folder string, deep bool) []string {
	if l.left <= 0 {
		return nil
	}
	dir, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	entries, _ := dir.ReadDir(l.left)
	l.left -= len(entries)
	var out []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.Type()&os.ModeSocket != 0:
			out = append(out, path)
		case deep && e.IsDir():
			if len(l.in(path, false)) > 0 {
				out = append(out, path)
			}
		}
	}
	return out
}
