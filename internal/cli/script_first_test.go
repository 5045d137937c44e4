//go:build unix

package cli_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"jig/internal/model/modeltest"
)

// firstCommands are what scripts about a first start can do.
var firstCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"listen": cmdListen, "met": cmdMet, "keys": cmdKeys,
}

// listener is a port of this machine that a first start may ask.
type listener struct {
	connections atomic.Int64
	mu          sync.Mutex
	keys        []string // what came as authorization, in order
}

// counted counts the connections that are made to it.
type counted struct {
	net.Listener
	n *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

// cmdListen listens on a port, whose number is in the variable NAME: listen NAME ANSWER [SERVER]. Who
// asks for its models gets the file ANSWER; of mute nothing, of endless no end. Everything else goes on
// to a server that was started with serve, with that one's key.
func cmdListen(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 3, "listen NAME ANSWER [SERVER]")
	l := &listener{}
	models := answer(ts, args[1])
	next := http.NotFoundHandler()
	if len(args) == 3 {
		to, err := url.Parse(find(ts, args[2]).URL)
		ts.Check(err)
		next = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("Authorization", "Bearer "+modeltest.Key)
		}}
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.keys = append(l.keys, r.Header.Get("Authorization"))
		l.mu.Unlock()
		if r.Method == http.MethodGet && r.URL.Path == "/v1/models" {
			models(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}))
	s.Listener = counted{s.Listener, &l.connections}
	s.Start()
	ts.Defer(func() { s.CloseClientConnections(); s.Close() })
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	ts.Check(err)
	on(ts).listeners[args[0]] = l
	ts.Setenv(args[0], port)
}

// answer is what who asks for models gets.
func answer(ts *testscript.TestScript, kind string) http.HandlerFunc {
	switch kind {
	case "mute":
		return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	case "endless":
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		}
	}
	body := ts.ReadFile(kind)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

// cmdMet checks how often somebody connected to a port: met N NAME.
func cmdMet(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "met N NAME")
	if n := heard(ts, args[1]).connections.Load(); strconv.FormatInt(n, 10) != args[0] {
		ts.Fatalf("%s was connected to %d times, want %s", args[1], n, args[0])
	}
}

// cmdKeys checks what a port's requests had as authorization, in order: keys NAME KEY….
func cmdKeys(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, -1, "keys NAME KEY…")
	l := heard(ts, args[0])
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.keys, args[1:]) {
		ts.Fatalf("%s got %q, want %q", args[0], l.keys, args[1:])
	}
}

func heard(ts *testscript.TestScript, name string) *listener {
	l := on(ts).listeners[name]
	if l == nil {
		ts.Fatalf("nobody listens as %s", name)
	}
	return l
}
