package sandbox

import "strings"

// Describe states the regime in the words a model reads: what was entered, not what was wished for.
func Describe(t Tier, p Policy) string {
	if t == None || t == "" {
		return "Commands run WITHOUT a sandbox on this system, with the user's full permissions — be conservative."
	}
	network := "network access is BLOCKED."
	if p.Network {
		network = "network access is allowed."
	}
	s := "Commands run inside an OS sandbox: file writes are confined to the project root and temp/cache directories" +
		" (writes elsewhere fail with permission errors), and " + network
	var open []string
	for _, w := range p.places() {
		open = append(open, w.name)
	}
	s += " Writable: " + strings.Join(open, ", ") + "."
	if p.Network {
		return s
	}
	if t == Landlock || t == SandboxExec {
		return s + " Even connections to localhost fail here; unix sockets work."
	}
	return s + " Servers you start are reachable on localhost by your later commands."
}
