package cli

import (
	"fmt"
	"slices"

	"jig/internal/nearest"
)

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func first[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// didYouMean names the candidate one slip away, or nothing.
func didYouMean(name string, candidates []string) string {
	if n := nearest.Of(name, candidates); n != "" {
		return fmt.Sprintf("; did you mean %s?", n)
	}
	return ""
}
