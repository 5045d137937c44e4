package cli

import (
	"fmt"
	"slices"

	"jig/internal/config"
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
	if n := config.Nearest(name, candidates); n != "" {
		return fmt.Sprintf("; did you mean %s?", n)
	}
	return ""
}
