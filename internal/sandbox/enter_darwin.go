package sandbox

import (
	"fmt"
	"os"
	"syscall"

	"jig/internal/process"
)

// Command is the hidden command of the program that WardenMain is the entry of.
const Command = "warden"

// sandboxExec is part of the system and cannot be replaced, unlike a name on PATH.
const sandboxExec = "/usr/bin/sandbox-exec"

// Enter says how the init of a session is started in a regime. binary is this program.
func Enter(t Tier, p Policy, binary string) (process.Launch, error) {
	l := process.Launch{Path: binary, Args: []string{binary, Command}, Attr: &syscall.SysProcAttr{}}
	switch t {
	case None:
	case SandboxExec:
		profile, params := Seatbelt(p)
		args := []string{sandboxExec, "-p", profile}
		for _, param := range params {
			args = append(args, "-D", param)
		}
		l.Path, l.Args = sandboxExec, append(append(args, binary), Command)
	default:
		return process.Launch{}, fmt.Errorf("there is no %s on this system", t)
	}
	return l, nil
}

// WardenMain is the entry of the hidden warden command: it serves commands until its control socket
// closes. sandbox-exec has confined it before it started.
func WardenMain([]string) int { return process.Serve(os.NewFile(3, "control")) }

func notes(Tier) []string { return nil }
