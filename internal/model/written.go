package model

import (
	"slices"
	"sync"

	"jig/internal/msg"
)

// Written keeps what a dialect wrote of each message of its last request, so that a round of a long
// session costs no more than one of a short one. Form is what else decides how a message is written,
// beside the messages before it. The zero value is ready; it is safe for concurrent use. What is kept
// is shared and must not be changed.
type Written[Form comparable, Piece any] struct {
	mu     sync.Mutex
	form   Form
	said   []msg.Message
	pieces []Piece
}

// Each gives what is written of each message. write is asked of all of them in their order, as what
// it does may depend on those before; what it gives of one that is known is not looked at.
func (w *Written[Form, Piece]) Each(form Form, messages []msg.Message, write func(x msg.Message, known bool) Piece) []Piece {
	w.mu.Lock()
	said, pieces := w.said, w.pieces
	if w.form != form {
		said, pieces = nil, nil
	}
	w.mu.Unlock()
	n := 0
	for n < min(len(said), len(messages)) && said[n].Same(messages[n]) {
		n++
	}
	said, pieces = slices.Clip(said[:n]), slices.Clip(pieces[:n]) // another request may append as well
	for i, x := range messages {
		p := write(x, i < n)
		if i >= n {
			x.Blocks = slices.Clone(x.Blocks) // whoever changes a block later changes theirs
			said, pieces = append(said, x), append(pieces, p)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.form, w.said, w.pieces = form, said, pieces
	return slices.Clip(pieces)
}
