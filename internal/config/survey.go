package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"jig/internal/nearest"
)

// Survey says in short lines what sources would do if they were trusted, for the person
// who is asked. Nothing is expanded and nothing merged: a file that nobody trusts yet
// must not read the environment, not even for the question about it. Every foreign word
// is made safe to show.
func Survey(goos string, sources []Source) []string {
	s := surveyor{}
	for _, src := range sources {
		data := src.Data
		if src.Kind == PersonaFile {
			l := loader{src: src}
			front, _, _ := l.split(src.Data)
			id := strings.TrimSuffix(Base(goos, src.Path), ".md")
			s.say("defines persona %s", Shown(id))
			data = front
		}
		root, err := parseYAML(data)
		switch {
		case err != nil:
			s.say("has a file that cannot be read: %s (%s)", Shown(src.Path), err)
		case root == nil:
		case src.Kind == PersonaFile:
			s.agent(root, "persona "+Shown(strings.TrimSuffix(Base(goos, src.Path), ".md")))
			s.variables(root)
		default:
			s.config(root)
			s.variables(root)
		}
	}
	if len(s.names) > 0 {
		slices.Sort(s.names)
		s.say("reads environment variables: %s", strings.Join(slices.Compact(s.names), ", "))
	}
	return s.lines
}

type surveyor struct {
	lines []string
	names []string
}

func (s *surveyor) say(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(s.lines, line) {
		s.lines = append(s.lines, line)
	}
}

func (s *surveyor) config(root *node) {
	for _, sec := range root.pairs {
		for _, p := range sec.value.pairs {
			name := Shown(p.key)
			switch sec.key {
			case "providers":
				s.address(p.value.get("url"), "sends what is said to provider "+name+" to %s")
			case "mcp_servers":
				s.address(p.value.get("url"), "uses tools of server "+name+" at %s")
			case "environments":
				if c := p.value.get("command"); c != nil {
					s.say("reaches environment %s by running: %s", name, Shown(commandText(c)))
				}
			case "agents":
				s.say("defines agent %s", name)
				s.agent(p.value, "agent "+name)
			case "keys":
				s.say("sets the key of %s", name)
			case "nook", "history", "web":
				if p.key == "url" || p.key == "searxng" {
					s.address(p.value, "sends "+sec.key+" requests to %s")
				}
			}
		}
	}
}

func commandText(n *node) string {
	words := []string{n.raw}
	for _, v := range n.items {
		words = append(words, v.raw)
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

func (s *surveyor) address(n *node, format string) {
	if n == nil || n.kind != scalarNode {
		return
	}
	host := n.raw
	if u, err := url.Parse(n.raw); err == nil && u.Host != "" {
		host = u.Host
	}
	// A host in another alphabet can look like one that is trusted, so it is spelt out.
	s.say(format, strings.Trim(strconv.QuoteToASCII(Shown(host)), `"`))
}

// agent says which tools would act without a question.
func (s *surveyor) agent(n *node, who string) {
	if f := folded(n, "system_file"); f != nil {
		s.say("%s takes its prompt from %s", who, Shown(f.raw))
	}
	tools := folded(n, "tools")
	if tools == nil {
		if strings.HasPrefix(who, "persona ") {
			s.say("%s runs commands and changes files unasked", who)
		}
		return
	}
	has := func(name string) *node {
		for _, item := range tools.items {
			if item.raw == name {
				return item
			}
		}
		if v := tools.get(name); v != nil && !switchedOff(&node{kind: v.kind, text: v.raw}) {
			return v
		}
		return nil
	}
	if has("bash") != nil || has("write") != nil || has("edit") != nil {
		s.say("%s runs commands or changes files unasked", who)
	}
	for _, set := range []struct{ name, key, what string }{
		{"shell", "auto_run", "runs every command unasked"},
		{"shell", "sandbox", "sets the sandbox of its commands"},
		{"shell", "network", "sets the network of its commands"},
		{"shell", "write", "adds folders its commands may write to"},
		{"code", "auto_write", "changes files unasked"},
	} {
		if v := has(set.name); v != nil && v.get(set.key) != nil {
			s.say("%s %s (%s)", who, set.what, set.name+"."+set.key)
		}
	}
}

// folded finds a key in any of the spellings a persona may use.
func folded(n *node, key string) *node {
	for _, p := range n.pairs {
		if nearest.Fold(p.key) == nearest.Fold(key) {
			return p.value
		}
	}
	return nil
}

// variables collects the environment variables that values name.
func (s *surveyor) variables(n *node) {
	rest := n.raw
	for {
		_, after, found := strings.Cut(rest, "${env:")
		if !found {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			break
		}
		s.names = append(s.names, Shown(name))
		rest = tail
	}
	for _, v := range n.items {
		s.variables(v)
	}
	for _, p := range n.pairs {
		s.variables(p.value)
	}
}
