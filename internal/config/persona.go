package config

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// personaFile reads one persona. Whatever is wrong with it costs this persona alone.
func (l *loader) personaFile(s Source) {
	l.src, l.persona = s, true
	unset := len(l.cfg.Unset)
	before := l.problems
	l.problems = nil
	a := l.readPersona(s)
	found := l.problems
	l.problems, l.persona = before, false
	if len(found) > 0 {
		l.cfg.Unset = l.cfg.Unset[:unset]
		for _, p := range found {
			p.Message += " (persona left out)"
			l.warnings = append(l.warnings, Warning(*p))
		}
		return
	}
	l.define(a)
}

func (l *loader) readPersona(s Source) *Agent {
	front, body, bodyLine := l.split(s.Data)
	if len(l.problems) > 0 {
		return nil
	}
	root := l.parse(front)
	if len(l.problems) > 0 {
		return nil
	}
	if root == nil {
		root = &node{kind: mapNode, line: 1, col: 1}
	}
	l.expandAll(root)
	file := Base(l.env.GOOS, s.Path)
	id := strings.TrimSuffix(file, ".md")
	pos := l.pos(1, 1)
	if id == file || !validName(id) {
		l.fail(pos, "", "%s", "a persona's file is called <id>.md, and its id is made of "+nameRule)
		return nil
	}
	a := &Agent{Entry: l.entry(id, pos), IsPersona: true}
	l.structure(root, reflect.ValueOf(a).Elem(), "", &a.Entry)
	if root.kind != mapNode && root.kind != nullNode {
		return nil
	}
	a.check(l, "")
	l.checkPersona(a, id)
	if body != "" {
		for _, k := range []string{"system", "system_file"} {
			if a.Has(k) {
				l.fail(a.At(k), k, "the prompt is the text below the front matter: remove one of them")
			}
		}
		a.System = body
		a.at["system"] = l.pos(bodyLine, 1)
	}
	return a
}

func (l *loader) checkPersona(a *Agent, id string) {
	if a.ID != "" && a.ID != id {
		l.fail(a.At("id"), "id", "the id \"%s\" differs from the file's name, which says \"%s\"", Shown(a.ID), Shown(id))
	}
	if allowed := a.AllowedReasoningLevels; a.Has("allowed_reasoning_levels") && a.Reasoning != "" && !slices.Contains(allowed, a.Reasoning) {
		l.fail(a.At("reasoning"), "reasoning", "\"%s\" is not among allowed_reasoning_levels (%s)", a.Reasoning, strings.Join(allowed, ", "))
	}
	if a.Provider == "" {
		return
	}
	// The provider stands apart, so a colon in the model's name belongs to the name.
	if a.Model != "" {
		a.Model = a.Provider + ":" + a.Model
	}
	for i, m := range a.Models {
		a.Models[i] = a.Provider + ":" + m
	}
	if a.Model == "" && len(a.Models) == 0 {
		l.fail(a.At("provider"), "provider", "needs model beside it")
	}
}

// split takes a persona apart. The front matter keeps the file's line numbers: the line
// that opens it is left empty.
func (l *loader) split(data []byte) (front []byte, body string, bodyLine int) {
	text, err := cleanText(data)
	var bad *syntaxError
	if errors.As(err, &bad) {
		l.fail(l.pos(bad.line, bad.col), "", "%s", bad.message)
		return nil, "", 0
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		l.fail(l.pos(1, 1), "", "the front matter is missing: the first line must be ---")
		return nil, "", 0
	}
	lines := strings.SplitAfter(rest, "\n")
	end := slices.IndexFunc(lines, func(s string) bool { return strings.TrimRight(s, " \t\n") == "---" })
	if end < 0 {
		l.fail(l.pos(1, 1), "", "the front matter is never closed: want a second line ---")
		return nil, "", 0
	}
	var b bytes.Buffer
	b.WriteByte('\n')
	for _, s := range lines[:end] {
		b.WriteString(s)
	}
	bodyLine = end + 3
	for _, s := range lines[end+1:] {
		if strings.TrimSpace(s) != "" {
			break
		}
		bodyLine++
	}
	return b.Bytes(), strings.TrimSpace(strings.Join(lines[end+1:], "")), bodyLine
}
