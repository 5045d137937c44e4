package history

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
)

// cursorVersion is the first byte of a cursor.
const cursorVersion = 1

func markOf(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // never fails
	return h.Sum32()
}

// cursor writes a place in what a search or a reading gives. Numbers are the collection's own.
func cursor(of uint32, numbers ...uint64) string {
	b := binary.LittleEndian.AppendUint32([]byte{cursorVersion}, of)
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// place reads what cursor wrote, into as many numbers as there are. A cursor "" leaves them as they are.
func place(s string, of uint32, numbers ...*uint64) error {
	const bad = InputError("the cursor is not one that this search or reading gave; leave it out to begin at the start")
	if s == "" {
		return nil
	}
	if len(s) > MaxCursor {
		return bad
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < 5 || b[0] != cursorVersion || binary.LittleEndian.Uint32(b[1:]) != of {
		return bad
	}
	b = b[5:]
	read := make([]uint64, len(numbers))
	for i := range numbers {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > 1<<62 {
			return bad
		}
		read[i], b = n, b[size:]
	}
	if len(b) > 0 {
		return bad
	}
	for i, n := range numbers {
		*n = read[i]
	}
	return nil
}

// Cursor makes a cursor of this search.
func (a Asked) Cursor(numbers ...uint64) string { return cursor(a.of, numbers...) }

// Place reads a cursor of this search into as many numbers as it has. One of another search, or none at
// all, is an InputError; "" leaves the numbers as they are.
func (a Asked) Place(cursor string, numbers ...*uint64) error { return place(cursor, a.of, numbers...) }

// Check reads a reading's limit and makes sure of its session.
func (r Reading) Check() (entries int, err error) {
	if r.Session == "" {
		return 0, InputError("a reading needs the id of a session")
	}
	return limit(r.Limit, DefaultRead, MaxEntries)
}

// ReadCursor makes a cursor that reads a session from somewhere on.
func ReadCursor(session string, numbers ...uint64) string {
	return cursor(markOf("read\x00"+session), numbers...)
}

// Place reads a cursor of this reading, as Asked.Place does.
func (r Reading) Place(numbers ...*uint64) error {
	return place(r.Cursor, markOf("read\x00"+r.Session), numbers...)
}
