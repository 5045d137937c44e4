package regex

import (
	"fmt"
	"math"
)

// sizeLimit is ripgrep's limit on what a compiled pattern may take, in the bytes that
// its engine would count. The costs below are fitted to what it accepts.
const sizeLimit = 100 << 20

const (
	costState    = 32 // one byte to read, or an assertion
	costOptional = 72
	costLoop     = 40
	costCapture  = 72
	costSet      = 64 // one byte of a set, and costRange for each range in it
	costRange    = 8
)

func errTooBig() error {
	return &SyntaxError{Reason: fmt.Sprintf("the pattern is too big: compiled, it would exceed %d MiB; use smaller repetitions", sizeLimit>>20)}
}

// size returns what ripgrep would count for a pattern, or any number over the limit.
func size(n *node) int {
	sum := 0
	switch n.kind {
	case kindLiteral:
		sum = costState * len(n.lit)
	case kindRunes:
		sum = classSize(n.set)
	case kindBytes:
		sum = costSet + costRange*len(n.set)
	case kindLook:
		sum = costState
	case kindAlternate:
		sum = costOptional + costRange*len(n.subs)
	case kindCapture:
		sum = costCapture
	case kindRepeat:
		sub := size(n.subs[0])
		if n.max == noLimit {
			return times(max(n.min, 1), sub) + costLoop
		}
		return times(n.min, sub) + times(n.max-n.min, sub+costOptional)
	}
	for _, s := range n.subs {
		if sum += size(s); sum > sizeLimit {
			break
		}
	}
	return sum
}

// times multiplies without overflow.
func times(n, size int) int {
	if size > 0 && n > math.MaxInt32/size {
		return math.MaxInt32
	}
	return n * size
}

// classSize is the size of a class: that of the automaton that reads its encodings
// backwards, most of whose states read the parts of one run of code points.
func classSize(set runeSet) int {
	if set[len(set)-1].hi < 0x80 {
		return costSet + costRange*len(set)
	}
	runs, bytes := 0, 0
	lo := rune(0)
	for length, hi := range []rune{0x7F, 0x7FF, 0xFFFF, maxRune} {
		for _, r := range set.intersect(runeSet{{lo, hi}}.minus(runeSet{{0xD800, 0xDFFF}})) {
			n := runsIn(r.lo, r.hi, length)
			runs += n
			bytes += n * (length + 1)
		}
		lo = hi + 1
	}
	// The more runs there are, the more of them have parts in common.
	states := 12 + 37*min(runs, 200)/20 + 5*max(runs-200, 0)/4
	return 40 + 36*min(bytes, states)
}

// runsIn returns into how many runs lo…hi falls apart if in each of them the bytes of
// the encodings, of which more follow the first, go through ranges of their own.
func runsIn(lo, hi rune, more int) int {
	for i := 1; i <= more; i++ {
		mask := rune(1)<<(6*i) - 1
		if lo&^mask == hi&^mask {
			continue
		}
		if lo&mask != 0 {
			return runsIn(lo, lo|mask, more) + runsIn(lo|mask+1, hi, more)
		}
		if hi&mask != mask {
			return runsIn(lo, hi&^mask-1, more) + runsIn(hi&^mask, hi, more)
		}
	}
	return 1
}
