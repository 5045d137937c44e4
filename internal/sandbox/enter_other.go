//go:build !linux && !darwin

package sandbox

import (
	"fmt"
	"os"

	"jig/internal/process"
)

// Command is the hidden command of the program that WardenMain is the entry of.
const Command = "warden"

// Enter gives the empty launch for None, the only regime of this system.
func Enter(t Tier, _ Policy, binary string) (process.Launch, error) {
	if t != None {
		return process.Launch{}, fmt.Errorf("there is no %s on this system", t)
	}
	return process.Launch{Path: binary, Args: []string{binary, Command}}, nil
}

// WardenMain refuses: commands are started directly on this system.
func WardenMain([]string) int {
	fmt.Fprintln(os.Stderr, "there is no warden on this system")
	return 2
}

func notes(Tier) []string { return nil }
