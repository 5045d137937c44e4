package code

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// size writes a number of bytes for people and models.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return megabytes(n)
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// readable makes text of bytes: each byte that is no part of valid UTF-8, and NUL, becomes U+FFFD.
// strings.ToValidUTF8 is not used because it makes one of a whole run, which hides how much is there.
func readable(b []byte) string {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == 0 {
			r = utf8.RuneError
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}

// shown is a path or name as a model and a person read it: on one line, and valid text. Names with
// control characters are quoted so that they can be told from others and given back.
func shown(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	}) {
		return strconv.Quote(name)
	}
	return readable([]byte(name))
}

// clip cuts text after at most n bytes, between characters, and marks the cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// cause is an operating system's error in plain words, without the call and the path that Go puts
// before it: the sentence around it names the path as the model knows it.
func cause(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	var s *os.SyscallError
	switch {
	case errors.As(err, &p):
		return cause(p.Err)
	case errors.As(err, &l):
		return cause(l.Err)
	case errors.As(err, &s):
		return cause(s.Err)
	}
	return err.Error()
}

// binary says whether content is something other than text: a NUL near the start, as in UTF-16.
func binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}

// byteOrderMark may start a UTF-8 file. It is no part of its text.
const byteOrderMark = "\uFEFF"

func withoutMark(content []byte) []byte { return bytes.TrimPrefix(content, []byte(byteOrderMark)) }

// allCRLF says whether a file has line ends and every one of them is CRLF.
func allCRLF(content []byte) bool {
	n := bytes.Count(content, []byte("\n"))
	return n > 0 && n == bytes.Count(content, []byte("\r\n"))
}

// lines is a file's text by line, as a model reads it. It keeps no table of where lines start: for a
// file of nothing but line ends that would be eight times the file.
type lines struct {
	text  []byte
	total int
	crlf  bool
}

func linesOf(content []byte) lines {
	l := lines{text: withoutMark(content)}
	l.crlf = allCRLF(l.text)
	l.total = bytes.Count(l.text, []byte("\n"))
	if len(l.text) > 0 && l.text[len(l.text)-1] != '\n' {
		l.total++
	}
	return l
}

// from goes through the lines from the n-th, counted from 1, without their ends.
func (l lines) from(n int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		rest := l.text
		for at := 1; len(rest) > 0; at++ {
			line, after, ended := bytes.Cut(rest, []byte("\n"))
			if l.crlf && ended {
				line = line[:len(line)-1]
			}
			if at >= n && !yield(at, line) {
				return
			}
			rest = after
		}
	}
}

// row is a line with its number. Of one that is longer than any result, only as much is looked at as
// shows that.
func row(n int, line []byte) string {
	return fmt.Sprintf("%6d\t%s", n, readable(line[:min(len(line), 2*outputCap)]))
}
