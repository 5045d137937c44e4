package anthropic

import (
	"strings"
)

// generation is what a model's name says about it. The API takes different settings from
// different generations and refuses the others', so a name has to be read.
type generation struct {
	claude bool
	family string // opus, sonnet, haiku, fable, mythos; "" when the name has none
	number int    // 10 × major + minor, as 46; 0 when the name has none
}

// parseModel reads names as claude-opus-4-6, claude-haiku-4-5-20251001, claude-3-7-sonnet-latest,
// anthropic/claude-sonnet-4.5 and anthropic.claude-opus-4-6-v1:0.
func parseModel(name string) generation {
	var g generation
	at := strings.Index(name, "claude-")
	if at < 0 {
		return g
	}
	g.claude = true
	var numbers []int
	for _, w := range strings.FieldsFunc(name[at+len("claude-"):], func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' }) {
		switch {
		case len(w) <= 2 && strings.Trim(w, "0123456789") == "":
			n := 0
			for _, c := range w {
				n = n*10 + int(c-'0')
			}
			numbers = append(numbers, n)
		case w == "opus", w == "sonnet", w == "haiku", w == "fable", w == "mythos":
			g.family = w
		}
	}
	if len(numbers) > 0 {
		g.number = numbers[0] * 10
	}
	if len(numbers) > 1 && numbers[1] < 10 {
		g.number += numbers[1]
	}
	return g
}

// newest says that a model without a number is treated as the newest, so that a new naming scheme
// gets the settings new models take.
func (g generation) atLeast(number int) bool {
	return g.claude && (g.number == 0 || g.number >= number)
}

// maxTokens is the output limit when none is asked for, because the API demands one. It is half of
// what the newest models allow and all that older ones allow:
// https://platform.claude.com/docs/en/about-claude/models/overview
func (g generation) maxTokens() int {
	switch {
	case !g.claude:
		return 32000 // an imitation: most allow at least this much
	case g.number == 0, g.number >= 45, g.number >= 40 && g.family == "sonnet", g.number == 37:
		return 64000
	case g.number >= 40:
		return 32000
	case g.number == 35:
		return 8192
	}
	return 4096
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

// reasoning puts an effort into the words of a model's generation: up to 4.5 a budget of tokens,
// from 4.6 on an effort, which refuses budgets from 4.7 on. Imitations know the budget.
// https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting
func (g generation) reasoning(effort string, maxTokens int) (*thinking, *outputConfig) {
	if effort == "" {
		return nil, nil
	}
	alwaysOn := g.family == "fable" || g.family == "mythos" || g.atLeast(55)
	if effort == "none" {
		if alwaysOn {
			return nil, &outputConfig{"low"} // it cannot be switched off there
		}
		return &thinking{Type: "disabled"}, nil
	}
	if g.atLeast(46) {
		switch {
		case effort == "minimal":
			effort = "low"
		case effort == "xhigh" && !g.atLeast(47):
			effort = "high"
		}
		return &thinking{Type: "adaptive", Display: "summarized"}, &outputConfig{effort}
	}
	budget := map[string]int{"minimal": 1024, "low": 4096, "medium": 10000, "high": 16000, "xhigh": 24000, "max": 31999}[effort]
	budget = min(budget, maxTokens/2) // thinking counts toward max_tokens and must leave room
	if budget < 1024 {
		return nil, nil
	}
	return &thinking{Type: "enabled", BudgetTokens: budget}, nil
}
