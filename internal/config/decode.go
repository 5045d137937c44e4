package config

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"jig/internal/nearest"
)

// loader is one load at work.
type loader struct {
	env      Env
	cfg      *Config
	problems []*Problem
	warnings []Warning
	// src is the file being decoded.
	src Source
	// persona tells that keys compare as they do in a persona's front matter.
	persona bool
	// defs are the agents of all levels by name, farthest first.
	defs map[string][]*Agent
	// refused are the names of servers that were written but may not count.
	refused map[string]bool
	// lost tells that a configuration file could not be read at all. What it defined is
	// then missing everywhere, and saying so of each reference would bury the cause.
	lost bool
}

func (l *loader) pos(line, col int) Pos { return Pos{l.src.Path, line, col} }

func (l *loader) fail(p Pos, at, format string, args ...any) {
	l.problems = append(l.problems, &Problem{p, at, fmt.Sprintf(format, args...), l.persona})
}

func (l *loader) warn(p Pos, at, format string, args ...any) {
	l.warnings = append(l.warnings, Warning{p, at, fmt.Sprintf(format, args...), l.persona})
}

// failAt fails at a node's place.
func (l *loader) failAt(n *node, at, format string, args ...any) {
	l.fail(l.pos(n.line, n.col), at, format, args...)
}

// structure decodes a mapping into a struct and audits its keys. Places and unset
// variables go to e, which may be nil.
func (l *loader) structure(n *node, v reflect.Value, at string, e *Entry) {
	if n.kind == nullNode {
		return
	}
	fields := fieldsOf(v.Type())
	if n.kind != mapNode {
		l.failAt(n, at, "want a mapping (%s), got %s", strings.Join(keysOf(fields, l.persona), ", "), n.kind)
		return
	}
	seen := map[string]bool{}
	for _, p := range n.pairs {
		i := slices.IndexFunc(fields, func(f field) bool { return l.sameKey(f, p.key) })
		here := coord(at, p.key)
		if i < 0 {
			l.fail(l.pos(p.line, p.col), here, "%s", unknownKey("key", p.key, keysOf(fields, l.persona)))
			continue
		}
		f := fields[i]
		if seen[f.key] {
			l.fail(l.pos(p.line, p.col), here, "the key is here twice, in two spellings: remove one")
			continue
		}
		seen[f.key] = true
		if p.value.kind == nullNode && f.typ != reflect.TypeFor[Tools]() {
			continue // nothing written means not set
		}
		if e != nil {
			e.at[f.key] = l.pos(p.value.line, p.value.col)
		}
		before := len(l.problems)
		l.value(p.value, v.FieldByIndex(f.index), here, f, e)
		if e != nil && len(l.problems) > before {
			e.bad[f.key] = true
		}
	}
}

func (l *loader) sameKey(f field, key string) bool {
	if f.persona && !l.persona {
		return false
	}
	return f.key == key || l.persona && nearest.Fold(f.key) == nearest.Fold(key)
}

// value decodes a node into one setting.
func (l *loader) value(n *node, v reflect.Value, at string, f field, e *Entry) {
	if v.Kind() != reflect.Pointer && v.Type() != reflect.TypeFor[Subagents]() && (v.Kind() != reflect.Struct || len(fieldsOf(v.Type())) == 0) {
		l.noteUnset(n, at, f.key, e) // the others come here again, key by key
	}
	switch p := v.Addr().Interface().(type) {
	case *Tools:
		*p = l.tools(n, at)
		return
	case *Names:
		*p = l.names(n, at, f.key, e)
		return
	case *Subagents:
		*p = l.subagents(n, at)
		return
	case *Tokens:
		*p = l.tokens(n, at)
		return
	case *Words:
		*p = l.words(n, at, f.key, e)
		return
	case *map[string]any:
		*p = l.object(n, at)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		l.value(n, v.Elem(), at, f, e)
	case reflect.Struct:
		l.structure(n, v, at, nil)
	case reflect.String:
		if text, ok := l.text(n, at); ok && l.wanted(n, at, text, f) {
			v.SetString(text)
		}
	case reflect.Bool:
		v.SetBool(l.boolean(n, at))
	case reflect.Int, reflect.Int64, reflect.Float64:
		l.number(n, v, at, f)
	case reflect.Slice:
		v.Set(reflect.ValueOf(l.texts(n, at, f, e)).Convert(v.Type()))
	case reflect.Map:
		l.textMap(n, v, at)
	default:
		panic("config: no decoder for " + v.Type().String())
	}
}

func (l *loader) noteUnset(n *node, at, key string, e *Entry) {
	switch n.kind {
	case scalarNode:
		for _, name := range n.unset {
			l.cfg.Unset = append(l.cfg.Unset, Warning{l.pos(n.line, n.col), at,
				fmt.Sprintf("environment variable %s is not set", Shown(name)), l.persona})
			if e != nil {
				e.unset[key] = append(e.unset[key], name)
			}
		}
	case listNode:
		for i, v := range n.items {
			l.noteUnset(v, fmt.Sprintf("%s[%d]", at, i), key, e)
		}
	case mapNode:
		for _, p := range n.pairs {
			l.noteUnset(p.value, coord(at, p.key), key, e)
		}
	}
}

// list gives the items of a list, or says how to write one.
func (l *loader) list(n *node, at string) []*node {
	switch n.kind {
	case listNode:
		return n.items
	case scalarNode:
		l.failAt(n, at, "want a list, got text: write [%s]", Shown(n.raw))
	case mapNode:
		l.failAt(n, at, "want a list, got a mapping: begin each line with \"- \"")
	}
	return nil
}

func (l *loader) texts(n *node, at string, f field, e *Entry) []string {
	out := []string{}
	for i, item := range l.list(n, at) {
		here := fmt.Sprintf("%s[%d]", at, i)
		if item.kind == nullNode {
			l.failAt(item, here, "want text, got nothing")
			continue
		}
		if text, ok := l.text(item, here); ok && l.wanted(item, here, text, f) {
			if e != nil {
				e.at[fmt.Sprintf("%s[%d]", f.key, len(out))] = l.pos(item.line, item.col)
			}
			out = append(out, text)
		}
	}
	return out
}

// textMap decodes a mapping from words to texts.
func (l *loader) textMap(n *node, v reflect.Value, at string) {
	if n.kind != mapNode {
		l.failAt(n, at, "want a mapping from names to texts, got %s", n.kind)
		return
	}
	m := reflect.MakeMap(v.Type())
	for _, p := range n.pairs {
		if p.value.kind == nullNode {
			continue
		}
		if text, ok := l.text(p.value, coord(at, p.key)); ok {
			m.SetMapIndex(reflect.ValueOf(p.key), reflect.ValueOf(text).Convert(v.Type().Elem()))
		}
	}
	v.Set(m)
}

// words reads a command line: a list, or one text that needs no quoting rules.
func (l *loader) words(n *node, at, key string, e *Entry) Words {
	if n.kind != scalarNode {
		return l.texts(n, at, field{key: key}, e)
	}
	if strings.ContainsAny(n.raw, "'\"\\") {
		l.failAt(n, at, "quotes and backslashes have no meaning in a command: write it as a list of words")
		return nil
	}
	return strings.Fields(n.text)
}

// names reads "*" or a list.
func (l *loader) names(n *node, at, key string, e *Entry) Names {
	out := Names{Declared: true}
	if n.kind == scalarNode {
		if n.text == "*" {
			out.All = true
			return out
		}
		l.failAt(n, at, "want a list of names, [] for none or \"*\" for all, got \"%s\"", Shown(n.raw))
		return out
	}
	for i, name := range l.texts(n, at, field{key: key}, e) {
		if name == "*" {
			out.All = true
		} else if !slices.Contains(out.List, name) {
			e.at[fmt.Sprintf("%s[%d]", key, len(out.List))] = e.at[fmt.Sprintf("%s[%d]", key, i)]
			out.List = append(out.List, name)
		}
	}
	return out
}

// object keeps a mapping as plain values, for settings that are passed on as JSON.
func (l *loader) object(n *node, at string) map[string]any {
	if n.kind != mapNode {
		l.failAt(n, at, "want a mapping, got %s", n.kind)
		return nil
	}
	return plain(n).(map[string]any)
}

// plain gives a node as the values encoding/json makes.
func plain(n *node) any {
	switch n.kind {
	case scalarNode:
		if n.quoted {
			return n.text
		}
		if n.text == "true" || n.text == "false" {
			return n.text == "true"
		}
		if x, err := strconv.ParseFloat(n.text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x
		}
		return n.text
	case listNode:
		out := make([]any, len(n.items))
		for i, v := range n.items {
			out[i] = plain(v)
		}
		return out
	case mapNode:
		out := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			out[p.key] = plain(p.value)
		}
		return out
	}
	return nil
}

// sorted gives a map's keys in order, so that messages come in the same order each time.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
