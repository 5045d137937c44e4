package endpoint

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"jig/internal/model"
)

// wire carries connections to a server, and can let those there are die without a word.
type wire struct {
	net.Listener
	to    string
	mu    sync.Mutex
	dead  chan struct{} // closed when the connections of now are
	made  int
	conns []net.Conn
	all   sync.WaitGroup
}

func lay(t *testing.T, to string) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, to: to, dead: make(chan struct{})}
	w.all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			w.mu.Lock()
			w.made++
			w.conns = append(w.conns, in, out)
			dead := w.dead
			w.mu.Unlock()
			for _, p := range [][2]net.Conn{{in, out}, {out, in}} {
				w.all.Go(func() { carry(p[0], p[1], dead) })
			}
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.mu.Lock()
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.mu.Unlock()
		w.all.Wait()
	})
	return w
}

// carry passes bytes on as long as the connection lives, and swallows them then.
func carry(from, to net.Conn, dead chan struct{}) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-dead:
		default:
			_, _ = to.Write(buf[:n])
		}
	}
}

// die kills the connections of now.
func (w *wire) die() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.dead)
	w.dead = make(chan struct{})
	return w.made
}

// After a laptop has slept its connections are dead and nobody says so. The next try must not be made
// over the same one.
func TestATryAfterSilenceUsesAnotherConnection(t *testing.T) {
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		got := ""
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.Proto
			_, _ = io.WriteString(w, "data: a\n\ndata: end\n\ndata: last\n\n")
		}))
		s.EnableHTTP2 = version == "HTTP/2.0"
		s.StartTLS()
		w := lay(t, s.Listener.Addr().String())
		roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		c := New(Vendor{Path: "/x"}, Options{URL: "https://" + w.Addr().String(), Roots: roots, Silence: 500 * time.Millisecond}, nil)
		ask := func() error { return c.Ask(context.Background(), nil, &note{}, nil) }
		if err := ask(); err != nil || got != version {
			t.Fatalf("%s: %v over %s", version, err, got)
		}
		made := w.die()
		if err := ask(); err == nil {
			t.Errorf("%s: an answer came over a dead connection", version)
		}
		if err := ask(); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		w.mu.Lock()
		if w.made != made+1 {
			t.Errorf("%s: %d connections, want %d", version, w.made, made+1)
		}
		w.mu.Unlock()
		_ = c.Close()
		s.CloseClientConnections()
		s.Close()
	}
}

// A connection that died in the middle of an answer is found out by asking it, long before the answer
// has been silent for as long as it may.
func TestADeadConnectionIsFoundOutWithinAnAnswer(t *testing.T) {
	begun := make(chan bool, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: a\n\n")
		w.(http.Flusher).Flush()
		begun <- true
		<-r.Context().Done()
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	w := lay(t, s.Listener.Addr().String())
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := New(Vendor{Path: "/x"}, Options{URL: "https://" + w.Addr().String(), Roots: roots, Silence: time.Hour}, nil)
	c.own.now.HTTP2.SendPingTimeout, c.own.now.HTTP2.PingTimeout = 300*time.Millisecond, 300*time.Millisecond
	var all sync.WaitGroup
	all.Go(func() { <-begun; w.die() })
	var e *model.Error
	if err := c.Ask(context.Background(), nil, &note{}, nil); !errors.As(err, &e) || e.Kind != model.KindNetwork || e.Final {
		t.Error(err)
	}
	all.Wait()
	_ = c.Close()
	s.CloseClientConnections()
	s.Close()
}
