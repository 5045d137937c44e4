package cli_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"jig/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"jig": func() { os.Exit(cli.Main(os.Args)) }})
}

// TestScripts tells what jig does as a person or a program meets it: each script is a folder, the
// commands given in it, and what comes out.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			home := e.WorkDir + "/home"
			e.Setenv("HOME", home)
			for _, k := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
				e.Setenv(k, "")
			}
			return os.MkdirAll(home, 0o755)
		},
	})
}
