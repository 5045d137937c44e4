package shell

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"jig/internal/process"
)

// cleaner makes what a terminal would show of a stream, as it streams by: escape sequences and
// control characters are gone, a line that was written again after a carriage return has its last
// state, and bytes that are no UTF-8 are U+FFFD. It holds back the line that may still be written
// again, up to longLine; what is longer settles as it is.
//
// A sequence that never ends, such as the start of a title in a binary file, does not swallow what
// follows: it is over at the end of its line, or after longLine bytes.
type cleaner struct {
	buf     []byte // the settled text, then the open line
	open    int    // where the open line begins
	again   bool   // a carriage return came: the next character begins the line again
	state   escape
	params  []byte // of a control sequence, as far as anybody looks at them
	part    []byte // the beginning of a rune
	skipped int    // bytes of the string that a sequence carries
}

var _ process.Filter = (*cleaner)(nil)

const longLine = 64 << 10

type escape uint8

const (
	ground  escape = iota
	escaped        // after ESC
	charset        // after ESC and an intermediate byte
	control        // inside CSI
	words          // inside OSC, DCS, SOS, PM or APC
	closing        // inside one of them, after ESC
)

// Push takes the next bytes and gives what is settled.
func (c *cleaner) Push(p []byte) []byte {
	n := copy(c.buf, c.buf[c.open:])
	c.buf, c.open = c.buf[:n], 0
	for len(p) > 0 {
		if n := c.plain(p); n > 0 {
			p = p[n:]
			continue
		}
		p = p[c.special(p):]
	}
	if len(c.buf)-c.open > longLine {
		c.open = len(c.buf)
	}
	return c.buf[:c.open]
}

// Rest gives the open line as it stands.
func (c *cleaner) Rest() []byte { return append(bytes.Clone(c.buf[c.open:]), c.part...) }

// write adds text without escapes or control characters but tab and newline.
func (c *cleaner) write(p []byte) {
	if c.again && p[0] != '\n' {
		c.buf = c.buf[:c.open]
	}
	c.again = false
	c.buf = append(c.buf, p...)
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		c.open = len(c.buf) - len(p) + i + 1
	}
}

// special takes what is at the start of p and not plain, and says how many bytes that was.
func (c *cleaner) special(p []byte) int {
	b := p[0]
	switch {
	case len(c.part) > 0:
		return c.continued(p)
	case b == '\n' && c.state != ground, b == 0x18, b == 0x1a: // the two that cancel a sequence
		c.state = ground
		if b == '\n' {
			c.write(p[:1])
		}
	case b == 0x1b:
		if c.state == words {
			c.state = closing
		} else {
			c.state = escaped
		}
	case c.state != ground:
		return c.sequence(b)
	case b == '\r':
		c.again = true
	case b >= utf8.RuneSelf:
		return c.rune(p)
	}
	return 1
}

// sequence takes one byte of an escape sequence. It takes none when the byte shows that there is no
// sequence.
func (c *cleaner) sequence(b byte) int {
	switch c.state {
	case escaped:
		c.state = ground
		switch {
		case b == '[':
			c.state, c.params = control, c.params[:0]
		case b == ']', b == 'P', b == 'X', b == '^', b == '_':
			c.state, c.skipped = words, 0
		case b >= 0x20 && b < 0x30:
			c.state = charset
		case b >= utf8.RuneSelf:
			return 0
		}
	case charset:
		if b >= 0x30 {
			c.state = ground
		}
		if b >= utf8.RuneSelf {
			return 0
		}
	case control:
		switch {
		case b >= utf8.RuneSelf:
			c.state = ground
			return 0
		case b >= 0x40 && b < 0x7f:
			c.state = ground
			if b == 'K' {
				c.erase()
			}
		case len(c.params) < 8:
			c.params = append(c.params, b)
		}
	case words:
		if c.skipped++; b == 0x07 || c.skipped > longLine {
			c.state = ground
		}
	case closing:
		c.state = ground
		if b != '\\' {
			c.state = escaped
			return 0
		}
	}
	return 1
}

// erase follows the one sequence that progress displays need: a line that is cleared before it is
// written again.
func (c *cleaner) erase() {
	switch what := string(c.params); {
	case what == "2", c.again && (what == "" || what == "0"):
		c.buf, c.again = c.buf[:c.open], false
	}
}

// rune takes one that is not ASCII.
func (c *cleaner) rune(p []byte) int {
	if !utf8.FullRune(p) {
		c.part = append(c.part, p...)
		return len(p)
	}
	r, n := utf8.DecodeRune(p)
	switch {
	case r == utf8.RuneError && n == 1:
		c.write([]byte("\uFFFD"))
	case r >= 0x80 && r < 0xa0: // control characters, too
	default:
		c.write(p[:n])
	}
	return n
}

// continued goes on with a rune that began in an earlier piece.
func (c *cleaner) continued(p []byte) int {
	had := len(c.part)
	all := append(slices.Clone(c.part), p[:min(len(p), utf8.UTFMax-had)]...)
	c.part = nil
	n := c.rune(all)
	if len(c.part) > 0 {
		return len(p)
	}
	if n < had { // an invalid byte: what else was held back comes again
		rest := bytes.Clone(all[n:had])
		for len(rest) > 0 && len(c.part) == 0 {
			rest = rest[c.rune(rest):]
		}
		return 0
	}
	return n - had
}

// plain takes what is at the start of p and needs no state, and says how many bytes that was: text,
// ends of lines, colours. Nearly all that is ever printed is that, and hundreds of megabytes of it may
// be; so it is looked at eight bytes at a time, which are copied first and counted when they turn out
// to be text.
func (c *cleaner) plain(p []byte) (n int) {
	if c.state != ground || len(c.part) > 0 {
		return 0
	}
	if c.again {
		switch {
		case odd(uint64(p[0]))&0x80 != 0:
			return 0
		case p[0] != '\n':
			c.buf = c.buf[:c.open]
		}
		c.again = false
	}
	c.buf = slices.Grow(c.buf, len(p)+8)
	from := len(c.buf)
	buf, to := c.buf[:cap(c.buf)], from
	for n < len(p) {
		k := text8(buf[to:], p[n:])
		n, to = n+k, to+k
		skip := colour(p[n:])
		if skip == 0 && n+1 < len(p) && p[n] == '\r' && p[n+1] == '\n' {
			skip = 1
		}
		if skip == 0 {
			skip = foreign(buf[to:], p[n:])
			to += skip
		}
		if skip == 0 {
			break
		}
		n += skip
	}
	c.buf = buf[:to]
	if i := bytes.LastIndexByte(c.buf[from:], '\n'); i >= 0 {
		c.open = from + i + 1
	}
	return n
}

const (
	ones = 0x0101010101010101
	high = 0x80 * ones // the highest bit of each of eight bytes
	low  = 0x7f * ones
)

// text8 copies text as it is, up to the first byte that is none, and says how much that was. In to there
// must be room for all of p.
func text8(to, p []byte) int {
	to = to[:len(p)]
	n := 0
	for ; n <= len(p)-8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n : n+8])
		binary.LittleEndian.PutUint64(to[n:n+8], w)
		if (w|(w+ones)|(w-' '*ones))&high == 0 { // nothing but letters, digits and the like
			continue
		}
		if o := odd(w); o != 0 {
			return n + bits.TrailingZeros64(o)/8
		}
	}
	for ; n < len(p) && odd(uint64(p[n]))&0x80 == 0; n++ {
		to[n] = p[n]
	}
	return n
}

// odd marks, with the highest bit of each byte of w, those that are not text as it is: all but ASCII
// characters, tabs and ends of lines.
func odd(w uint64) uint64 {
	v := w & low
	ends := ^((v ^ '\n'*ones) + low) | ^((v ^ '\t'*ones) + low)
	del := ^((v ^ 0x7f*ones) + low)
	small := ^(v + 0x60*ones) // below a space
	return (small&^ends | del | w) & high
}

// foreign copies characters that are not ASCII, up to the first that is, or is none, or a control
// character, and says how many bytes that was.
func foreign(to, p []byte) (n int) {
	for n < len(p) && p[n] >= utf8.RuneSelf {
		r, k := utf8.DecodeRune(p[n:])
		if r == utf8.RuneError && k == 1 || r < 0xa0 {
			break
		}
		for end := n + k; n < end; n++ {
			to[n] = p[n]
		}
	}
	return n
}

// colour is the length of what p begins with if that is a whole control sequence of the commonest form,
// some digits and semicolons and an m; else 0.
func colour(p []byte) int {
	if len(p) < 10 || p[0] != 0x1b || p[1] != '[' {
		return 0
	}
	w := binary.LittleEndian.Uint64(p[2:]) ^ '0'*ones
	other := (w&low + ('0'+0x80-'<')*ones | w) & high
	if n := bits.TrailingZeros64(other) / 8; n < 8 && p[2+n] == 'm' {
		return 3 + n
	}
	return 0
}
