package export

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"jig/internal/proto"
)

// Version is that of the portable file. A jig reads its own and those before.
const Version = 1

// What a portable file may be at most. All of it is held in memory while it is checked.
const (
	MaxBytes = 256 << 20
	MaxFacts = 500_000
	maxLine  = 64 << 20
)

const (
	headType = "jig_session"
	lastType = "end"
)

// head is the first line of a portable file.
type head struct {
	Type    string    `json:"type"`
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Title   string    `json:"title,omitempty"`
	Created time.Time `json:"created"`
}

// last is its last line. The sum is of every byte before it.
type last struct {
	Type  string `json:"type"`
	Facts int    `json:"facts"`
	Sum   string `json:"sha256"`
}

// Portable writes the file from which jig resume makes the session again: a line that says what it is,
// the facts as they are kept, and a line by which a file that broke off is told.
func Portable(to io.Writer, a About, lines func(func([]byte, error) bool)) error {
	sum := sha256.New()
	b := bufio.NewWriter(to)
	both := io.MultiWriter(b, sum)
	if err := line(both, head{headType, Version, a.ID, a.Title, a.Created.UTC().Truncate(time.Second)}); err != nil {
		return err
	}
	n := 0
	for l, err := range lines {
		if err == nil {
			_, err = fmt.Fprintf(both, "%s\n", l)
		}
		if err != nil {
			return err
		}
		n++
	}
	if err := line(b, last{lastType, n, hex.EncodeToString(sum.Sum(nil))}); err != nil {
		return err
	}
	return b.Flush()
}

func line(to io.Writer, v any) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// TornError says that a portable file is not all there, or not as it was written.
type TornError struct {
	Line, Facts int // where it is wrong, and how many facts before that are whole
	What        string
}

func (e *TornError) Error() string {
	return fmt.Sprintf("%s in line %d; the %d facts before it are whole: write it again with jig export", e.What, e.Line, e.Facts)
}

var (
	// ErrForeign says that a file was not written by jig export.
	ErrForeign = errors.New("this is no session that jig export wrote (it writes one to a file that ends in .jsonl)")
	errLarge   = fmt.Errorf("this is larger than a session may be (%d MB, %d facts)", MaxBytes>>20, MaxFacts)
)

// Read reads a portable file and checks every fact of it. The facts are fit to be kept: what they may
// say of the machine they come from, and choose on this one, is taken out of them.
func Read(from io.Reader) (About, []proto.Fact, error) {
	r := reader{in: bufio.NewReaderSize(io.LimitReader(from, MaxBytes+1), 64<<10), sum: sha256.New()}
	a, err := r.head()
	if err != nil {
		return a, nil, err
	}
	var out []proto.Fact
	c := newChecker()
	for {
		l, err := r.next()
		if err != nil {
			return a, nil, r.torn(len(out), err)
		}
		if end, ok := trailer(l); ok {
			return a, out, r.end(end, out)
		}
		_, _ = r.sum.Write(l) // it never fails
		f, err := c.fact(uint64(len(out))+1, bytes.TrimSuffix(l, []byte("\n")))
		if err != nil {
			var unknown *UnknownError
			if errors.As(err, &unknown) {
				return a, nil, err
			}
			return a, nil, r.torn(len(out), err)
		}
		if out = append(out, f); len(out) > MaxFacts {
			return a, nil, errLarge
		}
	}
}

type reader struct {
	in    *bufio.Reader
	sum   hash.Hash
	lines int
	size  int
}

var errBroken = errors.New("the file breaks off")

// next gives a line with its end.
func (r *reader) next() ([]byte, error) {
	r.lines++
	var l []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		l = append(l, piece...)
		if r.size += len(piece); r.size > MaxBytes || len(l) > maxLine {
			return nil, errLarge
		}
		switch {
		case err == nil:
			return l, nil
		case errors.Is(err, io.EOF):
			return nil, errBroken
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (r *reader) head() (About, error) {
	l, err := r.next()
	var h head
	if err != nil && !errors.Is(err, errBroken) && !errors.Is(err, errLarge) {
		return About{}, err
	}
	if err != nil || json.Unmarshal(l, &h) != nil || h.Type != headType || h.Version < 1 {
		return About{}, ErrForeign
	}
	if h.Version > Version {
		return About{}, fmt.Errorf("was written by a newer jig (its version is %d, this jig knows %d): update jig", h.Version, Version)
	}
	_, _ = r.sum.Write(l)
	return About{ID: h.ID, Title: h.Title, Created: h.Created}, nil
}

func (r *reader) torn(whole int, err error) error {
	if errors.Is(err, errLarge) {
		return err
	}
	return &TornError{Line: r.lines, Facts: whole, What: err.Error()}
}

func trailer(l []byte) (last, bool) {
	var e last
	if !bytes.HasPrefix(l, []byte(`{"type":"`+lastType+`"`)) || json.Unmarshal(l, &e) != nil {
		return e, false
	}
	return e, true
}

func (r *reader) end(e last, all []proto.Fact) error {
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) {
		return r.torn(len(all), errors.New("the file goes on behind its end"))
	}
	switch {
	case e.Facts != len(all):
		return r.torn(len(all), fmt.Errorf("the file should have %d facts, says its end", e.Facts))
	case e.Sum != hex.EncodeToString(r.sum.Sum(nil)):
		return r.torn(len(all), errors.New("the file is not as it was written, says its checksum"))
	case len(all) == 0:
		return ErrForeign
	}
	return nil
}
