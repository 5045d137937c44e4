package cli

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"jig/internal/config"
	"jig/internal/tool"
)

// shortestKey is from how many bytes on a key is looked for: what is shorter stands in any text.
const shortestKey = 8

// masks takes the keys that this start holds out of a text, with what truncation left of them; nil where
// it holds none.
func masks(cfg *config.Config, p *plan) func(string) string {
	keys := heldKeys(cfg, p)
	if len(keys) == 0 {
		return nil
	}
	runs := sync.OnceValue(func() *keyRuns { return newKeyRuns(keys) })
	return func(s string) string { return runs().mask(s) }
}

// heldKeys are the keys of the configuration and of the environment that jig uses itself, each with
// what stands in its place. The longest come first, since one may be part of another.
func heldKeys(cfg *config.Config, p *plan) [][2]string {
	type held struct{ key, mask string }
	var all []held
	add := func(name, value string) {
		for _, v := range append([]string{value}, lastWord(value)...) {
			if len(v) >= shortestKey {
				all = append(all, held{v, tool.Mask(name)})
			}
		}
	}
	used := []config.Resolved{p.resolved}
	for _, name := range cfg.ProviderNames() {
		if r, err := cfg.ResolveModel(name + ":x"); err == nil {
			used = append(used, r)
		}
	}
	for _, r := range used {
		add("provider "+r.ProviderName, r.Key.Reveal())
		add("provider "+r.ProviderName, r.Provider.Key.Reveal())
		for name, value := range r.Provider.Headers {
			if !slices.Contains(harmless, strings.ToLower(name)) {
				add("header "+name, value.Reveal())
			}
		}
	}
	for name, key := range cfg.Keys {
		add("keys."+name, key.Reveal())
	}
	slices.SortStableFunc(all, func(a, b held) int { return cmp.Or(cmp.Compare(len(b.key), len(a.key)), cmp.Compare(a.mask, b.mask)) })
	var out [][2]string
	for _, h := range all {
		out = append(out, [2]string{h.key, h.mask})
	}
	return out
}

// lastWord is the credential of a header such as "Bearer …".
func lastWord(value string) []string {
	if _, after, ok := strings.Cut(value, " "); ok {
		return []string{after}
	}
	return nil
}
