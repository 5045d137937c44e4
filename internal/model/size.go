package model

import "jig/internal/msg"

// BytesPerToken is how many bytes of text a token is taken to have where nobody has counted. Prose and
// code have more.
const BytesPerToken = 4

// perImage is what a picture is taken to be, in bytes of text: providers count its size in pixels,
// and shrink what is larger than about 5,000 tokens.
const perImage = 5_000 * BytesPerToken

// Size is how much text a request holds, in bytes.
func (r Request) Size() int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Doc) + len(t.Input)
	}
	for _, m := range r.Messages {
		n += Size(m.Blocks)
	}
	return n
}

// Size is how much text blocks hold, in bytes.
func Size(blocks msg.Blocks) int {
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
			n += Size(b.Blocks)
		}
	}
	return n
}
