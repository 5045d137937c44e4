package regex

import (
	"bytes"
	"unsafe"
)

// Following one state after the other, the processor waits for each entry before it
// can ask for the next. Since lines do not depend on each other, a block of text is
// cut at line ends into streams that are followed at the same time, each filling the
// other's waits.
const (
	streams = 4
	// leadSize bytes are searched in order first: where matches are close together,
	// the other streams would work for nothing.
	leadSize = 512
	minBlock = 2 << 10
	maxBlock = 64 << 10
	// batch is how many bytes each stream goes on before the states are looked at.
	batch = 8
)

// nextLine returns the offset after the first line feed at or after at.
func nextLine(buf []byte, at int) int {
	if n := bytes.IndexByte(buf[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(buf)
}

// blocks looks for a match from the start of a line on. Without one it returns the
// offset of a line up to which there is none.
func (d *lazy) blocks(buf []byte, at int) (match, rest int, found bool) {
	for size := minBlock; len(buf)-at >= minBlock; size = min(2*size, maxBlock) {
		size = min(size, len(buf)-at)
		end := at + bytes.LastIndexByte(buf[at:at+size], '\n') + 1
		if end == at {
			break // the line is longer than the block
		}
		match, found, ok := d.block(buf, at, end)
		if found || !ok {
			return match, at, found
		}
		at = end
	}
	return 0, at, false
}

// stream is a part of a block and how far it has been searched.
type stream struct {
	at, end int
	state   uint32
}

// block looks for the first match in the lines from at to end. It fails if the lines
// are too long to be shared out, or if the cache was cleared.
func (d *lazy) block(buf []byte, at, end int) (match int, found, ok bool) {
	var s [streams]stream
	shortest := end - at
	for i := range s {
		s[i] = stream{at: at, end: end, state: d.resume}
		if i > 0 {
			cut := s[0].at + i*(end-s[0].at)/streams
			if cut < at {
				return 0, false, false
			}
			s[i].at = nextLine(buf[:end], cut)
			s[i-1].end = s[i].at
			at = s[i].at
			shortest = min(shortest, s[i-1].end-s[i-1].at)
		}
	}
	shortest = min(shortest, end-at)
	for shortest >= batch {
		n := d.runStreams(buf, &s, shortest/batch)
		shortest -= n * batch
		if shortest < batch {
			break
		}
		// One of the streams needs a closer look at the next batch.
		for i := range s {
			if match, found, ok = d.finish(buf, &s[i], s[i].at+batch); !ok {
				return 0, false, false
			}
			if found {
				return d.finishBefore(buf, s[:i], match)
			}
		}
		shortest -= batch
	}
	for i := range s {
		if match, found, ok = d.finish(buf, &s[i], s[i].end); found || !ok {
			return match, found, ok
		}
	}
	return 0, false, true
}

// finishBefore looks for a match in the streams before the one that has a match.
func (d *lazy) finishBefore(buf []byte, s []stream, known int) (match int, found, ok bool) {
	for i := range s {
		if match, found, ok = d.finish(buf, &s[i], s[i].end); found || !ok {
			return match, found, ok
		}
	}
	return known, true, true
}

// finish follows one stream up to an offset.
func (d *lazy) finish(buf []byte, s *stream, end int) (match int, found, ok bool) {
	for {
		var entry uint32
		begun := s.at
		s.at, entry, s.state = d.run(buf[:end], s.at, s.state)
		if s.at == end {
			return 0, false, true
		}
		if entry == goUnknown {
			d.visited += s.at - begun
			clears := d.clears
			if entry, ok = d.fill(s.state, int(buf[s.at])); !ok || d.clears != clears || d.step.interrupted() {
				return 0, false, false
			}
		}
		if entry == d.match {
			return s.at, true, true
		}
		s.state = entry
		s.at++
	}
}

// runStreams follows all streams for up to n batches and returns for how many it did,
// stopping before a batch in which a stream comes to a match or an unknown entry.
func (d *lazy) runStreams(buf []byte, s *[streams]stream, n int) int {
	// Every access below is in bounds: the bytes because each stream has n batches
	// left, the entries because rows lead only to rows. Checks would double the time.
	table := unsafe.Pointer(&d.table[0])
	columns := unsafe.Pointer(&d.prog.columns[0])
	text := unsafe.Pointer(&buf[0])
	p0, p1, p2, p3 := unsafe.Add(text, s[0].at), unsafe.Add(text, s[1].at), unsafe.Add(text, s[2].at), unsafe.Add(text, s[3].at)
	s0, s1, s2, s3 := s[0].state, s[1].state, s[2].state, s[3].state
	special := d.match
	done := 0
	for ; done < n; done++ {
		t0, t1, t2, t3 := s0, s1, s2, s3
		for i := range batch {
			offset := done*batch + i
			t0 = entryAt(table, columns, p0, offset, t0)
			t1 = entryAt(table, columns, p1, offset, t1)
			t2 = entryAt(table, columns, p2, offset, t2)
			t3 = entryAt(table, columns, p3, offset, t3)
		}
		if t0 <= special || t1 <= special || t2 <= special || t3 <= special {
			break
		}
		s0, s1, s2, s3 = t0, t1, t2, t3
	}
	d.visited += done * batch * streams
	for i, state := range [streams]uint32{s0, s1, s2, s3} {
		s[i].at += done * batch
		s[i].state = state
	}
	return done
}

func entryAt(table, columns, text unsafe.Pointer, offset int, state uint32) uint32 {
	column := *(*uint8)(unsafe.Add(columns, *(*uint8)(unsafe.Add(text, offset))))
	return *(*uint32)(unsafe.Add(table, 4*uintptr(state+uint32(column))))
}
