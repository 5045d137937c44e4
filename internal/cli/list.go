package cli

import (
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"jig/internal/agent"
	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/model/catalog"
)

// listing is one thing that can be listed. A row's first cell is the item's id. Sessions are listed
// without rows: they need no configuration, and there may be very many.
type listing struct {
	name, short string
	rows        func(w World, s *survey, cfg *config.Config, o Options) ([][]string, error)
}

var listings = []listing{
	{"agents", "agents and personas, with their model", agentRows},
	{"models", "the models: entries, and what is listed of providers with a key; context window, dollars for a million tokens", modelRows},
	{"providers", "where models are reached, and where the key comes from", providerRows},
	{"tools", "an agent's tools: how a call is shown, whether calls overlap, what is asked first", toolRows},
	{"sessions", "what was run, the newest first: when it was used last, how it stands, messages, agent, model, project, title", nil},
}

func listCommand(w World) *cobra.Command {
	o := Options{}
	var kinds []string
	var long strings.Builder
	for _, l := range listings {
		kinds = append(kinds, l.name)
		fmt.Fprintf(&long, "  %-10s %s\n", l.name, l.short)
	}
	want := strings.Join(kinds, ", ")
	c := &cobra.Command{
		Use:       "list [agents|models|providers|tools|sessions]",
		Short:     "list agents, models, providers, tools or sessions, one a line",
		Long:      "Lists one item a line, its id first:\n" + strings.TrimRight(long.String(), "\n"),
		Args:      takes(0, 1, "one of "+want),
		ValidArgs: kinds,
		RunE: func(c *cobra.Command, args []string) error {
			kind := "agents"
			if len(args) == 1 {
				kind = args[0]
			}
			for _, l := range listings {
				if l.name != kind {
					continue
				}
				if kind != "tools" && c.Flags().Changed("agent") {
					return usagef("--agent applies to jig list tools only")
				}
				if kind != "sessions" && c.Flags().Changed("project") {
					return usagef("--project applies to jig list sessions only")
				}
				return l.print(w, o)
			}
			return usagef("jig list has no %q (want %s)%s", kind, want, didYouMean(kind, kinds))
		},
	}
	c.Flags().StringVarP(&o.Agent, "agent", "a", "", "for tools: this `agent`'s")
	c.Flags().BoolVar(&o.Project, "project", false, "for sessions: those of this project alone")
	configFlags(c, &o)
	return c
}

func (l listing) print(w World, o Options) error {
	if l.rows == nil {
		return listSessions(w, o)
	}
	s, cfg, err := load(w, o)
	if err != nil {
		return err
	}
	rows, err := l.rows(w, s, cfg, o)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w.Out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i, cell := range r {
			r[i] = config.Shown(cell)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	return t.Flush()
}

func agentRows(_ World, _ *survey, cfg *config.Config, _ Options) ([][]string, error) {
	var rows [][]string
	for _, name := range sortedKeys(cfg.Agents) {
		a := cfg.Agents[name]
		note := a.Description
		if note == "" {
			note = a.Label
		}
		if a.Unconfined() {
			note = strings.TrimSpace("unconfined " + note)
		}
		rows = append(rows, []string{name, strings.Join(a.ModelRefs(), ","), note})
	}
	return rows, nil
}

func modelRows(_ World, _ *survey, cfg *config.Config, _ Options) ([][]string, error) {
	var rows [][]string
	for _, name := range sortedKeys(cfg.Models) {
		m := catalog.Model{}
		if r, err := cfg.ResolveModel(name); err == nil {
			m = known(r)
		}
		rows = append(rows, modelRow(name, cfg.Models[name].Provider+":"+cfg.Models[name].ID, m))
	}
	for _, name := range cfg.ProviderNames() {
		r, err := cfg.ResolveModel(name + ":x")
		if err != nil || r.KeySource == "" {
			continue
		}
		for _, m := range catalog.List(addressOf(r)) {
			rows = append(rows, modelRow(name+":"+m.ID, "listed on "+catalog.Date(), m))
		}
	}
	return rows, nil
}

// modelRow is a model with its window and its price; - is not known.
func modelRow(id, from string, m catalog.Model) []string {
	row := []string{id, from, "-", "-"}
	if m.Window > 0 {
		row[2] = windowNote(m.Window)
	}
	if m.Price != nil {
		row[3] = priceNote(m.Price)
	}
	return row
}

func providerRows(_ World, _ *survey, cfg *config.Config, _ Options) ([][]string, error) {
	var rows [][]string
	for _, name := range cfg.ProviderNames() {
		r, err := cfg.ResolveModel(name + ":x")
		if err != nil {
			rows = append(rows, []string{name, "", err.Error()})
			continue
		}
		kind := r.Provider.Type
		if dialects[kind] == nil {
			kind += " (not in this build)"
		}
		rows = append(rows, []string{name, kind, keyNote(r), address(r)})
	}
	return rows, nil
}

// address is where a provider is reached, without what may be a secret in it.
func address(r config.Resolved) string {
	if r.Provider.Type == "replay" || r.Provider.URL == "" {
		return config.Shown(r.Provider.URL)
	}
	u, err := url.Parse(r.Provider.URL)
	if err != nil {
		return "(no address)"
	}
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return config.Shown(plain.String())
}

// keyNote says where a provider's key comes from; never what it is.
func keyNote(r config.Resolved) string {
	switch {
	case r.KeySource != "":
		return "[key: " + r.KeySource + "]"
	case len(r.KeyNames) == 0:
		return "[no key needed]"
	}
	return "[no key: set " + strings.Join(r.KeyNames, " or ") + "]"
}

func toolRows(w World, s *survey, cfg *config.Config, o Options) ([][]string, error) {
	a, err := toolsOf(cfg, o.Agent)
	if err != nil {
		return nil, err
	}
	owners, warnings := ownersOf(a, newPlace(w, s, cfg), &host.Goals{})
	for _, x := range warnings {
		w.warn("%s", x)
	}
	table, err := agent.Bind(owners...)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, t := range table.Specs() {
		asks := "never asks"
		if len(t.Asks) > 0 {
			asks = "asks"
		}
		rows = append(rows, []string{t.Name, string(t.Show), "parallel: " + t.Together, asks})
	}
	return rows, nil
}
