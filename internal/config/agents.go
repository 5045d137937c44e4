package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

func (x *Agent) check(l *loader, at string) bool {
	if x.Has("model") && x.Has("models") {
		l.fail(x.At("models"), coord(at, "models"), "want model or models, not both")
	}
	if x.Has("model") && strings.TrimSpace(x.Model) == "" && !x.unsetEmpty("model", x.Model) && !x.bad["model"] {
		l.fail(x.At("model"), coord(at, "model"), "the model is empty: want provider:id or the name of a models: entry")
	}
	if x.Has("models") && len(x.Models) == 0 && !x.bad["models"] {
		l.fail(x.At("models"), coord(at, "models"), "the list is empty: want provider:id or names of models: entries, best first")
	}
	if x.Has("system") && x.Has("system_file") {
		l.fail(x.At("system_file"), coord(at, "system_file"), "want system or system_file, not both")
	}
	x.SystemFile = l.env.absolute(x.dir, x.SystemFile)
	l.covered(x.SystemFile, x.At("system_file"), coord(at, "system_file"))
	return true
}

// covered refuses a file that a project's configuration names outside its own folder: what a person
// trusts is the folder, and a file elsewhere could change without their being asked again.
func (l *loader) covered(path string, p Pos, at string) {
	dir := l.src.Dir
	if l.persona {
		dir = Parent(l.env.GOOS, dir)
	}
	if l.src.Level == Project && path != "" && !samePath(l.env.GOOS, Parent(l.env.GOOS, path), Clean(l.env.GOOS, dir)) {
		l.fail(p, at, "in a project's configuration this must be a file directly in its %s folder, which is what was trusted", LevelDir)
	}
}

// define adds an agent to those of its name. Within a level the config entry goes
// before the persona.
func (l *loader) define(a *Agent) {
	defs := l.defs[a.Name]
	if last := len(defs) - 1; last >= 0 && defs[last].rank == a.rank {
		winner, loser := a, defs[last]
		if a.IsPersona && !loser.IsPersona {
			winner, loser = loser, winner
		}
		if winner.IsPersona != loser.IsPersona {
			l.warnings = append(l.warnings, Warning{loser.Pos, "", fmt.Sprintf("the agents: entry \"%s\" of the same level (%s) goes first (persona left out)", loser.Name, winner.Pos), true})
		}
		defs[last] = winner
		return
	}
	l.defs[a.Name] = append(defs, a)
}

// step is one definition of a name: the nearest is the last.
type step struct {
	name  string
	index int
}

// resolver follows extends through all agents.
type resolver struct {
	*loader
	done map[step]*Agent // nil: cannot be used
	path []step
}

// resolveAgents completes each agent with what it extends and drops what cannot be used.
func (l *loader) resolveAgents() {
	r := &resolver{loader: l, done: map[step]*Agent{}}
	for _, name := range sorted(l.defs) {
		if a := r.nearest(name, len(l.defs[name])-1); a != nil {
			l.cfg.Agents[name] = *a
		}
	}
}

// nearest gives the nearest usable definition of a name at or below an index.
func (r *resolver) nearest(name string, index int) *Agent {
	for ; index >= 0; index-- {
		if a := r.resolve(step{name, index}); a != nil {
			return a
		}
		if !r.defs[name][index].IsPersona {
			return nil // its problem fails the load; nothing farther may stand in for it
		}
	}
	return nil
}

func (r *resolver) resolve(s step) *Agent {
	if a, ok := r.done[s]; ok {
		return a
	}
	own := r.defs[s.name][s.index]
	r.path = append(r.path, s)
	a := r.complete(own, s)
	r.path = r.path[:len(r.path)-1]
	r.done[s] = a
	return a
}

func (r *resolver) complete(own *Agent, s step) *Agent {
	r.persona = own.IsPersona
	ok := r.ownReferences(own)
	if !ok && own.IsPersona {
		return nil
	}
	out := *own
	if own.Extends == "" {
		if own.IsPersona && !own.Tools.Declared {
			for _, name := range personaTools(own.Subagents.Any()) {
				out.Tools.On = append(out.Tools.On, Tool{Name: name, Pos: own.Pos, env: r.env})
			}
		}
		return &out
	}
	base := r.base(own, s)
	if base == nil {
		return nil
	}
	inherit(&out, base)
	return &out
}

// base finds what an agent extends. An agent that extends its own name means the next
// farther definition of it.
func (r *resolver) base(own *Agent, s step) *Agent {
	name, index := own.Extends, len(r.defs[own.Extends])-1
	if name == s.name {
		index = s.index - 1
	}
	at, pos := r.coordinate(own, "extends"), own.At("extends")
	if index < 0 {
		if name == s.name {
			r.refuse(own, pos, at, "it extends itself, and there is no other \"%s\" at a farther level", Shown(name))
		} else {
			names := slices.DeleteFunc(sorted(r.defs), func(n string) bool { return n == s.name })
			r.refuse(own, pos, at, "no agent or persona is called \"%s\"%s", Shown(name), wantNames(name, names))
		}
		return nil
	}
	if i := slices.Index(r.path, step{name, index}); i >= 0 {
		var round []string
		for _, p := range r.path[i:] {
			round = append(round, Shown(p.name))
		}
		r.refuse(own, pos, at, "it extends itself in a circle: %s", strings.Join(append(round, Shown(name)), " → "))
		return nil
	}
	base := r.nearest(name, index)
	if base == nil {
		r.persona = own.IsPersona
		r.refuse(own, pos, at, "\"%s\" cannot be used itself", Shown(name))
	}
	return base
}

// wantNames completes a message about a name that does not exist.
func wantNames(name string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	const most = 20
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	return suggestion(name, names) + " (want " + strings.Join(names, ", ") + more + ")"
}

func (r *resolver) coordinate(a *Agent, key string) string {
	if a.IsPersona {
		return key
	}
	return coord(coord("agents", a.Name), key)
}

// refuse reports a problem of an agent: it fails the load, or costs the persona.
func (l *loader) refuse(a *Agent, p Pos, at, format string, args ...any) {
	l.persona = a.IsPersona
	if l.lost {
		return
	}
	if a.IsPersona {
		l.warn(p, at, format+" (persona left out)", args...)
		return
	}
	l.fail(p, at, format, args...)
}

// inherit gives an agent what it does not say itself. A model and a list of models are
// one thing here, and so are the two ways to write a prompt.
func inherit(a, base *Agent) {
	groups := [][]string{{"model", "models"}, {"system", "system_file"}}
	said := func(key string) bool {
		for _, g := range groups {
			if slices.Contains(g, key) {
				return a.Has(g[0]) || a.Has(g[1])
			}
		}
		return a.Has(key)
	}
	at := map[string]Pos{}
	to, from := reflect.ValueOf(a).Elem(), reflect.ValueOf(base).Elem()
	var taken []string
	for _, f := range fieldsOf(to.Type()) {
		if slices.Contains([]string{"id", "label", "extends", "provider"}, f.key) || said(f.key) {
			continue
		}
		to.FieldByIndex(f.index).Set(from.FieldByIndex(f.index))
		taken = append(taken, f.key)
	}
	for k, p := range a.at {
		at[k] = p
	}
	for k, p := range base.at {
		key, _, _ := strings.Cut(k, "[")
		if slices.Contains(taken, key) {
			at[k] = p
		}
	}
	a.at = at
	a.Tools.Declared = a.Tools.Declared || base.IsPersona
}
