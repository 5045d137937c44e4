package config

import (
	"fmt"
	"strings"

	"jig/internal/nearest"
)

// expandable gives the names that ${…} knows besides env:NAME.
func expandable() []string {
	return []string{"userHome", "cwd", "workspaceFolder", "appHome", "pathSeparator"}
}

// expand replaces ${…} once: what comes in is not looked at again, so the value of an
// environment variable cannot name another. Unknown names stay as they are. It gives
// back the variables that were not set and the names that look like slips.
func (e Env) expand(text string) (out string, unset, slips []string) {
	if !strings.Contains(text, "${") {
		return text, nil, nil
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), unset, slips
		}
		name, rest, closed := strings.Cut(after, "}")
		if !closed {
			b.WriteString("${" + after)
			return b.String(), unset, slips
		}
		value, ok := e.variable(name)
		switch variable, isEnv := strings.CutPrefix(name, "env:"); {
		case ok:
			b.WriteString(value)
		case isEnv && variable != "":
			unset = append(unset, variable)
		default:
			if meant := nearest.Of(name, expandable()); meant != "" {
				slips = append(slips, fmt.Sprintf("${%s} is not known and stays as it is, did you mean ${%s}?", Shown(name), meant))
			}
			// Only the opening is passed by: what follows may hold a name that is known.
			b.WriteString("${")
			text = after
			continue
		}
		text = rest
	}
}

func (e Env) variable(name string) (string, bool) {
	if v, ok := strings.CutPrefix(name, "env:"); ok {
		if v == "" {
			return "", false
		}
		return e.getenv(v)
	}
	switch name {
	case "userHome":
		return e.Home, true
	case "cwd":
		return e.Cwd, true
	case "workspaceFolder":
		return e.Workspace, true
	case "appHome":
		return e.AppHome, true
	case "pathSeparator":
		return separator(e.GOOS), true
	}
	return "", false
}

// expandAll expands every value below a node; keys are never expanded.
func (l *loader) expandAll(n *node) {
	switch n.kind {
	case scalarNode:
		var slips []string
		n.text, n.unset, slips = l.env.expand(n.raw)
		for _, s := range slips {
			l.warn(l.pos(n.line, n.col), "", "%s", s)
		}
	case listNode:
		for _, v := range n.items {
			l.expandAll(v)
		}
	case mapNode:
		for _, p := range n.pairs {
			l.expandAll(p.value)
		}
	}
}
