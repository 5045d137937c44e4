package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"jig/internal/model"
)

// pauseTurn says that the server waits to be asked for the rest, as it does when tools of its own take
// long: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons#pause-turn
const pauseTurn = "pause_turn"

// neverWhole is the error for a reply that is not continued any more. What there is of it would pass
// for all that the model had to say.
func (m *Model) neverWhole(pauses int) error {
	times := "once"
	if pauses > 1 {
		times = fmt.Sprintf("%d times", pauses)
	}
	e := m.client.Errorf(model.KindServer, "%s paused its reply %s and did not end it; ask for less at once", m.client.Host(), times)
	e.Final = true // it would be paid for as often again
	return e
}

// again is the reply as it is sent back to have it continued: with every block, those of the
// server's own tools too.
func (a *answer) again() []any {
	var out []any
	for _, b := range a.blocks {
		switch b.kind {
		case "text":
			if strings.TrimSpace(b.text.String()) != "" {
				out = append(out, part{Type: "text", Text: b.text.String()})
			}
		case "thinking":
			out = append(out, json.RawMessage(b.thinking()))
		case "tool_use":
			out = append(out, use{"tool_use", b.id, model.WireName(b.name), json.RawMessage(model.WireArgs(b.args()))})
		default:
			out = append(out, b.whole())
		}
	}
	return out
}

// whole is a block of another kind with the input that came in pieces.
func (b *block) whole() json.RawMessage {
	var fields map[string]json.RawMessage
	if b.text.Len() == 0 || json.Unmarshal(b.raw, &fields) != nil {
		return b.raw
	}
	fields["input"] = json.RawMessage(model.WireArgs(b.text.String()))
	return encode(fields)
}
