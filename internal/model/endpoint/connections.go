package endpoint

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// connectTimeout bounds reaching the server, which answers at once or not at all.
const connectTimeout = 20 * time.Second

// Requests over HTTP/2 share a connection. One that died without a word, as in a laptop that slept,
// would be used for every try; so a connection on which nothing comes is asked whether it lives.
const pingAfter, pingTimeout = 30 * time.Second, 15 * time.Second

// connections are those to one provider. It is safe for concurrent use.
type connections struct {
	mu  sync.Mutex
	now *http.Transport
	old []*http.Transport
}

func newConnections(o Options) *connections {
	return &connections{now: &http.Transport{
		Proxy:               o.Proxy,
		DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout: connectTimeout,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		IdleConnTimeout:     90 * time.Second,
		// A request goes out in few pieces: each costs a system call, and wakes the reader.
		WriteBufferSize: 64 << 10,
		// A compressed stream is held back by the compressor.
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		// The transport's own error does not say that it was the proxy.
		OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
			if res.StatusCode == http.StatusOK {
				return nil
			}
			return &proxyRefusal{proxy.Host, res.StatusCode}
		},
	}}
}

// RoundTrip makes one request over the connections there are, or a new one.
func (c *connections) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	now := c.now
	c.mu.Unlock()
	return now.RoundTrip(r)
}

// leave makes later requests use new connections. Those that are still at work go on.
func (c *connections) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.CloseIdleConnections()
	c.old = append(c.old, c.now)
	c.now = c.now.Clone()
}

func (c *connections) closeIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range append(c.old, c.now) {
		t.CloseIdleConnections()
	}
}
