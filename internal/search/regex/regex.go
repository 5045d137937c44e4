// Package regex finds the lines of a buffer that a regular expression matches.
//
// It reads the syntax of Rust's regex crate, and takes and refuses what ripgrep 15
// does: Unicode throughout, classes with operators, no look-around and no
// backreferences. (What the group that ripgrep puts around a pattern lets through
// or breaks, such as `a)|(b` or a final comment in verbose mode, is judged without
// that group.) A match lies within one line, and bytes that are not UTF-8 match only
// what asks for them by (?-u).
//
// The package answers only whether a line matches, never where in the line: there are
// no spans and no captures. Matching never backtracks: its time grows with the length
// of the buffer, at worst times the size of the pattern.
package regex

import "sync/atomic"

import "bytes"

// Options changes how a pattern is read.
type Options struct {
	// IgnoreCase matches letters of either case, as the flag (?i) would.
	IgnoreCase bool
}

// Regexp is a compiled pattern. It is immutable and may be shared by goroutines.
type Regexp struct {
	pattern string
	prog    *program
	// needles finds what every matching line contains; nil if there is nothing worth
	// looking for. plain and first are as in required.
	needles      *needles
	plain, first bool
}

// Compile reads a pattern. The error, a *SyntaxError, is one line that says what is
// wrong and at which byte offset of the pattern.
func Compile(pattern string, opt Options) (*Regexp, error) {
	n, err := parse(pattern, opt.IgnoreCase)
	if err != nil {
		return nil, err
	}
	return compileNode(pattern, n, sizeLimit)
}

// compileNode makes a Regexp of a parsed pattern, if its size is within the limit.
func compileNode(pattern string, n *node, limit int) (*Regexp, error) {
	if size(n) > limit {
		return nil, errTooBig()
	}
	n, err := restrict(n)
	if err != nil {
		return nil, err
	}
	re := &Regexp{pattern: pattern, prog: compile(n)}
	if r := requiredLiterals(trim(n)); len(r.lits) > 0 && len(r.lits[0]) > 0 {
		re.needles, re.plain, re.first = newNeedles(r.lits), r.plain, r.first
	}
	return re, nil
}

// String returns the pattern as it was given to Compile.
func (re *Regexp) String() string { return re.pattern }

// Matcher returns a new matcher of the pattern, for one goroutine at a time.
func (re *Regexp) Matcher() *Matcher { return &Matcher{re: re} }

// Matcher searches buffers for one pattern. It holds scratch memory and must
// not be used by two goroutines at once.
type Matcher struct {
	re  *Regexp
	dfa *lazy
	// misses counts the lines that had a needle and did not match, skipped the bytes
	// passed over to find them. Once the needles do not pay, pause is how many bytes
	// are searched without them before they get another chance.
	misses, skipped, pause int
	stopped                atomic.Bool
}

// Interrupt makes the search that runs, and every later one, end soon and find nothing more. It is the
// one method that may be called from another goroutine: a pattern may be so large that each byte of
// a text costs milliseconds.
func (m *Matcher) Interrupt() { m.stopped.Store(true) }

func (m *Matcher) automaton() *lazy {
	if m.dfa == nil {
		m.dfa = newLazy(m.re.prog)
		m.dfa.step.stopped = &m.stopped
	}
	return m.dfa
}

// NextLine returns the bounds, without the line feed, of the first line of buf
// at or after offset at that matches. at must be the start of a line.
func (m *Matcher) NextLine(buf []byte, at int) (start, end int, ok bool) {
	for at < len(buf) && !m.stopped.Load() {
		stop := len(buf)
		if m.re.needles != nil {
			if m.pause <= 0 {
				var i int
				if i, at = m.nextNeedle(buf, at); i >= 0 {
					start, end = lineAround(buf, at, i)
					return start, end, true
				}
				continue
			}
			stop = nextLine(buf, min(at+m.pause, len(buf)))
		}
		i, ok := m.automaton().scan(buf[:stop], at)
		if ok {
			m.pause -= i - at
			start, end = lineAround(buf, at, i)
			return start, end, true
		}
		m.pause -= stop - at
		at = stop
	}
	return 0, 0, false
}

const (
	// A miss costs about as much as searching so many bytes without needles.
	missCost = 80
	// So many misses are looked at together.
	missSample  = 64
	needlePause = 64 << 10
)

// nextNeedle looks for a matching line by its needles. It returns an offset in it and
// the start of a line before it, or -1 and the start of the line to go on from.
func (m *Matcher) nextNeedle(buf []byte, at int) (i, from int) {
	for at < len(buf) {
		i := m.re.needles.next(buf, at)
		if i < 0 {
			return -1, len(buf)
		}
		if m.re.plain || m.verify(buf, at, i) {
			return i, at
		}
		next := nextLine(buf, i)
		m.misses++
		m.skipped += next - at
		at = next
		if m.misses == missSample {
			if m.skipped < missSample*missCost {
				m.pause = needlePause
			}
			m.misses, m.skipped = 0, 0
			if m.pause > 0 {
				break
			}
		}
	}
	return -1, at
}

// verify reports whether the line matches in which a needle was found at i, the first
// from the start of a line at on.
func (m *Matcher) verify(buf []byte, at, i int) bool {
	d := m.automaton()
	line := buf[:nextLine(buf, i)]
	if m.re.first {
		// No match begins further left than the needle that reaches furthest left.
		from := max(i-m.re.needles.reach, at)
		from += bytes.LastIndexByte(buf[from:i], '\n') + 1
		if entry, ok := d.entryAt(buf, at, from); ok {
			_, ok = d.sequential(line, from, entry)
			return ok
		}
	}
	start := bytes.LastIndexByte(buf[at:i], '\n') + 1 + at
	_, ok := d.scan(line, start)
	return ok
}

// lineAround returns the bounds of the line that the byte at i belongs to; it does not
// look before the offset at.
func lineAround(buf []byte, at, i int) (start, end int) {
	start = bytes.LastIndexByte(buf[at:i], '\n') + 1 + at
	if n := bytes.IndexByte(buf[i:], '\n'); n >= 0 {
		return start, i + n
	}
	return start, len(buf)
}

// MatchLine reports whether line, which must not contain a line feed, matches.
func (m *Matcher) MatchLine(line []byte) bool {
	d := m.automaton()
	if d.always || len(line) == 0 {
		return d.always || d.matchesAtEnd(d.start&^goIdle)
	}
	_, ok := d.scan(line, 0)
	return ok
}
