package config

import (
	"reflect"
	"slices"
	"strings"
)

// tools reads the tools: grammar: a list of names, or a mapping from names to settings.
func (l *loader) tools(n *node, at string) Tools {
	t := Tools{Declared: true}
	switch n.kind {
	case scalarNode:
		hint := ""
		if no, ok := YAMLBool(n.text); ok && !no {
			hint = ": for no tools write []"
		} else if slices.Contains(ToolNames(), n.text) {
			hint = ": write [" + Shown(n.raw) + "]"
		}
		l.failAt(n, at, "want a list of tool names or a mapping from names to settings, got \"%s\"%s", Shown(n.raw), hint)
	case listNode:
		for _, item := range n.items {
			l.listed(&t, item, at)
		}
	case mapNode:
		// What is switched off by its own name stays off whether agents, which stands for
		// five names, comes before or after it.
		for _, p := range n.pairs {
			if l.toolName(p.key, l.pos(p.line, p.col), at) && switchedOff(p.value) {
				t.Off = append(t.Off, p.key)
			}
		}
		for _, p := range n.pairs {
			if slices.Contains(ToolNames(), p.key) && !switchedOff(p.value) {
				t.turnOn(Tool{Name: p.key, Pos: l.pos(p.line, p.col), value: p.value, env: l.env})
			}
		}
	}
	return t
}

func (l *loader) listed(t *Tools, item *node, at string) {
	p := l.pos(item.line, item.col)
	switch {
	case item.kind == scalarNode:
		if l.toolName(item.text, p, at) {
			t.turnOn(Tool{Name: item.text, Pos: p, env: l.env})
		}
	case item.kind == mapNode && len(item.pairs) > 0:
		l.fail(p, at, "a list enables tools with their defaults: to configure %s, write tools as a mapping, without \"- \"", Shown(item.pairs[0].key))
	default:
		l.fail(p, at, "want a tool name, got %s", item.kind)
	}
}

// turnOn adds a tool once; a tool named on its own goes before the group it is in.
func (t *Tools) turnOn(x Tool) {
	names := []string{x.Name}
	if x.Name == "agents" {
		names = AgentTools()
	}
	for _, name := range names {
		if !t.Has(name) && !slices.Contains(t.Off, name) {
			y := x
			if y.Name = name; name != x.Name {
				y.Group = x.Name
			}
			t.On = append(t.On, y)
		}
	}
}

// switchedOff tells whether a value is a false spelling, quoted or not.
func switchedOff(n *node) bool {
	if n.kind != scalarNode {
		return false
	}
	b, ok := YAMLBool(n.text)
	return ok && !b
}

// toolName checks a name under tools:.
func (l *loader) toolName(name string, p Pos, at string) bool {
	names := ToolNames()
	if slices.Contains(names, name) {
		return true
	}
	hint := suggestion(name, names)
	if name == "agent" { // what the skills set was called once; one letter from agents
		hint = `: the set "agent" is now called "skills"`
	}
	l.fail(p, coord(at, name), "unknown tool%s (want %s)", hint, strings.Join(names, ", "))
	return false
}

// subagents reads the subagents: mapping, in which a false value removes a name.
func (l *loader) subagents(n *node, at string) Subagents {
	out := Subagents{Defined: map[string]Subagent{}}
	if n.kind != mapNode {
		l.failAt(n, at, "want a mapping from names to subagents, got %s", n.kind)
		return out
	}
	for _, p := range n.pairs {
		here := coord(at, p.key)
		pos := l.pos(p.line, p.col)
		if !l.goodName(p.key, pos, here) {
			continue
		}
		switch {
		case switchedOff(p.value):
			out.NoDefault = out.NoDefault || p.key == "default"
			continue
		case p.key == "default" && (p.value.kind == nullNode || p.value.kind == scalarNode):
			l.defaultSubagent(p.value, here)
			continue
		}
		s := Subagent{Entry: l.entry(p.key, pos)}
		before := len(l.problems)
		l.structure(p.value, reflect.ValueOf(&s).Elem(), here, &s.Entry)
		if s.SystemPrompt == "" && p.key != "default" && len(l.problems) == before {
			l.fail(pos, here+".system_prompt", "a subagent needs a system prompt")
		}
		for _, t := range s.Tools.On {
			if !slices.Contains(SubagentTools(), t.Name) {
				l.fail(t.Pos, coord(here+".tools", t.Name), "a subagent cannot have this tool (want %s)", strings.Join(SubagentTools(), ", "))
			}
		}
		out.Defined[p.key] = s
	}
	return out
}

func (l *loader) defaultSubagent(n *node, at string) {
	if n.kind == nullNode {
		return
	}
	if b, ok := YAMLBool(n.text); !ok || !b {
		l.failAt(n, at, "want false to remove the built-in subagent, or a mapping, got %s", quoted(n.raw))
	}
}
