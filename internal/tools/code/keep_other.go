//go:build !linux && !darwin

package code

import (
	"context"
	"os"
)

// single says whether a file has one name only: that is unknown, so files are written in place, which
// keeps all their names and the access list too.
func single(os.FileInfo) bool { return false }

// keep is never reached, because no file is known to be single.
func keep(_, _ *os.File) error { return os.ErrInvalid }

// lock does nothing here: the set's own mutex makes its writers take turns.
func lock(_ context.Context, dir *os.File) (unlock func()) { return func() { _ = dir.Close() } }
