package cli

import (
	"errors"
	"fmt"
)

// The exit codes. Scripts rely on them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError is a command line that cannot be meant: exit code 2.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, a ...any) error { return &usageError{fmt.Sprintf(format, a...)} }

// ended is an end that was already told: only its exit code is left to give.
type ended struct{ code int }

func (e *ended) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitCode is the rim where an error becomes a number.
func exitCode(err error) int {
	var e *ended
	var u *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	case errors.As(err, &u):
		return exitUsage
	}
	return exitFailed
}
