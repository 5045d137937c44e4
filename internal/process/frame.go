package process

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Messages on the control socket are a length, a kind and a body. Bodies are
// numbers (varints) and strings (a length and bytes): arguments and
// environments are bytes and need not be UTF-8, which rules out JSON, and a
// stream socket has no limit that an environment of some megabytes would meet,
// which rules out datagrams.
const (
	frameHeader = 5
	// maxFrame bounds what one message may hold. The system takes no more than 6 MiB
	// of arguments and environment together.
	maxFrame = 16 << 20
)

// What the host says. Start carries one descriptor (the pipe), drain two (the
// pipe and the log) or one.
const (
	msgFirst    = 'F' // for whoever runs before Serve
	msgSetup    = 'S' // grace in ms, warden number
	msgStart    = 's' // id, dir, mark, argv, env
	msgKill     = 'k' // id, root pid (0: unknown), mark
	msgLeave    = 'l' // end what is not detached, list the rest
	msgDrain    = 'd' // keep emptying this pipe
	msgFarewell = 'f' // the end of this socket is not the end of what is left
)

// What the init says.
const (
	msgReady   = 'R' // pid
	msgStarted = '+' // id, pid
	msgFailed  = '-' // id, errno, what failed
	msgExited  = 'x' // id, code, signal, starts handled so far + 1 if nothing is left, else 0
	msgEmpty   = 'e' // starts handled so far + 1: nothing is left
	msgSwept   = 'w' // id, processes that could not be ended
	msgLeft    = 'L' // count, then pid, call, command
)

// What failed in a start.
const (
	failedExec   = iota // the program
	failedDir           // the working directory
	failedInterp        // the program is there, what it names to run it is not
)

var errFrame = errors.New("a message that cannot be read")

// frame is a message being written.
type frame []byte

func newFrame(kind byte) frame { return frame{0, 0, 0, 0, kind} }

func (f frame) num(n uint64) frame { return binary.AppendUvarint(f, n) }

func (f frame) str(s string) frame { return append(f.num(uint64(len(s))), s...) }

func (f frame) list(l []string) frame {
	f = f.num(uint64(len(l)))
	for _, s := range l {
		f = f.str(s)
	}
	return f
}

// done writes the length in.
func (f frame) done() ([]byte, error) {
	if len(f)-frameHeader > maxFrame {
		return nil, fmt.Errorf("%d bytes are too many for one command", len(f)-frameHeader)
	}
	binary.BigEndian.PutUint32(f, uint32(len(f)-frameHeader))
	return f, nil
}

// header reads a frame's first bytes.
func header(b []byte) (kind byte, size int, err error) {
	n := binary.BigEndian.Uint32(b)
	if n > maxFrame {
		return 0, 0, errFrame
	}
	return b[4], int(n), nil
}

// body is a message being read. Once something is wrong everything it gives is
// empty and bad is set.
type body struct {
	b   []byte
	bad bool
}

func (r *body) num() uint64 {
	n, k := binary.Uvarint(r.b)
	if k <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[k:]
	return n
}

func (r *body) str() string {
	n := r.num()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *body) list() []string {
	n := r.num()
	if n > uint64(len(r.b)) { // each takes at least one byte
		r.bad, r.b = true, nil
		return nil
	}
	l := make([]string, 0, n)
	for range n {
		l = append(l, r.str())
	}
	return l
}

// startOrder is the body of msgStart.
type startOrder struct {
	id        uint64
	dir, mark string
	argv, env []string
	pipe      int // what came with it
}

func (o startOrder) frame() ([]byte, error) {
	size := frameHeader + 64 + len(o.dir) + len(o.mark)
	for _, l := range [][]string{o.argv, o.env} {
		for _, s := range l {
			size += len(s) + 5
		}
	}
	f := append(make(frame, 0, size), newFrame(msgStart)...)
	return f.num(o.id).str(o.dir).str(o.mark).list(o.argv).list(o.env).done()
}

func readStart(b []byte) (startOrder, error) {
	r := body{b: b}
	o := startOrder{id: r.num(), dir: r.str(), mark: r.str(), argv: r.list(), env: r.list()}
	if r.bad || o.id == 0 || len(o.argv) == 0 {
		return o, errFrame
	}
	return o, nil
}

// queue cuts a byte stream into messages.
type queue struct{ b, array []byte } // b lies in the array

// next gives the first whole message, or ok false when there is none yet. The
// body is valid until bytes are added.
func (q *queue) next() (kind byte, b []byte, ok bool, err error) {
	if len(q.b) < frameHeader {
		return 0, nil, false, nil
	}
	kind, size, err := header(q.b)
	if err != nil || len(q.b) < frameHeader+size {
		return 0, nil, false, err
	}
	b = q.b[frameHeader : frameHeader+size : frameHeader+size]
	q.b = q.b[frameHeader+size:]
	return kind, b, true, nil
}

// room makes place for n bytes behind what is there.
func (q *queue) room(n int) []byte {
	need := n
	if len(q.b) >= frameHeader {
		if _, size, err := header(q.b); err == nil {
			need = max(n, frameHeader+size-len(q.b))
		}
	}
	if cap(q.b)-len(q.b) < need {
		if cap(q.array) < len(q.b)+need || cap(q.array) > 2*n { // one huge message must not stay for the session
			q.array = make([]byte, len(q.b)+need)
		}
		q.b = q.array[:copy(q.array, q.b)]
	}
	return q.b[len(q.b) : len(q.b)+need]
}

func (q *queue) added(n int) { q.b = q.b[:len(q.b)+n] }
