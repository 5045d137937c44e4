package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"jig/internal/nearest"
)

// text takes a scalar as it is written: an id such as 4.10 is no number to round.
func (l *loader) text(n *node, at string) (string, bool) {
	switch {
	case n.kind == scalarNode:
		return n.text, true
	case n.kind == mapNode && len(n.pairs) == 1 && n.pairs[0].value.kind <= scalarNode && !strings.ContainsAny(n.pairs[0].key, " {"):
		l.failAt(n, at, "%s", spaceMessage(n.pairs[0].key, n.pairs[0].value.raw))
	default:
		l.failAt(n, at, "want text, got %s", n.kind)
	}
	return "", false
}

func (l *loader) wanted(n *node, at, text string, f field) bool {
	if f.want == nil || slices.Contains(f.want, text) {
		return true
	}
	word := strings.TrimSuffix(strings.TrimPrefix(f.key, "allowed_"), "_levels")
	l.failAt(n, at, "unknown %s \"%s\"%s (want %s)", word, Shown(n.raw), suggestion(n.raw, f.want), strings.Join(f.want, ", "))
	return false
}

// suggestion is ", did you mean x?" or nothing.
func suggestion(name string, candidates []string) string {
	if near := nearest.Of(name, candidates); near != "" {
		return fmt.Sprintf(", did you mean \"%s\"?", Shown(near))
	}
	return ""
}

func (l *loader) boolean(n *node, at string) bool {
	if n.kind == scalarNode {
		if b, ok := YAMLBool(n.text); ok {
			return b
		}
		l.failAt(n, at, "want true or false (or yes, no, on, off), got \"%s\"", Shown(n.raw))
		return false
	}
	l.failAt(n, at, "want true or false, got %s", n.kind)
	return false
}

func (l *loader) number(n *node, v reflect.Value, at string, f field) {
	got := n.kind.String()
	if n.kind == scalarNode {
		got = quoted(n.raw)
	}
	kind := "a number"
	if v.CanInt() {
		kind = "a whole number"
	}
	x, err := strconv.ParseFloat(n.text, 64)
	if n.kind != scalarNode || err != nil || math.IsNaN(x) || math.IsInf(x, 0) ||
		f.bounded && (x < f.min || x > f.max) || v.CanInt() && (x != math.Trunc(x) || math.Abs(x) > 1<<53) {
		if f.bounded {
			kind += fmt.Sprintf(" from %s to %s", plainNumber(f.min), plainNumber(f.max))
		}
		l.failAt(n, at, "want %s, got %s", kind, got)
		return
	}
	if v.CanInt() {
		v.SetInt(int64(x))
		return
	}
	v.SetFloat(x)
}

func plainNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// tokens reads 200000, 128k or 1.5m.
func (l *loader) tokens(n *node, at string) Tokens {
	got := n.kind.String()
	if n.kind == scalarNode {
		got = quoted(n.raw)
		text, unit := strings.ToLower(strings.TrimSpace(n.text)), 1.0
		if t, ok := strings.CutSuffix(text, "k"); ok {
			text, unit = t, 1e3
		} else if t, ok := strings.CutSuffix(text, "m"); ok {
			text, unit = t, 1e6
		}
		x, err := strconv.ParseFloat(text, 64)
		digits := strings.Trim(text, "0123456789.") == ""
		if x = math.Round(x * unit); err == nil && digits && x >= 1 && x <= 1e9 {
			return Tokens(x)
		}
	}
	l.failAt(n, at, "want a number of tokens such as 200000, 128k or 1m, got %s", got)
	return 0
}
