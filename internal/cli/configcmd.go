package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"jig/internal/config"
)

func configCommand(w World) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "check, locate or begin the configuration",
		RunE: choice([]string{"check", "path", "init"}, "")}
	var o Options
	check := &cobra.Command{Use: "check", Short: "say everything that is wrong with the configuration",
		Args: takes(0, 0, "nothing"), RunE: func(*cobra.Command, []string) error { return configCheck(w, o) }}
	path := &cobra.Command{Use: "path", Short: "list the files that are read, farthest first",
		Args: takes(0, 0, "nothing"), RunE: func(*cobra.Command, []string) error { return configPath(w, o) }}
	begin := &cobra.Command{Use: "init", Short: "write a first config file",
		Long: "Writes a first config file, with an agent named default. On a terminal it says which models can be had here, by\n" +
			"keys in the environment and by servers on this machine's own ports, and asks which to use; elsewhere it asks no\n" +
			"port and takes the first key it finds.",
		Args: takes(0, 0, "nothing"), RunE: func(c *cobra.Command, _ []string) error { return configInit(c.Context(), w, o) }}
	for _, x := range []*cobra.Command{check, path} {
		configFlags(x, &o)
	}
	begin.Flags().StringVarP(&o.Config, "config", "c", "", "write this `file` instead of the user's")
	c.AddCommand(check, path, begin)
	return c
}

func configCheck(w World, o Options) error {
	s, cfg, err := load(w, o)
	if s == nil {
		return err
	}
	for _, src := range s.sources {
		if src.Trusted && !replaced(src, o) {
			fmt.Fprintln(w.Out, config.Shown(src.Path))
		}
	}
	for _, x := range cfg.Unset {
		w.warn("%s", x)
	}
	if err != nil {
		return err
	}
	if _, err := cfg.Agent("default"); err != nil {
		w.warn("there is no agent named default, so a bare jig has nothing to run: add agents.default")
	}
	warnTools(w, s, cfg)
	_, err = fmt.Fprintf(w.Out, "OK: %d provider(s), %d model(s), %d agent(s), %d mcp server(s)\n",
		len(cfg.Providers), len(cfg.Models), len(cfg.Agents), len(cfg.MCPServers))
	return err
}

// replaced says that a file does not count because -c names another.
func replaced(src config.Source, o Options) bool {
	return o.Config != "" && src.Kind == config.ConfigFile && src.Level != config.Flag
}

// warnTools says of every agent which of its tools would be left out.
func warnTools(w World, s *survey, cfg *config.Config) {
	p := newPlace(w, s, cfg)
	for _, name := range sortedKeys(cfg.Agents) {
		_, warnings := openTools(cfg.Agents[name].Tools.On, p)
		for _, x := range warnings {
			w.warn("agents.%s: %s", name, x)
		}
	}
}

// configPath lists where configuration may be, in the order of merging, and what is there.
func configPath(w World, o Options) error {
	s, err := look(w, o.Config, o.Trust)
	if err != nil {
		return err
	}
	if o.Config != "" {
		_, err := fmt.Fprintln(w.Out, config.Shown(s.sources[len(s.sources)-1].Path))
		return err
	}
	trusted := map[string]bool{}
	for _, l := range s.levels {
		trusted[l.dir] = l.trusted
	}
	dirs := config.ProjectLevels(w.GOOS, s.root, w.Cwd)
	if s.noPlaces == nil {
		dirs = append([]string{s.places.Config}, dirs...)
	}
	for i, dir := range dirs {
		path, note := filepath.Join(dir, "config.yaml"), ""
		switch {
		case !exists(path):
			note = " (missing)"
		case (i > 0 || s.noPlaces != nil) && !trusted[dir]:
			note = " (not trusted)"
		}
		if _, err := fmt.Fprintf(w.Out, "%s%s\n", config.Shown(path), note); err != nil {
			return err
		}
	}
	return nil
}
