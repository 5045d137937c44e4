//go:build unix && !linux

package cli_test

import "github.com/rogpeppe/go-internal/testscript"

// shellCommands are what scripts can do where commands can be confined as on Linux.
var shellCommands map[string]func(ts *testscript.TestScript, neg bool, args []string)
