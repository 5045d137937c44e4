//go:build unix

package cli_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"jig/internal/cli"
)

func TestMain(m *testing.M) {
	// Scripts wait more than they work, so there may be more of them than processors. The command
	// line has the last word.
	_ = flag.Set("test.parallel", "4")
	testscript.Main(m, map[string]func(){"jig": func() { os.Exit(cli.Main(os.Args)) }})
}

// TestScripts tells what jig does as a person or a program meets it: each script is a folder, the
// commands given in it, and what comes out.
func TestScripts(t *testing.T) {
	p := testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("JIG_UPDATE_SCRIPTS") != "",
		Setup:               setUp,
		Cmds:                allCommands(),
	}
	testscript.Run(t, p)
}

// blank are the variables that would let the machine's own settings into a script.
var blank = []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "LOCAL_API_KEY",
	"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"}

func setUp(e *testscript.Env) error {
	home := e.WorkDir + "/home"
	e.Setenv("HOME", home)
	e.Setenv("TERM", "xterm")
	// How long what may be left behind sleeps: nothing else on the machine does for just as long.
	e.Setenv("NAP", fmt.Sprintf("300.%09d", rand.IntN(1e9)))
	e.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // the race detector's second at each exit
	for _, k := range blank {
		e.Setenv(k, "")
	}
	e.Setenv("JIG_TEST_PORTS", "none") // what listens on the machine's own is none of a script's business
	e.Values[stageKey{}] = &stage{t: e.T().(testing.TB), servers: map[string]*server{}, listeners: map[string]*listener{}, vars: e.Vars}
	return os.MkdirAll(home, 0o755)
}

// scriptCommands are what scripts can do besides testscript's own commands.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	// running
	"exits": cmdExits, "nobody": cmdNobody, "terminal": cmdTerminal, "interrupt": cmdInterrupt,
	"open": cmdOpen, "send": cmdSend, "close": cmdClose,
	// files
	"bytes": cmdBytes, "grow": cmdGrow, "many": cmdMany, "fifo": cmdFifo, "socket": cmdSocket,
	"link": cmdLink, "age": cmdAge, "mode": cmdMode, "length": cmdLength, "drop": cmdDrop,
	// a model
	"serve": cmdServe, "asked": cmdAsked, "sent": cmdSent, "rounds": cmdRounds, "keeps": cmdKeeps, "cached": cmdCached, "narrow": cmdNarrow,
	// the manual
	"manual": cmdManual,
	// the way to it
	"secure": cmdSecure, "proxy": cmdProxy, "seen": cmdSeen, "userinfo": cmdUserinfo,
}

func allCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := maps.Clone(scriptCommands)
	maps.Copy(all, shellCommands)
	maps.Copy(all, firstCommands)
	maps.Copy(all, sessionCommands)
	maps.Copy(all, compactCommands)
	maps.Copy(all, historyCommands)
	maps.Copy(all, resumeCommands)
	return all
}

// stage is what one script has going on.
type stage struct {
	t         testing.TB
	vars      []string
	servers   map[string]*server
	between   network
	listeners map[string]*listener
	talk      *talk
}

type stageKey struct{}

func on(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

// environ is the script's environment as it is now.
func (s *stage) environ(ts *testscript.TestScript) []string {
	var out []string
	names := []string{"NO_COLOR", "LIAR", "SECRET", "JIG_TEST_TIER", "JIG_TEST_YIELD", "JIG_TEST_HASTE", "JIG_TEST_LATER", "JIG_CALL", "AWAY"}
	for _, kv := range s.vars {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	for name := range s.servers {
		names = append(names, name)
	}
	for _, name := range names {
		if v := ts.Getenv(name); v != "" && strings.Trim(name, "/:$") != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// takes ends a script whose command is misused.
func takes(ts *testscript.TestScript, neg bool, args []string, least, most int, usage string) {
	if neg || len(args) < least || most >= 0 && len(args) > most {
		ts.Fatalf("usage: %s", usage)
	}
}
