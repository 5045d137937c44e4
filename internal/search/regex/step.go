package regex

import "sync/atomic"

// thread is a place in the program together with what it still depends on:
//
//	bits 32…63  the instruction
//	bits 16…31  the state within a character that opChar is reading
//	bits  8…14  pending: what the character being read may turn out to be
//	bits  0…6   what may be ahead of the current position
type thread uint64

func newThread(pc uint32, state uint16, pending, next ahead) thread {
	return thread(pc)<<32 | thread(state)<<16 | thread(pending)<<8 | thread(next)
}

func (t thread) pc() uint32     { return uint32(t >> 32) }
func (t thread) state() uint16  { return uint16(t >> 16) }
func (t thread) pending() ahead { return ahead(t>>8) & aheadAny }
func (t thread) next() ahead    { return ahead(t) & aheadAny }

// settled is the value of pending of a thread that waits for nothing.
const settled = aheadLong

// decodedASCII is what is known after an ASCII character.
func decodedASCII(back behind) decoding {
	if back == behindCR {
		back = behindOther
	}
	return newDecoded(back, 3)
}

// position is everything that matters about a position in a text: the threads there
// and, if the program has to know about words, where in a character it is.
type position struct {
	decoding decoding
	threads  []thread
}

// decoding is how far a character has been read, or what was read last:
//
//	0                 nothing, or bytes that are no character
//	bit 63 clear      in the midst of a character of bits 32…34 bytes; the states of
//	                  program.word and program.other are in bits 16…31 and 0…15
//	bit 63 set        after a character, which bits 8…15 tell; as many more bytes that
//	                  continue none, but follow it, as bits 0…7 say do not hide it
//
// The last case is how Rust's engine looks back: for the last byte that could begin a
// character, no more than four bytes away.
type decoding uint64

const decoded decoding = 1 << 63

func newDecoded(back behind, left int) decoding {
	return decoded | decoding(back)<<8 | decoding(left)
}

// endOfText stands for a byte where there is none.
const endOfText = -1

// stepper moves a program over a text, byte by byte. It holds only scratch memory.
type stepper struct {
	prog  *program
	seen  []uint32 // the round in which an instruction was reached
	next  []ahead  // for those reached in this round: with what ahead
	round uint32
	stack []uint32
	found []uint32 // the instructions reached in this round that end a path
	late  []thread // threads to go on from in a round of their own
	out   []thread

	stopped *atomic.Bool // set from outside to end a search; nil: nobody can
}

func (s *stepper) interrupted() bool { return s.stopped != nil && s.stopped.Load() }

func newStepper(p *program) *stepper {
	return &stepper{prog: p, seen: make([]uint32, len(p.insts)), next: make([]ahead, len(p.insts))}
}

// begin returns the position at the start of a line, and whether the program has
// matched there. Where the text goes on over several lines, ripgrep looks back at the
// line feed before the line, except in the line it begins with; the difference shows
// only in lines that begin with the rest of a character.
func (s *stepper) begin(first bool) (pos position, matched bool) {
	s.out = s.out[:0]
	s.newRound()
	s.reach(s.prog.start, behindStart)
	matched = s.finishRound(settled)
	pos.threads = s.out
	if !first && s.prog.unicodeWord && !s.prog.wholeText {
		pos.decoding = newDecoded(behindOther, 3)
	}
	return pos, matched
}

// middle returns the position after an ASCII character within a line if no thread has
// come that far.
func (s *stepper) middle(back behind) (pos position) {
	s.out = s.out[:0]
	s.newRound()
	s.reach(s.prog.start, back)
	s.finishRound(settled)
	pos.threads = s.out
	if s.prog.unicodeWord {
		pos.decoding = decodedASCII(back)
	}
	return pos
}

// anchored reports whether a match can begin only at the start of a line.
func (s *stepper) anchored() bool {
	for back := behindStart + 1; back <= behindBad; back++ {
		s.newRound()
		s.reach(s.prog.start, back)
		if len(s.found) > 0 {
			return false
		}
	}
	return true
}

// step moves from a position over a byte. The threads of the position returned are
// valid until the next call. After a line feed or the end there are none.
func (s *stepper) step(from position, b int) (to position, matched bool) {
	s.out, s.late = s.out[:0], s.late[:0]
	now, was, decoding, behind := s.look(from.decoding, b)
	s.newRound()
	for _, t := range from.threads {
		pending, next := t.pending(), t.next()
		if pending != settled && was != 0 {
			if pending&was == 0 {
				continue
			}
			pending = settled
		}
		switch {
		case next == aheadAny:
		case now != 0:
			if next&now == 0 {
				continue
			}
		case next&aheadLong == 0:
			continue
		default:
			pending = next & aheadLong
		}
		if s.advance(t, pending, b, behind) {
			return position{}, true
		}
	}
	if b == '\n' || b == endOfText {
		return position{}, false
	}
	s.reach(s.prog.start, behind)
	if s.finishRound(settled) {
		return position{}, true
	}
	s.finishLate(behind)
	return position{decoding: decoding, threads: s.out}, false
}

// look tells what turned out to be ahead of the position before the byte, what the
// character before it, if one was being read, turned out to be (each 0 if it is still
// open), and what is behind the position after it.
func (s *stepper) look(from decoding, b int) (now, was ahead, to decoding, back behind) {
	p := s.prog
	switch {
	case b == endOfText, b == '\n' && p.wholeText:
		now = aheadEnd
	case b < 0x80:
		now, back = aheadByte(byte(b)), behindByte(byte(b))
	case !p.unicodeWord:
		return aheadOther, 0, 0, behindOther
	}
	if !p.unicodeWord {
		return now, 0, 0, back
	}
	reading := from != 0 && from&decoded == 0
	if reading {
		was = aheadBad
	}
	if b < 0x80 {
		return now, was, decodedASCII(back), back
	}
	if b&0xC0 != 0x80 {
		word, other := p.word.first[b], p.other.first[b]
		if word|other == classDead {
			return aheadBad, was, 0, behindBad
		}
		return 0, was, charLength(byte(b))<<32 | decoding(word)<<16 | decoding(other), behindBad
	}
	// No character begins with this byte.
	if !reading {
		if left := from & 0xFF; left > 0 {
			return aheadBad, 0, from - 1, behind(from >> 8)
		}
		return aheadBad, 0, 0, behindBad
	}
	word, other := uint16(from>>16), uint16(from)
	if word != classDead {
		word = p.word.step(word, byte(b))
	}
	if other != classDead {
		other = p.other.step(other, byte(b))
	}
	left := 4 - int(from>>32)
	switch {
	case word == classDone:
		return aheadBad, aheadUniWord, newDecoded(behindUniWord, left), behindUniWord
	case other == classDone:
		return aheadBad, aheadOther, newDecoded(behindOther, left), behindOther
	case word|other == classDead:
		return aheadBad, aheadBad, 0, behindBad
	}
	return aheadBad, 0, from>>32<<32 | decoding(word)<<16 | decoding(other), behindBad
}

// charLength is how many bytes a character has that begins with b.
func charLength(b byte) decoding {
	switch {
	case b < 0xE0:
		return 2
	case b < 0xF0:
		return 3
	}
	return 4
}

// advance moves one thread over a byte. It reports a match that is settled.
func (s *stepper) advance(t thread, pending ahead, b int, back behind) (matched bool) {
	in := &s.prog.insts[t.pc()]
	switch in.op {
	case opMatch:
		if pending == settled {
			return true
		}
		s.out = append(s.out, newThread(t.pc(), 0, pending, aheadAny))
		return false
	case opByte:
		if b != int(in.arg) {
			return false
		}
	case opBytes:
		if b < 0 || !s.prog.byteSets[in.arg].has(byte(b)) {
			return false
		}
	case opChar:
		if b < 0 {
			return false
		}
		class, state := s.prog.classes[in.arg], t.state()
		if state == classDead {
			state = class.first[b]
		} else {
			state = class.step(state, byte(b))
		}
		if state == classDead {
			return false
		}
		if state != classDone {
			s.out = append(s.out, newThread(t.pc(), state, pending, aheadAny))
			return false
		}
	}
	if pending == settled {
		s.reach(in.next, back)
	} else {
		s.late = append(s.late, newThread(in.next, 0, pending, aheadAny))
	}
	return false
}

// finishLate goes on from the threads that wait, those that wait for the same
// together.
func (s *stepper) finishLate(back behind) {
	for len(s.late) > 0 {
		pending := s.late[0].pending()
		s.newRound()
		rest := s.late[:0]
		for _, t := range s.late {
			if t.pending() == pending {
				s.reach(t.pc(), back)
			} else {
				rest = append(rest, t)
			}
		}
		s.late = rest
		s.finishRound(pending)
	}
}

func (s *stepper) newRound() {
	s.found = s.found[:0]
	if s.round++; s.round == 0 { // the counter has gone round once
		clear(s.seen)
		s.round = 1
	}
}

// reach follows all paths from an instruction that read nothing. An instruction that
// several paths reach needs ahead what any of them needs.
func (s *stepper) reach(pc uint32, back behind) {
	insts := s.prog.insts
	s.mark(pc, aheadAny)
	for len(s.stack) > 0 {
		pc = s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		in, next := &insts[pc], s.next[pc]
		switch in.op {
		case opSplit:
			s.mark(in.arg, next)
			s.mark(in.next, next)
		case opLook:
			if next &= look(in.arg).needs(back); next != 0 {
				s.mark(in.next, next)
			}
		}
	}
}

// mark notes that a path reaches an instruction, and queues it if that is news.
func (s *stepper) mark(pc uint32, next ahead) {
	if s.seen[pc] != s.round {
		s.seen[pc], s.next[pc] = s.round, 0
		switch s.prog.insts[pc].op {
		case opSplit, opLook, opFail:
		default:
			s.found = append(s.found, pc)
		}
	}
	if have := s.next[pc]; have|next != have {
		s.next[pc] = have | next
		s.stack = append(s.stack, pc)
	}
}

// finishRound makes threads of the instructions reached. It reports a match that
// nothing ahead can undo.
func (s *stepper) finishRound(pending ahead) (matched bool) {
	for _, pc := range s.found {
		next := s.next[pc]
		if s.prog.insts[pc].op == opMatch && next == aheadAny && pending == settled {
			return true
		}
		s.out = append(s.out, newThread(pc, 0, pending, next))
	}
	return false
}
