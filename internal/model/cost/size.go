package cost

import (
	"jig/internal/model"
	"jig/internal/msg"
)

const perToken = model.BytesPerToken

// replySize is how much of a reply was written by the model: the raw form of a thought holds its
// signature, too.
func replySize(blocks msg.Blocks) int {
	n := 0
	for _, b := range blocks {
		if t, ok := b.(msg.Reasoning); ok && t.Text != "" {
			n += len(t.Text)
			continue
		}
		n += model.Size(msg.Blocks{b})
	}
	return n
}

// tokens rounds up.
func tokens(bytes int) int { return (bytes + perToken - 1) / perToken }
