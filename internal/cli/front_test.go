//go:build unix

package cli_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// front stands before a scripted provider, passes every byte on, and does what that one cannot do: it is
// gone for a while, or answers with nothing at all.
type front struct {
	t    *testing.T
	addr string
	to   string

	mu      sync.Mutex
	l       net.Listener
	conns   map[net.Conn]bool
	closed  bool
	passed  int            // requests that the provider was given
	instead map[int]string // what happens before the request of that number: gone, empty
	away    bool           // nobody listens, and it was not noticed yet
	all     sync.WaitGroup
}

// What a front does once instead of passing a request on.
const (
	gone  = "gone"
	empty = "empty"
)

func newFront(t *testing.T, to string, instead map[int]string) *front {
	t.Helper()
	f := &front{t: t, addr: "127.0.0.1:0", to: strings.TrimPrefix(to, "http://"), conns: map[net.Conn]bool{}, instead: instead}
	f.open()
	t.Cleanup(func() {
		f.mu.Lock()
		f.closed = true
		f.shut()
		f.mu.Unlock()
		f.all.Wait()
	})
	return f
}

// open listens. It is called with the lock held, or before anybody else has the front.
func (f *front) open() {
	l, err := net.Listen("tcp", f.addr)
	if err != nil {
		f.t.Error(err)
		return
	}
	f.l, f.addr = l, l.Addr().String()
	f.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.all.Go(func() { f.serve(c) })
		}
	})
}

// shut ends the listener and every connection. It is called with the lock held.
func (f *front) shut() {
	_ = f.l.Close()
	for c := range f.conns {
		_ = c.Close()
	}
}

// hold keeps a connection for as long as the front is there.
func (f *front) hold(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.away {
		_ = c.Close()
		return false
	}
	f.conns[c] = true
	return true
}

func (f *front) drop(c net.Conn) {
	_ = c.Close()
	f.mu.Lock()
	delete(f.conns, c)
	f.mu.Unlock()
}

func (f *front) serve(from net.Conn) {
	if !f.hold(from) {
		return
	}
	defer f.drop(from)
	to, err := net.Dial("tcp", f.to)
	if err != nil || !f.hold(to) {
		return
	}
	defer f.drop(to)
	var back sync.WaitGroup
	defer back.Wait()
	defer func() { _ = to.Close() }()
	back.Go(func() {
		_, _ = io.Copy(from, to)
		_ = from.Close()
	})
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		// A client waits for an answer before it sends another request, which is then read from its beginning.
		if bytes.HasPrefix(buf[:n], []byte("POST ")) {
			switch f.next() {
			case gone:
				return
			case empty: // the request is no more looked at; a client closes what it is told to
				_, _ = io.WriteString(from, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				_, _ = io.Copy(io.Discard, from)
				return
			}
		}
		if _, e := to.Write(buf[:n]); err != nil || e != nil {
			return
		}
	}
}

// next says what happens to the next request.
func (f *front) next() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	what := f.instead[f.passed]
	delete(f.instead, f.passed)
	switch what {
	case "":
		f.passed++
	case gone: // this connection goes, too, and the next finds nobody
		f.away = true
		f.shut()
	}
	return what
}

// heard is told each line of a run. Once a connection was refused, the front opens again.
func (f *front) heard(line string) {
	if !strings.HasPrefix(line, `{"type":"waiting"`) || !strings.Contains(line, "refused") {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away && !f.closed {
		f.away = false
		f.open()
	}
}

// left is what has not happened.
func (f *front) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.instead)
}
