//go:build !linux

package sandbox

import (
	"context"

	"jig/internal/process"
)

// MachineKey names nothing here: the trial run is short, and nothing of it is kept.
func MachineKey(string, string) string { return "" }

// Try starts an init in a tier for real.
func Try(ctx context.Context, t Tier, binary, bwrap, temp string) error {
	l, err := Enter(t, Policy{Root: temp, Write: []string{temp}, Bwrap: bwrap}, binary)
	if err != nil {
		return err
	}
	w, err := process.Open(ctx, l)
	if err != nil {
		return err
	}
	return w.Close()
}
