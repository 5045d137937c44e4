package agent_test

import (
	"strings"
	"testing"

	"jig/internal/agent"
	"jig/internal/proto"
)

// Turns that follow one another by themselves, as those of a goal do, would else pay for a summary each, and
// nobody would know.
func TestTurnsThatGoOnByThemselvesDoNotEachPayForASummary(t *testing.T) {
	for name, c := range map[string]struct {
		summaries *agent.Summaries
		want      int // turns that end well
	}{
		"by themselves": {&agent.Summaries{}, 4},
		"a person's":    {nil, 8},
	} {
		d, turn := newDesk(), benchTurn(&windowed{window: 32_000}, 32_000, 0)
		turn.Room.Summaries = c.summaries
		well, text := 0, ""
		for range 8 {
			end := runs(t, d, turn, long(20_000))
			if text = end.Error; end.Why != proto.Done {
				break
			}
			well++
		}
		if well != c.want || c.want < 8 && !strings.Contains(text, "each of the last 3 rounds has filled it again") {
			t.Errorf("%s: %d turns ended well, then %q", name, well, text)
		}
	}
}
