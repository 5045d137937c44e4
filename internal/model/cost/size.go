package cost

import (
	"jig/internal/model"
	"jig/internal/msg"
)

// perToken is how many bytes a token is taken to have where nobody has counted. Prose and code have
// more.
const perToken = 4

// perImage is what a picture is taken to be, in bytes of text: providers count its size in pixels,
// and shrink what is larger than about 5,000 tokens.
const perImage = 5_000 * perToken

// requestSize is how much text a request holds, in bytes.
func requestSize(r model.Request) int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Doc) + len(t.Input)
	}
	for _, m := range r.Messages {
		n += blocksSize(m.Blocks)
	}
	return n
}

func blocksSize(blocks msg.Blocks) int {
	n := 0
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			n += len(b.Text)
		case msg.Image:
			n += perImage
		case msg.Reasoning:
			n += max(len(b.Text), len(b.Raw))
		case msg.Call:
			n += len(b.Name) + len(b.Args)
		case msg.Result:
			n += blocksSize(b.Blocks)
		}
	}
	return n
}

// replySize is how much of a reply was written by the model: the raw form of a thought holds its
// signature, too.
func replySize(blocks msg.Blocks) int {
	n := 0
	for _, b := range blocks {
		if t, ok := b.(msg.Reasoning); ok && t.Text != "" {
			n += len(t.Text)
			continue
		}
		n += blocksSize(msg.Blocks{b})
	}
	return n
}

// tokens rounds up.
func tokens(bytes int) int { return (bytes + perToken - 1) / perToken }
