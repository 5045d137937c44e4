package regex

import (
	"bytes"
	"slices"
	"unsafe"
)

// The table of a lazy automaton holds one row per state, with one entry per column of
// the program. A state is named by the index of its row's first entry. The first row
// stands for what is not computed yet, the second for a match; both lead only to
// themselves. Entries of other rows may have the bit goIdle: in their state nothing can
// match before the next line.
const (
	goUnknown uint32 = 0
	goIdle    uint32 = 1 << 31
)

const (
	cacheLimit = 8 << 20 // bytes that the table and the states may take
	// The cache is given up when it was cleared often and did not pay meanwhile.
	clearsBeforeGivingUp = 4
	bytesPerState        = 16
	// simulatedSize bytes are then searched without it before it gets another chance.
	simulatedSize = 256 << 10
)

// lazy is a deterministic automaton that is computed while it is used.
type lazy struct {
	prog   *program
	step   *stepper
	stride int
	match  uint32 // the name of the row that stands for a match
	table  []uint32
	states []cachedState
	arena  []thread
	ids    map[string]uint32
	start  uint32 // the entry for the first line
	resume uint32 // the entry for a line after another
	// middle are the entries for the middle of a line, by what is behind; those that
	// need to know more than that are not among them.
	middle  [behindOther + 1]uint32
	clears  int
	visited int // bytes read since the cache was cleared
	// always is set if the pattern matches at the start of every line, anchored if a
	// match can begin nowhere else.
	always, anchored bool
}

type cachedState struct {
	decoding decoding
	from, to int // in the arena
}

func newLazy(p *program) *lazy {
	d := &lazy{prog: p, step: newStepper(p), stride: p.endColumn + 1, match: uint32(p.endColumn + 1)}
	d.anchored = d.step.anchored()
	d.reset()
	return d
}

// reset empties the cache but for the state at the start of a line.
func (d *lazy) reset() {
	d.table = append(d.table[:0], make([]uint32, 2*d.stride)...)
	for i := range d.stride {
		d.table[d.stride+i] = d.match
	}
	d.states = append(d.states[:0], cachedState{}, cachedState{})
	d.arena = d.arena[:0]
	d.ids = map[string]uint32{}
	d.visited = 0
	pos, matched := d.step.begin(true)
	d.always = matched
	d.start, _ = d.intern(pos)
	pos, _ = d.step.begin(false)
	d.resume, _ = d.intern(pos)
	for _, back := range [...]behind{behindCR, behindWord, behindOther} {
		d.middle[back], _ = d.intern(d.step.middle(back))
	}
}

func (d *lazy) size() int {
	return 4*len(d.table) + 64*len(d.states) + 8*len(d.arena)
}

// intern returns the entry for a position.
func (d *lazy) intern(pos position) (entry uint32, ok bool) {
	from := len(d.arena)
	d.arena = append(append(d.arena, thread(pos.decoding)), pos.threads...)
	slices.Sort(d.arena[from+1:]) // the order of threads means nothing
	key := threadBytes(d.arena[from:])
	if id, ok := d.ids[key]; ok {
		d.arena = d.arena[:from]
		return id, true
	}
	if d.size() > cacheLimit && len(d.states) > 8 {
		d.arena = d.arena[:from]
		return 0, false
	}
	entry = uint32(len(d.table))
	if len(pos.threads) == 0 && d.anchored {
		entry |= goIdle
	}
	d.table = append(d.table, make([]uint32, d.stride)...)
	d.states = append(d.states, cachedState{pos.decoding, from, len(d.arena)})
	d.ids[key] = entry // the key stays in the arena, which only grows until it is reset
	return entry, true
}

func threadBytes(t []thread) string {
	return unsafe.String((*byte)(unsafe.Pointer(&t[0])), 8*len(t))
}

func (d *lazy) position(state uint32) position {
	c := d.states[int(state)/d.stride]
	return position{c.decoding, d.arena[c.from+1 : c.to]}
}

// fill computes the entry of a state for a byte. It fails if the cache is not worth
// its while; otherwise state may have to be taken anew from the entry.
func (d *lazy) fill(state uint32, b int) (entry uint32, ok bool) {
	column := d.prog.endColumn
	if b != endOfText {
		column = int(d.prog.columns[b])
	}
	pos, matched := d.step.step(d.position(state), b)
	switch {
	case matched:
		entry = d.match
	case b == endOfText, b == '\n':
		entry = d.resume
	default:
		if entry, ok = d.intern(pos); !ok {
			if d.clears++; d.clears > clearsBeforeGivingUp && d.visited < bytesPerState*len(d.states) {
				return 0, false
			}
			pos.threads = append([]thread(nil), pos.threads...)
			d.reset()
			entry, _ = d.intern(pos)
			return entry, true // the row of state is gone
		}
	}
	d.table[int(state)+column] = entry
	return entry, true
}

// scan looks for a match in buf from offset at, the start of a line, on. It returns the
// offset of a byte in the matching line; the line feed belongs to the line it ends.
func (d *lazy) scan(buf []byte, at int) (int, bool) {
	if d.always {
		return at, at < len(buf)
	}
	entry := d.start
	if !d.anchored && len(buf)-at >= leadSize+minBlock {
		lead := buf[:nextLine(buf, at+leadSize)]
		if i, ok := d.sequential(lead, at, entry); ok {
			return i, true
		}
		var i int
		var ok bool
		if i, at, ok = d.blocks(buf, len(lead)); ok {
			return i, true
		}
		entry = d.resume
	}
	return d.sequential(buf, at, entry)
}

// entryAt returns the entry for the offset from, where a match may begin but no earlier
// one can be under way. at is the start of the text searched.
func (d *lazy) entryAt(buf []byte, at, from int) (entry uint32, ok bool) {
	if from == at {
		return d.start, true
	}
	switch b := buf[from-1]; {
	case b == '\n':
		return d.resume, true
	case b < 0x80:
		return d.middle[behindByte(b)], true
	}
	return d.middle[behindOther], !d.prog.unicodeWord
}

// sequential is scan from a given entry on, at the offset that it is for.
func (d *lazy) sequential(buf []byte, at int, entry uint32) (int, bool) {
	state, idle := entry&^goIdle, entry&goIdle != 0
	begun, first := at, entry == d.start
	for i := at; ; {
		if idle {
			n := bytes.IndexByte(buf[i:], '\n')
			if n < 0 {
				return 0, false
			}
			i += n
		}
		i, entry, state = d.run(buf, i, state)
		if i == len(buf) {
			if i == at || buf[i-1] == '\n' {
				return 0, false
			}
			return i - 1, d.matchesAtEnd(state)
		}
		if entry == goUnknown {
			if d.step.interrupted() {
				return 0, false
			}
			d.visited += i - begun
			begun = i
			var ok bool
			if entry, ok = d.fill(state, int(buf[i])); !ok {
				line := bytes.LastIndexByte(buf[:i], '\n') + 1
				end := nextLine(buf, min(line+simulatedSize, len(buf)))
				if i, ok = simulate(d.step, buf[:end], line, first && line == at); ok || end == len(buf) {
					return i, ok
				}
				d.reset()
				d.clears = clearsBeforeGivingUp
				i, begun, entry = end, end, d.resume
				state, idle = entry&^goIdle, entry&goIdle != 0
				continue
			}
		}
		if entry == d.match {
			return i, true
		}
		idle = entry&goIdle != 0
		state = entry &^ goIdle
		i++
	}
}

// run follows known entries. It stops at an entry that needs a closer look, returning
// the offset of the byte, the entry, and the state before the byte.
func (d *lazy) run(buf []byte, i int, state uint32) (int, uint32, uint32) {
	table, columns, special := d.table, &d.prog.columns, int32(d.match)
	for ; i+4 <= len(buf); i += 4 {
		b := buf[i : i+4 : i+4]
		e := table[state+uint32(columns[b[0]])]
		if int32(e) <= special {
			return i, e, state
		}
		f := table[e+uint32(columns[b[1]])]
		if int32(f) <= special {
			return i + 1, f, e
		}
		g := table[f+uint32(columns[b[2]])]
		if int32(g) <= special {
			return i + 2, g, f
		}
		h := table[g+uint32(columns[b[3]])]
		if int32(h) <= special {
			return i + 3, h, g
		}
		state = h
	}
	for ; i < len(buf); i++ {
		e := table[state+uint32(columns[buf[i]])]
		if int32(e) <= special {
			return i, e, state
		}
		state = e
	}
	return i, 0, state
}

// matchesAtEnd reports whether a line matches that the end of the text ends.
func (d *lazy) matchesAtEnd(state uint32) bool {
	entry := d.table[int(state)+d.prog.endColumn]
	if entry == goUnknown {
		entry, _ = d.fill(state, endOfText)
	}
	return entry == d.match
}

// simulate does what scan does, but remembers nothing. first is as in begin.
func simulate(s *stepper, buf []byte, at int, first bool) (int, bool) {
	var threads []thread
	pos, matched := s.begin(first)
	for i := at; i < len(buf) && !s.interrupted(); i++ {
		threads = append(threads[:0], pos.threads...)
		pos.threads = threads
		if !matched {
			pos, matched = s.step(pos, int(buf[i]))
		}
		if matched {
			return i, true
		}
		if buf[i] == '\n' {
			pos, matched = s.begin(false)
		}
	}
	if len(buf) > at && buf[len(buf)-1] != '\n' && !s.interrupted() {
		threads = append(threads[:0], pos.threads...)
		pos.threads = threads
		_, matched = s.step(pos, endOfText)
		return len(buf) - 1, matched
	}
	return 0, false
}
