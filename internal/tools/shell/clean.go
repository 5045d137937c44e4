package shell

import (
	"bytes"
	"encoding/binary"
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
		if c.state == ground && len(c.part) == 0 {
			if n := readable(p); n > 0 {
				c.write(p[:n])
				p = p[n:]
				continue
			}
			if n := c.colour(p); n > 0 {
				p = p[n:]
				continue
			}
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

// colour skips a whole control sequence of the commonest form, which the states below would take byte
// by byte.
func (c *cleaner) colour(p []byte) int {
	if len(p) < 3 || p[0] != 0x1b || p[1] != '[' {
		return 0
	}
	for i := 2; i < len(p) && i < 32; i++ {
		switch b := p[i]; {
		case b == 'm':
			return i + 1
		case b < '0' || b > ';':
			return 0
		}
	}
	return 0
}

// readable is how many bytes at the start of p are text without control characters.
func readable(p []byte) int {
	n := 0
	for {
		n += plain(p[n:])
		if n == len(p) || p[n] < utf8.RuneSelf {
			return n
		}
		r, k := utf8.DecodeRune(p[n:])
		if r == utf8.RuneError && k == 1 || r < 0xa0 {
			return n
		}
		n += k
	}
}

// plain is how many bytes at the start of p can be taken as they are.
func plain(p []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
		low  = 0x7f * ones
	)
	n := 0
	for ; len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		if w&high != 0 {
			break
		}
		small := ^(w + 0x60*ones)                                   // below a space
		ends := ^((w ^ '\n'*ones) + low) | ^((w ^ '\t'*ones) + low) // a newline or a tab
		del := ^((w ^ 0x7f*ones) + low)
		if (small&^ends|del)&high != 0 {
			break
		}
	}
	for ; n < len(p); n++ {
		if b := p[n]; (b < ' ' && b != '\n' && b != '\t') || b >= 0x7f {
			break
		}
	}
	return n
}
