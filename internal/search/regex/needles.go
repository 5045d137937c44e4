package regex

import (
	"math/bits"
	"slices"
)

// windowSize is how many neighbouring bytes of each literal are looked for at once.
const windowSize = 3

const bucketCount = 8

// needles finds the places of a set of literals. From each literal it takes the
// window of bytes that is rarest. The literals are spread over eight buckets, and for
// each place in the window a table says which buckets have which byte there; what is
// left after and-ing is verified. The tables for vectors are indexed by half a byte,
// which lets a few more candidates through.
type needles struct {
	buckets [bucketCount][]needle
	reach   int // how far a literal may begin before its window
	tables  [windowSize][256]uint8
	// open are the buckets whose windows end before a place.
	open [windowSize]uint8
	// nibbles are, for each place, the buckets by the low and by the high half of a
	// byte, each table twice, as vectors of 32 bytes need it.
	nibbles [2 * windowSize][32]uint8
	vectors bool
}

// needle is a literal to verify: the text is first or-ed with fold, which has the bit
// of the case where it does not matter.
type needle struct {
	text, fold []byte
	window     int // the offset of the window in the text
}

func newNeedles(lits []literal) *needles {
	n := &needles{vectors: hasVectors()}
	all := make([]needle, len(lits))
	for i, lit := range lits {
		all[i] = newNeedle(lit)
	}
	// Literals with like windows share a bucket, so that the buckets tell more.
	slices.SortFunc(all, func(a, b needle) int { return slices.Compare(a.text[a.window:], b.text[b.window:]) })
	for i, nd := range all {
		bucket := i * min(bucketCount, len(all)) / len(all)
		n.add(nd, bucket)
	}
	return n
}

func newNeedle(lit literal) needle {
	nd := needle{text: make([]byte, len(lit)), fold: make([]byte, len(lit))}
	for i, s := range lit {
		nd.text[i] = byte(s)
		if s&fold != 0 {
			nd.fold[i] = 0x20
		}
	}
	best := -1
	for i := 0; i == 0 || i+windowSize <= len(lit); i++ {
		sum := 0
		for _, s := range lit[i:min(i+windowSize, len(lit))] {
			sum += s.rarity()
		}
		if sum > best {
			best, nd.window = sum, i
		}
	}
	return nd
}

func (n *needles) add(nd needle, bucket int) {
	n.buckets[bucket] = append(n.buckets[bucket], nd)
	n.reach = max(n.reach, nd.window)
	bit := uint8(1) << bucket
	for place := range windowSize {
		i := nd.window + place
		if i >= len(nd.text) {
			n.open[place] |= bit
			for b := range 256 {
				n.setByte(place, byte(b), bit)
			}
			continue
		}
		n.setByte(place, nd.text[i], bit)
		n.setByte(place, nd.text[i]&^nd.fold[i], bit)
	}
}

func (n *needles) setByte(place int, b byte, bit uint8) {
	n.tables[place][b] |= bit
	for half := range 2 {
		n.nibbles[2*place][half*16+int(b&15)] |= bit
		n.nibbles[2*place+1][half*16+int(b>>4)] |= bit
	}
}

// next returns the offset of a byte of the first literal in buf at or after the
// offset at, or -1.
func (n *needles) next(buf []byte, at int) int {
	for {
		var hit uint8
		if at, hit = n.candidate(buf, at); at < 0 {
			return -1
		}
		for ; hit != 0; hit &= hit - 1 {
			for i := range n.buckets[bits.TrailingZeros8(hit)] {
				if n.buckets[bits.TrailingZeros8(hit)][i].matches(buf, at) {
					return at
				}
			}
		}
		at++
	}
}

// matches reports whether the literal is in buf such that its window is at offset at.
func (nd *needle) matches(buf []byte, at int) bool {
	from := at - nd.window
	if from < 0 || from+len(nd.text) > len(buf) {
		return false
	}
	text, fold := nd.text, nd.fold
	for i, b := range buf[from : from+len(text)] {
		if b|fold[i] != text[i] {
			return false
		}
	}
	return true
}

// candidate returns the first offset, at or after at, where the window of some
// bucket is, and the buckets, or -1.
func (n *needles) candidate(buf []byte, at int) (int, uint8) {
	if n.vectors {
		at = n.skip(buf, at)
	}
	t0, t1, t2 := &n.tables[0], &n.tables[1], &n.tables[2]
	for ; at+2 < len(buf); at++ {
		if hit := t0[buf[at]] & t1[buf[at+1]] & t2[buf[at+2]]; hit != 0 {
			return at, hit
		}
	}
	for ; at < len(buf); at++ {
		hit := t0[buf[at]]
		if at+1 < len(buf) {
			hit &= t1[buf[at+1]]
		} else {
			hit &= n.open[1]
		}
		if hit &= n.open[2]; hit != 0 {
			return at, hit
		}
	}
	return -1, 0
}

const (
	vectorBlock = 64
	// vectorOverhang is how far behind the last block the vectors read.
	vectorOverhang = windowSize - 1
)

// skip returns an offset before which, from at on, there is no candidate.
func (n *needles) skip(buf []byte, at int) int {
	for {
		size := (len(buf) - at - vectorOverhang) &^ (vectorBlock - 1)
		if size <= 0 {
			return at
		}
		i := findWindow(&buf[at], size, &n.nibbles)
		at += i
		if i == size || n.tables[0][buf[at]]&n.tables[1][buf[at+1]]&n.tables[2][buf[at+2]] != 0 {
			return at
		}
		at++
	}
}
