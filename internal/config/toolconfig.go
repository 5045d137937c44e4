package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Configured tells whether something stands behind the tool's name; an empty value, or a
// name in a list, leaves it at its defaults.
func (t Tool) Configured() bool { return t.value != nil && t.value.kind != nullNode }

// Decode fills the struct that v points to with the tool's settings, leaving what is not
// written as it is. Its fields name their keys in json tags; texts, booleans in any YAML
// 1.1 spelling, numbers, lists of texts, mappings of texts, nested structs and pointers to
// these can be filled. A key that the struct does not have is an error. The error is one
// line with places, and says what is wrong without repeating that a mapping is wanted.
func (t Tool) Decode(v any) error {
	if !t.Configured() {
		return nil
	}
	if t.value.kind != mapNode {
		got := t.value.kind.String()
		if t.value.kind == scalarNode {
			got = quoted(t.value.raw)
		}
		return fmt.Errorf("got %s (%s)", got, Pos{t.Pos.Path, t.value.line, t.value.col})
	}
	l := &loader{env: t.env, src: Source{Path: t.Pos.Path}, cfg: &Config{}}
	l.structure(t.value, reflect.ValueOf(v).Elem(), "", nil)
	if len(l.problems) == 0 {
		return nil
	}
	var list []string
	for _, p := range l.problems {
		list = append(list, fmt.Sprintf("%s: %s (%s)", p.Coordinate, p.Message, p.Pos))
	}
	return errors.New(strings.Join(list, "; "))
}
