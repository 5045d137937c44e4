// Package sse reads server-sent events: the framing under every provider's stream. It knows
// nothing of what the events say, and it does not reconnect.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEvent bounds the data of one event, in bytes. It is far above what providers send (a whole
// file as one argument fragment is a few MB) and only there so that a broken or hostile server
// cannot fill the memory.
const maxEvent = 64 << 20

// ErrTooLong is returned for an event of more than 64 MiB.
var ErrTooLong = fmt.Errorf("an event of the stream is longer than %d MiB", maxEvent>>20)

// Reader takes events from a stream. The way the bytes are cut into reads makes no difference.
type Reader struct {
	src     io.Reader
	buf     []byte
	pos     int
	end     int
	err     error  // what src ended with
	long    []byte // a line that did not fit into one buffer
	data    []byte
	skipLF  bool // the last line ended with CR; an LF that follows belongs to it
	started bool // the byte order mark has been looked for
	max     int
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, 4<<10), max: maxEvent}
}

var bom = []byte("\xef\xbb\xbf")

// Next returns the data of the next event that has any, valid until the next call. An event's name
// is dropped, because providers say the same in its data, and so are the fields id and retry, which
// are only of use for reconnecting. Next returns io.EOF at the end of the stream and
// io.ErrUnexpectedEOF when the stream ends in the middle of a line. An event whose last line is
// whole is given out even when the empty line after it is missing: some servers never send it
// after their last event.
func (r *Reader) Next() ([]byte, error) {
	has := false
	r.data = r.data[:0]
	for {
		line, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && has {
				return r.data, nil
			}
			return nil, err
		}
		if len(line) == 0 {
			if has {
				return r.data, nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		if string(field) != "data" {
			continue
		}
		if has {
			r.data = append(r.data, '\n')
		}
		has = true
		if len(r.data)+len(value) > r.max {
			return nil, ErrTooLong
		}
		r.data = append(r.data, value...)
	}
}

// line returns the next line without its end, which is LF, CR or CRLF. A CR ends a line at once:
// waiting for the byte after it would hold back an event that is complete.
func (r *Reader) line() ([]byte, error) {
	r.long = r.long[:0]
	for {
		if r.pos == r.end {
			if err := r.fill(); err != nil {
				if len(r.long) > 0 && errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
		}
		if r.skipLF {
			r.skipLF = false
			if r.buf[r.pos] == '\n' {
				r.pos++
				continue
			}
		}
		rest := r.buf[r.pos:r.end]
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		if c := bytes.IndexByte(rest[:n], '\r'); c >= 0 {
			n, r.skipLF = c, true
		}
		ended := n < len(rest)
		r.pos += n
		if ended {
			r.pos++
		}
		if len(r.long)+n > r.max+len("data: ") {
			return nil, ErrTooLong
		}
		if ended && len(r.long) == 0 {
			return r.first(rest[:n]), nil
		}
		r.long = append(r.long, rest[:n]...)
		if ended {
			return r.first(r.long), nil
		}
	}
}

// first takes a byte order mark off the first line of the stream.
func (r *Reader) first(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, bom)
}

func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.end == len(r.buf) && r.end < 32<<10 { // most answers are short
		r.buf = make([]byte, 32<<10)
	}
	r.pos, r.end = 0, 0
	for range 100 {
		r.end, r.err = r.src.Read(r.buf)
		if r.end > 0 {
			return nil
		}
		if r.err != nil {
			return r.err
		}
	}
	r.err = io.ErrNoProgress
	return r.err
}
