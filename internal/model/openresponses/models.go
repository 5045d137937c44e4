package openresponses

import (
	"slices"
	"strings"
)

// efforts are the grades of reasoning, lowest first.
func efforts() []string { return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} }

// named is what a model's name says about it, of the vendor's own models. Their settings differ
// from generation to generation, and a value that one of them does not know is refused, so a name
// has to be read. Other vendors' models have other names and get everything as it was asked for.
type named struct {
	plain  bool // it does not reason, and refuses what only makes sense for reasoning
	lowest string
	most   string
}

// parseModel reads names as gpt-5.2-codex, gpt-5-mini-2025-08-07, openai/o4-mini and ft:gpt-4o:me.
// What each takes was tried out against the service:
// https://community.openai.com/t/request-for-compatibility-matrix-reasoning-effort-sampling-parameters-across-gpt-5-series/1371738
// A generation that is newer than this list is treated as its newest.
func parseModel(name string) named {
	name = strings.TrimPrefix(name[strings.LastIndexByte(name, '/')+1:], "ft:")
	name, _, _ = strings.Cut(name, ":")
	has := func(word string) bool { return slices.Contains(strings.Split(name, "-"), word) }
	switch {
	case hasPrefix(name, "gpt-3.5", "gpt-4", "chatgpt-"), hasPrefix(name, "gpt-5") && has("chat"):
		return named{plain: true}
	case hasPrefix(name, "o1", "o3", "o4"):
		return named{lowest: "low", most: "high"}
	case !hasPrefix(name, "gpt-5"):
		return named{}
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(name, "gpt-"), "-")
	n := named{lowest: "none", most: "max"}
	switch version {
	case "5":
		n = named{lowest: "minimal", most: "high"}
		if has("pro") {
			return named{lowest: "high", most: "high"}
		}
	case "5.1":
		n.most = "high"
		if has("max") {
			n.most = "xhigh"
		}
	case "5.2", "5.3", "5.4", "5.5":
		n.most = "xhigh"
	}
	switch {
	case has("codex"):
		n.lowest = "low"
	case has("pro"):
		n.lowest = "medium"
	}
	return n
}

func hasPrefix(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// effort is the grade nearest to the one asked for that the model takes.
func (n named) effort(asked string) string {
	all := efforts()
	at := slices.Index(all, asked)
	if at < 0 || n.lowest == "" {
		return asked
	}
	at = min(max(at, slices.Index(all, n.lowest)), slices.Index(all, n.most))
	if all[at] == "minimal" && n.lowest == "none" {
		return "low" // only the first generation had it
	}
	return all[at]
}
