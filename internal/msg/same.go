package msg

import (
	"bytes"
	"slices"
	"unsafe"
)

// Same says whether two messages are the same. It is quick for those that share their texts.
func (m Message) Same(n Message) bool {
	return m.Role == n.Role && m.Provider == n.Provider && m.Model == n.Model && m.Blocks.Same(n.Blocks)
}

// Same says whether two lists of blocks are the same.
func (b Blocks) Same(c Blocks) bool { return slices.EqualFunc(b, c, same) }

func same(x, y Block) bool {
	if one(x, y) {
		return true
	}
	switch x := x.(type) {
	case Text:
		y, ok := y.(Text)
		return ok && x.Text == y.Text && bytes.Equal(x.Raw, y.Raw)
	case Image:
		y, ok := y.(Image)
		return ok && x.MIME == y.MIME && bytes.Equal(x.Data, y.Data)
	case Reasoning:
		y, ok := y.(Reasoning)
		return ok && x.Text == y.Text && bytes.Equal(x.Raw, y.Raw)
	case Call:
		y, ok := y.(Call)
		return ok && x.ID == y.ID && x.Given == y.Given && x.Name == y.Name && x.Args == y.Args && bytes.Equal(x.Raw, y.Raw)
	case Result:
		y, ok := y.(Result)
		return ok && x.Call == y.Call && x.Failed == y.Failed && x.Blocks.Same(y.Blocks)
	}
	return false
}

// one says whether two blocks are one and the same in memory. What an interface holds cannot be changed,
// so they are equal then, and a long conversation need not be looked through to find that out.
func one(x, y Block) bool {
	// the type and the value
	type words [2]uintptr
	return *(*words)(unsafe.Pointer(&x)) == *(*words)(unsafe.Pointer(&y)) //nolint:gosec // only compared
}
