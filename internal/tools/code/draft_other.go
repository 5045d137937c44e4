//go:build !linux

package code

import (
	"errors"
	"os"
)

// nameless would create a file without a name; only Linux can.
func nameless(*os.Root, os.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

// christen is never reached, because no file is without a name.
func christen(*os.File, *os.Root, string) error { return errors.ErrUnsupported }
