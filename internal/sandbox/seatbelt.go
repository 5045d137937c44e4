package sandbox

import (
	"fmt"
	"strings"
)

// Seatbelt gives the profile for macOS' sandbox-exec and its parameters, as NAME=value. Paths are
// parameters, never part of the text, so that no path can end a string and go on as a rule. The
// system compares real paths: /tmp is /private/tmp there, and both are listed.
func Seatbelt(p Policy) (profile string, params []string) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	param := func(name, path string) string {
		params = append(params, name+"="+path)
		return fmt.Sprintf("(param %q)", name)
	}

	line("(version 1)")
	line("(allow default)")
	line("; nothing is written but below the listed places and to what is no file")
	line("(deny file-write*)")
	line("(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\")")
	line("  (literal \"/dev/random\") (literal \"/dev/urandom\") (literal \"/dev/ptmx\") (regex #\"^/dev/ttys[0-9]+$\") (literal \"/dev/dtracehelper\"))")
	line("(allow file-ioctl (literal \"/dev/tty\") (literal \"/dev/ptmx\") (regex #\"^/dev/ttys[0-9]+$\") (literal \"/dev/dtracehelper\"))")
	line("(allow file-write* (subpath \"/dev/fd\"))")
	n := 0
	for _, w := range p.places() {
		for _, spelling := range seatbeltSpellings(w) {
			line("(allow file-write* (subpath %s))", param(fmt.Sprintf("WRITE_%d", n), spelling))
			n++
		}
	}
	if g := p.git(); g.Dir != "" {
		line("; a linked git directory, but for what git runs")
		line("(allow file-write* (subpath %s))", param("GIT_COMMON", g.Common))
		line("(allow file-write* (subpath %s))", param("GIT_DIR", g.Dir))
		for i, path := range seatbeltGuarded(g) {
			name := fmt.Sprintf("GIT_GUARD_%d", i)
			line("(deny file-write* (literal %s) (subpath (param %q)))", param(name, path), name)
		}
	}
	line("; processes outside are neither signalled nor read")
	line("(deny signal)")
	line("(allow signal (target same-sandbox))")
	line("(deny process-info*)")
	line("(allow process-info* (target same-sandbox))")
	line("(deny mach-priv-task-port)")
	line("; nobody outside is asked to act for us")
	line("(deny appleevent-send)")
	line("(deny lsopen)")
	line("(deny job-creation)")
	hide := func(i int) string { return fmt.Sprintf("HIDE_%d", i) }
	for i, path := range p.Hide {
		line("(deny file-read* (literal %s) (subpath (param %q)))", param(hide(i), path), hide(i))
	}
	if p.Network {
		return b.String(), params
	}
	line("; no network, loopback included: it is the machine's; unix sockets below the listed places")
	line("(deny network*)")
	line("(deny system-socket)")
	for i := range n {
		line("(allow network* (subpath (param \"WRITE_%d\")))", i)
	}
	line("(deny network* (regex #\"^/private/tmp/com[.]apple[.]launchd[.]\"))")
	for i := range p.Hide {
		line("(deny network* (literal (param %q)) (subpath (param %q)))", hide(i), hide(i))
	}
	return b.String(), params
}

// seatbeltSpellings gives a path as written and as the system sees it.
func seatbeltSpellings(w writePlace) []string {
	path := w.name
	out := []string{path}
	for _, link := range []string{"/tmp", "/var", "/etc"} {
		if within(link, path) {
			out = append(out, "/private"+path)
		}
	}
	if real := w.real; real != path && (len(out) == 1 || out[1] != real) {
		out = append(out, real)
	}
	return out
}

// seatbeltGuarded is what git runs. The profile may name what does not exist.
func seatbeltGuarded(g Git) []string {
	out := []string{g.Common + "/hooks", g.Common + "/config", g.Common + "/config.worktree"}
	if g.linked() {
		out = append(out, g.Common+"/commondir", g.Common+"/modules")
		out = append(out, g.Dir+"/hooks", g.Dir+"/config", g.Dir+"/config.worktree", g.Dir+"/commondir", g.Dir+"/gitdir")
	}
	return out
}
