package process

import (
	"bytes"
	"unicode/utf8"
)

// What is kept of each end. A text of 32 KiB is kept whole, and so is the first
// or the last part of anything that is cut to less.
const (
	headBytes = 32 << 10
	tailBytes = 32 << 10
)

// Output is what a command has printed so far: all of it, or its two ends.
type Output struct {
	Head []byte // the first 32 KiB
	Tail []byte // the last 32 KiB of what followed Head
	// Gap is how many bytes between Head and Tail are not here. Where it is not 0,
	// Head ends and Tail begins on a UTF-8 boundary.
	Gap   int64
	Bytes int64 // all bytes: len(Head) + Gap + len(Tail)
	Lines int64 // all lines; a last one without a newline counts
}

// ends keeps the two ends of a stream in constant memory.
type ends struct {
	head, tail []byte // tail has up to twice its share, so that it is moved seldom
	bytes      int64
	newlines   int64
	last       byte
}

func (e *ends) add(p []byte) {
	if len(p) == 0 {
		return
	}
	e.bytes += int64(len(p))
	e.newlines += int64(bytes.Count(p, []byte{'\n'}))
	e.last = p[len(p)-1]
	if n := min(headBytes-len(e.head), len(p)); n > 0 {
		e.head = append(e.head, p[:n]...)
		p = p[n:]
	}
	if len(p) >= tailBytes {
		e.tail = append(e.tail[:0], p[len(p)-tailBytes:]...)
		return
	}
	if len(e.tail)+len(p) > 2*tailBytes {
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-tailBytes:]...)
	}
	e.tail = append(e.tail, p...)
}

// output gives a copy, with rest as if it had been added.
func (e *ends) output(rest []byte) Output {
	c := ends{head: bytes.Clone(e.head), tail: bytes.Clone(e.tail), bytes: e.bytes, newlines: e.newlines, last: e.last}
	c.add(rest)
	o := Output{Head: c.head, Tail: c.tail, Bytes: c.bytes, Lines: c.newlines}
	if c.bytes > 0 && c.last != '\n' {
		o.Lines++
	}
	if len(o.Tail) > tailBytes {
		o.Tail = o.Tail[len(o.Tail)-tailBytes:]
	}
	if c.bytes > int64(len(o.Head)+len(o.Tail)) {
		o.Head = o.Head[:len(o.Head)-partialRune(o.Head)]
		o.Tail = o.Tail[strayContinuation(o.Tail):]
	}
	o.Gap = c.bytes - int64(len(o.Head)+len(o.Tail))
	return o
}

// withoutPartialRune drops the beginning of a rune at the very end: the rest of
// it has not been printed yet.
func (o Output) withoutPartialRune() Output {
	last := &o.Tail
	if len(o.Tail) == 0 {
		last = &o.Head
	}
	n := partialRune(*last)
	*last = (*last)[:len(*last)-n]
	o.Bytes -= int64(n)
	return o
}

// FirstBytes gives at most n bytes from the start of b, and does not end inside
// a UTF-8 sequence.
func FirstBytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	b = b[:max(n, 0)]
	return b[:len(b)-partialRune(b)]
}

// LastBytes gives at most n bytes from the end of b, and does not begin inside a
// UTF-8 sequence.
func LastBytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	at := len(b) - max(n, 0)
	for k := at - 1; k >= max(at-utf8.UTFMax+1, 0); k-- {
		if utf8.RuneStart(b[k]) {
			if r, size := utf8.DecodeRune(b[k:]); r != utf8.RuneError && k+size > at {
				at = k + size
			}
			break
		}
	}
	return b[at:]
}

// partialRune is the length of an incomplete but so far valid sequence at the
// end of b. Bytes that are no UTF-8 are not given up.
func partialRune(b []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}

// strayContinuation is the number of bytes at the start of b that can only be
// the end of a sequence that began earlier.
func strayContinuation(b []byte) int {
	for i := 0; i < utf8.UTFMax && i < len(b); i++ {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return 0
}
