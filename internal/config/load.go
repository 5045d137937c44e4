package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// maxProblems is how many problems one load tells.
const maxProblems = 100

// Load reads all sources and merges them. It always gives a Config, in which whatever
// was wrong is missing; with an error it is good for inspection only. The error joins
// every [Problem] found, in the order of the files and lines. Warnings do not fail the
// load: a persona that cannot be used, or an entry that its level may not write.
func Load(in Input) (*Config, []Warning, error) {
	l := &loader{
		env:     in.Env,
		cfg:     &Config{env: in.Env, where: map[string]Pos{}},
		defs:    map[string][]*Agent{},
		refused: map[string]bool{},
	}
	l.makeMaps()
	sources := slices.Clone(in.Sources)
	slices.SortStableFunc(sources, func(a, b Source) int { return cmp.Compare(a.rank(), b.rank()) })
	flag := slices.ContainsFunc(sources, func(s Source) bool { return s.Level == Flag && s.Kind == ConfigFile })
	order := map[string]int{}
	for i, s := range sources {
		order[s.Path] = i
		switch {
		case s.Level == Project && !s.Trusted:
			// Not even parsed: expansion would read the environment for it.
			l.cfg.LeftOut = append(l.cfg.LeftOut, LeftOut{s.Path, s.Level, "not trusted"})
		case s.Kind == ConfigFile && flag && s.Level != Flag:
			l.cfg.LeftOut = append(l.cfg.LeftOut, LeftOut{s.Path, s.Level, "-c replaces it"})
		case s.Kind == ConfigFile:
			l.file(s)
		default:
			l.personaFile(s)
		}
	}
	l.resolveAgents()
	l.checkReferences()
	slices.SortStableFunc(l.problems, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(order[a.Pos.Path], order[b.Pos.Path]),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return l.cfg, l.warnings, l.joined()
}

func (l *loader) joined() error {
	var errs []error
	for i, p := range l.problems {
		if i == maxProblems {
			errs = append(errs, fmt.Errorf("config: %d more problems", len(l.problems)-i))
			break
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// makeMaps gives every map of the configuration its empty value.
func (l *loader) makeMaps() {
	v := reflect.ValueOf(l.cfg).Elem()
	for _, f := range fieldsOf(v.Type()) {
		if f.typ.Kind() == reflect.Map {
			v.FieldByIndex(f.index).Set(reflect.MakeMap(f.typ))
		}
	}
}

// file reads one configuration file into the configuration.
func (l *loader) file(s Source) {
	l.src = s
	before := len(l.problems)
	root := l.parse(s.Data)
	l.lost = l.lost || len(l.problems) > before
	if root == nil || root.kind == nullNode {
		return
	}
	if root.kind != mapNode {
		l.failAt(root, "", "want a mapping with %s, got %s", strings.Join(keysOf(fieldsOf(reflect.TypeFor[Config]()), false), ", "), root.kind)
		return
	}
	l.expandAll(root)
	fields := fieldsOf(reflect.TypeFor[Config]())
	for _, p := range root.pairs {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == p.key })
		if i < 0 {
			l.fail(l.pos(p.line, p.col), coord("", p.key), "%s", unknownKey("top-level key", p.key, keysOf(fields, false)))
			continue
		}
		if p.value.kind != nullNode {
			l.section(p, fields[i])
		}
	}
}

// parse reads YAML and reports what is wrong with it.
func (l *loader) parse(data []byte) *node {
	root, err := parseYAML(data)
	var bad *syntaxError
	if errors.As(err, &bad) {
		l.fail(l.pos(bad.line, bad.col), "", "%s", bad.message)
	}
	return root
}

// section reads one top-level key.
func (l *loader) section(p pair, f field) {
	v := reflect.ValueOf(l.cfg).Elem().FieldByIndex(f.index)
	if p.value.kind != mapNode {
		l.failAt(p.value, p.key, "want a mapping, got %s", p.value.kind)
		return
	}
	switch {
	case f.key == "client_tools" && l.src.Level == Project:
		l.warn(l.pos(p.line, p.col), p.key, "client tools run commands and are accepted from the user's configuration or -c alone (left out)")
	case f.typ.Kind() == reflect.Struct:
		if f.key != "web" { // an address and its token belong together
			v.SetZero()
		}
		e := l.entry(p.key, l.pos(p.line, p.col))
		l.structure(p.value, v, p.key, &e)
		for k, pos := range e.at {
			l.cfg.where[coord(p.key, k)] = pos
		}
		l.checkService(v, p.key, e)
	case f.typ.Elem().Kind() == reflect.String:
		l.keys(p)
	default:
		for _, q := range p.value.pairs {
			l.named(q, v, coord(p.key, q.key))
		}
	}
}

// keys reads the keys: mapping, which merges name by name.
func (l *loader) keys(p pair) {
	for _, q := range p.value.pairs {
		at := coord(p.key, q.key)
		if !l.goodName(q.key, l.pos(q.line, q.col), at) || q.value.kind == nullNode {
			continue
		}
		l.noteUnset(q.value, at, q.key, nil)
		if text, ok := l.text(q.value, at); ok {
			l.cfg.Keys[q.key] = Secret(text)
			l.cfg.where[at] = l.pos(q.value.line, q.value.col)
		}
	}
}

// entryType is what the entries of the named sections have in common.
type entryType interface {
	// check looks at an entry once its keys are decoded, and completes it. False leaves
	// the entry out.
	check(l *loader, at string) bool
	base() *Entry
}

func (e *Entry) base() *Entry { return e }

func (l *loader) entry(name string, p Pos) Entry {
	return Entry{Name: name, Pos: p, Level: l.src.Level, dir: l.src.Dir, rank: l.src.rank(), at: map[string]Pos{}, unset: map[string][]string{}, bad: map[string]bool{}}
}

// named reads one named entry of a section; it replaces one of a farther level whole.
func (l *loader) named(p pair, section reflect.Value, at string) {
	pos := l.pos(p.line, p.col)
	if !l.goodName(p.key, pos, at) {
		return
	}
	v := reflect.New(section.Type().Elem())
	x := v.Interface().(entryType)
	*x.base() = l.entry(p.key, pos)
	if m, ok := x.(*Model); ok && p.value.kind == scalarNode {
		l.noteUnset(p.value, at, "id", m.base())
		m.shorthand(l, p.value, at)
		l.cfg.Models[p.key] = *m
		return
	}
	if _, ok := x.(*Model); ok && l.spaced(p.value, at) {
		return
	}
	l.structure(p.value, v.Elem(), at, x.base())
	if p.value.kind != nullNode && p.value.kind != mapNode || !x.check(l, at) {
		return
	}
	if a, ok := x.(*Agent); ok {
		l.define(a)
		return
	}
	section.SetMapIndex(reflect.ValueOf(p.key), v.Elem())
}

// spaced finds the slip of a space in a model's shorthand, which makes a mapping of it.
func (l *loader) spaced(n *node, at string) bool {
	if n.kind != mapNode || len(n.pairs) != 1 || n.pairs[0].value.kind > scalarNode ||
		!l.cfg.hasProvider(n.pairs[0].key) || slices.Contains(keysOf(fieldsOf(reflect.TypeFor[Model]()), false), n.pairs[0].key) {
		return false
	}
	l.failAt(n, at, "%s", spaceMessage(n.pairs[0].key, n.pairs[0].value.raw))
	return true
}

// goodName checks an entry's name: names are shown, typed on command lines and put into
// coordinates, so they are words without blanks, colons or invisible characters.
func (l *loader) goodName(name string, p Pos, at string) bool {
	if !validName(name) {
		l.fail(p, at, "%s", "a name is made of "+nameRule)
		return false
	}
	return true
}

const nameRule = `letters, digits, "-", "_" and ".", begins with a letter or digit and has at most 64 characters of one alphabet`

func validName(name string) bool {
	n := 0
	if mixesAlphabets(name) {
		return false
	}
	for i, r := range name {
		if n++; n > 64 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || !strings.ContainsRune("-_.", r)) {
			return false
		}
		if deceptive(r) {
			return false
		}
	}
	return n > 0
}
