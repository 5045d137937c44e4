package cli

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"jig/internal/config"
	"jig/internal/sandbox"
	"jig/internal/store"
	"jig/internal/tools/shell"
)

// check is one thing a run depends on, as it is here.
type check struct {
	name string
	look func(w World, s *survey, cfg *config.Config) (ok bool, detail string)
}

// checks are what jig doctor looks at, in its order.
var checks = []check{
	{"jig", func(w World, _ *survey, _ *config.Config) (bool, string) {
		if w.Binary == "" {
			return false, version + ", binary unknown: the system does not say where it is"
		}
		return true, fmt.Sprintf("%s, %s/%s, %s", version, w.GOOS, w.GOARCH, w.Binary)
	}},
	{"home", func(_ World, s *survey, _ *config.Config) (bool, string) {
		if s.noPlaces != nil {
			return false, s.noPlaces.Error()
		}
		return true, "config " + s.places.Config + ", state " + s.places.State
	}},
	{"project", func(_ World, s *survey, _ *config.Config) (bool, string) { return true, "root " + s.root }},
	{"config", checkConfig},
	{"trust", func(_ World, s *survey, _ *config.Config) (bool, string) {
		if bad := s.untrusted(); len(bad) > 0 {
			return false, bad[0].say()
		}
		return true, fmt.Sprintf("%d project folder(s) with configuration, none waiting for trust", len(s.levels))
	}},
	{"model", checkModel},
	{"keys", checkKeys},
	{"sessions", checkSessions},
	{"shell", checkShell},
	{"sandbox", checkSandbox},
	{"git", func(World, *survey, *config.Config) (bool, string) {
		path, err := exec.LookPath("git")
		if err != nil {
			return false, "git is not on PATH: jig works without it, most projects do not"
		}
		return true, path
	}},
	{"terminal", func(w World, _ *survey, _ *config.Config) (bool, string) {
		if !w.OutTerm {
			return true, "standard output is no terminal"
		}
		return true, map[bool]string{true: "with colour", false: "without colour (NO_COLOR or TERM=dumb)"}[w.color(true)]
	}},
}

func doctorCommand(w World) *cobra.Command {
	o := Options{}
	c := &cobra.Command{Use: "doctor", Short: "say what works here and what does not",
		Long: "Looks at what a run depends on, one line each. What is not as it should be is marked with !! and says what to do;\n" +
			"the exit code is 1 when there is any.",
		Args: takes(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error { return doctor(w, o) }}
	configFlags(c, &o)
	return c
}

func doctor(w World, o Options) error {
	s, err := look(w, o.Config, o.Trust)
	if err != nil {
		return err
	}
	cfg, _, _ := s.load(w) // as a start does, which may believe less than was trusted; its errors are the config line's
	var bad error
	for _, c := range checks {
		ok, detail := c.look(w, s, cfg)
		mark := "ok"
		if !ok {
			mark, bad = "!!", &ended{exitFailed}
		}
		if _, err := fmt.Fprintf(w.Out, "%s  %-9s %s\n", mark, c.name, config.ShownLine(detail)); err != nil {
			return err
		}
	}
	return bad
}

func checkConfig(_ World, s *survey, _ *config.Config) (bool, string) {
	_, warnings, err := config.Load(config.Input{Sources: s.sources, Env: s.env})
	switch {
	case err != nil:
		problem, _, more := strings.Cut(err.Error(), "\n")
		if more {
			problem += " (and more: jig config check)"
		}
		return false, problem
	case len(s.warnings) > 0:
		return false, s.warnings[0]
	case len(s.sources) == 0:
		return false, "none found: jig config init writes a first one"
	case len(warnings) > 0:
		return false, fmt.Sprintf("%d file(s), %d warning(s): jig config check", len(s.sources), len(warnings))
	}
	return true, fmt.Sprintf("%d file(s)", len(s.sources))
}

// checkModel is about what a bare jig would run.
func checkModel(w World, s *survey, cfg *config.Config) (bool, string) {
	if _, _, err := config.Load(config.Input{Sources: s.sources, Env: s.env}); err != nil {
		return false, "no agent runs before the configuration is right"
	}
	p, err := choose(s, cfg, Options{})
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return false, line
	}
	if _, err := openModel(w, p.resolved); err != nil {
		return false, err.Error()
	}
	return true, "the agent named default runs on " + p.resolved.ProviderName + ":" + p.resolved.ID
}

// checkShell is about what would run the commands of a shell toolset here.
func checkShell(w World, s *survey, cfg *config.Config) (bool, string) {
	p := newPlace(w, s, cfg)
	p.regime = nil // this line is not about the sandbox
	o, err := openShell(config.Tool{Name: "shell"}, p)
	if err != nil {
		return false, err.Error()
	}
	if name := o.(*shell.Shell).Interpreter(); name != "" && name != "(none)" {
		return true, name
	}
	return false, "no interpreter found: every command will fail (install bash, or set JIG_SHELL)"
}

// checkSandbox tries every tier for real, whatever was found before.
func checkSandbox(w World, s *survey, cfg *config.Config) (bool, string) {
	p := newPlace(w, s, cfg)
	// As for an agent with nothing but the shell's defaults. The answer of an earlier start is not what
	// was asked for.
	o := shell.Options{Root: p.root, Cwd: p.cwd, Home: p.home, Temp: p.temp, Cache: p.cache}
	r := p.regime(func(path string) bool { return path == s.sandboxFile() || shell.CouldWrite(o, path) })
	return r.report.Tier != sandbox.None, strings.Join(r.report.Lines(), "; ")
}

// checkSessions reads where the sessions are: a run that cannot keep its session does not begin.
func checkSessions(w World, _ *survey, _ *config.Config) (bool, string) {
	db, err := openStore(w)
	if errors.Is(err, errNoSessions) {
		return true, "none kept yet"
	}
	if err != nil {
		return false, err.Error()
	}
	defer closeStore(w, db)
	all, err := db.List(store.Query{})
	if err != nil {
		return false, err.Error()
	}
	return true, fmt.Sprintf("%d kept", len(all))
}

func checkKeys(w World, s *survey, cfg *config.Config) (bool, string) {
	var found []string
	for _, name := range cfg.ProviderNames() {
		if r, err := cfg.ResolveModel(name + ":x"); err == nil && r.KeySource != "" {
			found = append(found, name+" from "+r.KeySource)
		}
	}
	if found == nil {
		if works, _ := checkModel(w, s, cfg); works {
			return true, "none found, and the model of the agent named default needs none"
		}
		return false, "no provider has a key: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or use a server of your own"
	}
	return true, strings.Join(found, ", ")
}
