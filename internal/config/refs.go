package config

import (
	"fmt"
	"slices"
	"strings"
)

// ownReferences checks the names an agent itself writes. It tells whether all exist.
func (r *resolver) ownReferences(a *Agent) bool {
	ok := true
	bad := func(key, at string, format string, args ...any) {
		ok = false
		r.refuse(a, a.At(key), r.coordinate(a, at), format, args...)
	}
	if a.Has("model") && a.Model != "" {
		if msg := r.modelProblem(a.Model); msg != "" {
			bad("model", "model", "%s", msg)
		}
	}
	for i, ref := range a.Models {
		key := fmt.Sprintf("models[%d]", i)
		if msg := r.modelProblem(ref); msg != "" {
			bad(key, "models", "%s", msg)
		}
	}
	for i, name := range a.MCPServers.List {
		if _, found := r.cfg.MCPServers[name]; !found && !r.refused[name] {
			bad(fmt.Sprintf("mcp_servers[%d]", i), "mcp_servers", "\"%s\" is not defined under the top-level mcp_servers%s", Shown(name), wantNames(name, sorted(r.cfg.MCPServers)))
		}
	}
	if _, found := r.cfg.Environments[a.Environment]; !found && a.Environment != "" && a.Environment != "local" {
		bad("environment", "environment", "\"%s\" is not defined under the top-level environments%s", Shown(a.Environment), wantNames(a.Environment, append(sorted(r.cfg.Environments), "local")))
	}
	for _, name := range sorted(a.Subagents.Defined) {
		s := a.Subagents.Defined[name]
		for i, ref := range s.LaunchModels {
			if msg := r.modelProblem(ref); msg != "" {
				ok = false
				key := fmt.Sprintf("launch_models[%d]", i)
				r.refuse(a, s.At(key), r.coordinate(a, "subagents")+"."+coord(name, "launch_models"), "%s", msg)
			}
		}
	}
	return ok
}

// checkReferences checks the references of entries that are no agents.
func (l *loader) checkReferences() {
	l.persona = false
	if l.lost {
		return
	}
	for _, name := range sorted(l.cfg.Models) {
		m := l.cfg.Models[name]
		if m.Provider == "" || l.cfg.hasProvider(m.Provider) {
			continue
		}
		if !m.Has("provider") {
			l.fail(m.Pos, coord("models", name)+".provider", "the provider is missing, and \"%s\" is none itself%s", Shown(name), wantNames(name, l.cfg.ProviderNames()))
			continue
		}
		l.fail(m.At("provider"), coord("models", name)+".provider", "unknown provider \"%s\"%s", Shown(m.Provider), wantNames(m.Provider, l.cfg.ProviderNames()))
	}
}

// modelProblem says what is wrong with a reference to a model, or nothing.
func (l *loader) modelProblem(ref string) string {
	_, err := l.cfg.lookup(ref)
	if err != nil {
		return err.Error()
	}
	return ""
}

func (c *Config) hasProvider(name string) bool {
	_, ok := c.Providers[name]
	return ok || slices.Contains(ProviderTypes(), name)
}

// ProviderNames lists the providers that can be named: those configured and those that
// are there by themselves.
func (c *Config) ProviderNames() []string {
	names := sorted(c.Providers)
	for _, t := range ProviderTypes() {
		if !slices.Contains(names, t) {
			names = append(names, t)
		}
	}
	slices.Sort(names)
	return names
}

// lookup finds what a reference names, without the provider's settings.
func (c *Config) lookup(ref string) (Model, error) {
	if m, ok := c.Models[ref]; ok {
		return m, nil
	}
	provider, id, colon := strings.Cut(ref, ":")
	switch {
	case !colon:
		return Model{}, fmt.Errorf("unknown model \"%s\"%s", Shown(ref), modelHint(ref, sorted(c.Models)))
	case !c.hasProvider(provider):
		return Model{}, fmt.Errorf("unknown provider \"%s\" in \"%s\"%s", Shown(provider), Shown(ref), wantNames(provider, c.ProviderNames()))
	case strings.TrimSpace(id) == "":
		return Model{}, fmt.Errorf("\"%s\" names no model: want provider:id", Shown(ref))
	case id == "*":
		return Model{}, fmt.Errorf("\"%s\" is a wildcard and names no model: write the id in full", Shown(ref))
	}
	return Model{Provider: provider, ID: id}, nil
}

func modelHint(ref string, names []string) string {
	if len(names) == 0 {
		return " (want provider:id, or the name of a models: entry, of which there are none)"
	}
	return suggestion(ref, names) + " (want provider:id, or a models: entry: " + strings.Join(names, ", ") + ")"
}
