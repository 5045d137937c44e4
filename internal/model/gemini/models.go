package gemini

import "strings"

// generation is what a model's name says about it. The API takes different settings from
// different generations and refuses the others', so a name has to be read.
type generation struct {
	gemini bool
	number int // 10 × major + minor, as 25; newest when the name has none, as gemini-flash-latest
	flash  bool
	lite   bool
	plain  bool // it writes text; the makers of pictures and of speech take other settings
}

// newest is the number of a name without one.
const newest = 1000

// parseModel reads names as gemini-2.5-flash-lite, models/gemini-3.1-pro-preview, gemini-4-argon and
// google/gemini-3-flash.
func parseModel(name string) generation {
	_, rest, ok := strings.Cut(name, "gemini-")
	if !ok {
		return generation{}
	}
	g := generation{gemini: true, number: newest, plain: true}
	for _, w := range strings.Split(rest, "-") {
		switch w {
		case "flash":
			g.flash = true
		case "lite":
			g.lite = true
		case "image", "tts", "audio", "live", "embedding":
			g.plain = false
		}
		major, minor, _ := strings.Cut(w, ".")
		if g.number == newest && digit(major) && (minor == "" || digit(minor)) {
			g.number = 10*int(major[0]-'0') + int((minor + "0")[0]-'0')
		}
	}
	return g
}

func digit(s string) bool { return len(s) == 1 && s[0] >= '0' && s[0] <= '9' }

// signs says that the model refuses calls of the current turn without a thought signature:
// https://ai.google.dev/gemini-api/docs/thought-signatures
func (g generation) signs() bool { return g.gemini && g.number >= 30 }

type thinking struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingBudget  *int   `json:"thinkingBudget,omitempty"`
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
}

// reasoning puts an effort into the words of a model's generation: for 2.5 a budget of tokens, from
// 3 on a level. Models that do not think refuse both. Without an effort the model decides, and its
// thoughts are asked for all the same: it thinks anyway, and would not show them.
// https://ai.google.dev/gemini-api/docs/generate-content/thinking
func (g generation) reasoning(effort string, maxOutput int) *thinking {
	switch {
	case !g.gemini || !g.plain || g.number < 25:
		return nil
	case effort == "":
		return &thinking{IncludeThoughts: true}
	case g.number < 30:
		n := g.budget(effort, maxOutput)
		return &thinking{IncludeThoughts: effort != "none", ThinkingBudget: &n}
	}
	return &thinking{IncludeThoughts: effort != "none", ThinkingLevel: g.level(effort)}
}

// budget takes Google's own figures for the efforts, https://ai.google.dev/gemini-api/docs/openai,
// within the limits of the model. Thinking counts toward the output limit and must leave room.
func (g generation) budget(effort string, maxOutput int) int {
	least, most := 0, 24576
	switch {
	case !g.flash:
		least, most = 128, 32768 // it cannot be switched off
	case g.lite:
		least = 512
	}
	if effort == "none" {
		if g.flash {
			return 0
		}
		return least
	}
	n := map[string]int{"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}[effort]
	if n == 0 {
		n = most
	}
	if maxOutput > 0 {
		n = min(n, maxOutput/2)
	}
	return max(n, least)
}

// level is the nearest one that the model has. None can be switched off; minimal is an error for
// the Pro models and from 3.7 on, and the first Pro had no medium.
// https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking
func (g generation) level(effort string) string {
	switch effort {
	case "none", "minimal":
		if g.flash && g.number < 37 {
			return "MINIMAL"
		}
		return "LOW"
	case "low":
		return "LOW"
	case "medium":
		if g.flash || g.number > 30 {
			return "MEDIUM"
		}
	}
	return "HIGH"
}
