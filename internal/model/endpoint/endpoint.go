// Package endpoint is the HTTP side of a model dialect: joining a base URL, sending one JSON
// request, handing out its streamed answer, and turning whatever goes wrong into one line a person
// can act on. It knows no dialect's bodies, and it never sends a request twice.
package endpoint

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"jig/internal/model"
)

// Options say where a provider is and how to talk to it.
type Options struct {
	// Provider is the name the provider has in the configuration. It is compared with the author
	// of a message to decide whether its reasoning may be sent back.
	Provider string
	// URL is the base URL: without a path it gets the dialect's version path, with one it is used
	// as it is. "" is the vendor's own.
	URL string
	// Key is the secret. "" sends none, which is right for a server on the own machine.
	Key string
	// KeyEnv is the environment variable that the key is in, or would be looked for in first, for hints;
	// "" is the vendor's own.
	KeyEnv string
	// Headers are sent with every request and win over the dialect's own.
	Headers map[string]string
	// Proxy chooses the proxy of a request; nil uses none.
	Proxy func(*http.Request) (*url.URL, error)
	// Roots are the authorities that certificates may come from; nil is those of the machine.
	Roots *x509.CertPool
	// Transport replaces the built-in one; Proxy and Roots are then its own affair.
	Transport http.RoundTripper
	// Silence is how long an answer may send nothing before it is given up; 0 is 5 minutes, less than 0
	// for ever. It may take twice as long to begin, and send nothing that adds to it four times as long.
	Silence time.Duration
	// Haste divides every wait, and nothing that is said of it, so that tests need not wait; 0 is 1.
	Haste int
}

// Vendor is what a dialect knows of its own service.
type Vendor struct {
	Base    string // the base URL when none is configured
	Version string // the version path, as in /v1
	Path    string // the path of the request under it
	KeyEnv  string // the environment variable people keep the key in, for hints
}

// Client sends one kind of request to one address.
type Client struct {
	base    string
	url     *url.URL
	err     error // why the base URL cannot be used
	vendor  Vendor
	headers map[string]string
	secrets []string
	http    *http.Client
	own     *connections // nil when the transport is somebody else's
	silence time.Duration
	divide  time.Duration
}

// New makes a client. auth are the dialect's headers, the key among them. A base URL that cannot
// be used is reported by Ask, so that building a model cannot fail.
func New(v Vendor, o Options, auth map[string]string) *Client {
	c := &Client{vendor: v, headers: map[string]string{}, silence: o.Silence, divide: time.Duration(max(1, o.Haste))}
	if c.silence == 0 {
		c.silence = defaultSilence
	}
	for _, given := range []map[string]string{auth, o.Headers} {
		for k, s := range given { // what was read from a file has a line end, which no header may hold
			c.headers[http.CanonicalHeaderKey(k)] = strings.TrimSpace(s)
		}
	}
	if o.KeyEnv != "" {
		c.vendor.KeyEnv = o.KeyEnv
	}
	c.secrets = secrets(o)
	if c.base = o.URL; c.base == "" {
		c.base = v.Base
	}
	if c.url, c.err = join(c.base, v.Version, v.Path); c.err == nil {
		c.err = c.unsendable()
	}
	transport := o.Transport
	if transport == nil {
		c.own = newConnections(o)
		transport = c.own
	}
	c.http = &http.Client{
		Transport: transport,
		// Following would hand the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// unsendable is the error for a header that no request can have, nil when there is none.
func (c *Client) unsendable() error {
	for _, k := range slices.Sorted(maps.Keys(c.headers)) {
		odd := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
		switch {
		case !token(k):
			return c.Errorf(model.KindRequest, "%q cannot be the name of a header; check the provider's headers", k)
		case strings.ContainsFunc(c.headers[k], odd):
			return c.Errorf(model.KindRequest, "the header %s cannot be sent with a line end or another control character within it; check the provider's key and headers", k)
		}
	}
	return nil
}

// token says whether a text can be the name of a header.
func token(s string) bool {
	return s != "" && strings.Trim(s, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

// Close gives up the idle connections.
func (c *Client) Close() error {
	if c.own != nil {
		c.own.closeIdle()
	}
	return nil
}

// At is the client for another path under the same base URL, for a service that has the model's name
// in the path. What follows a ? is added to the base URL's own query. The connections are shared,
// and given up by the Close of the client it was made from.
func (c *Client) At(path string) *Client {
	path, query, _ := strings.Cut(path, "?")
	d := *c
	if d.url, d.err = join(c.base, c.vendor.Version, path); d.err == nil && query != "" {
		d.url.RawQuery = strings.TrimPrefix(d.url.RawQuery+"&"+query, "&")
	}
	return &d
}

// Host is the host the requests go to, "" when the URL cannot be used.
func (c *Client) Host() string {
	if c.url == nil {
		return ""
	}
	return c.url.Hostname()
}

// join makes the address of a request from a base URL: a base without a path gets the version
// path, one with a path is used as it is, trailing slashes do not matter, a query is kept.
func join(base, version, path string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, model.Errorf(model.KindRequest, "%q is not a base URL; it needs the form https://host or https://host/path", address(strings.TrimSpace(base)))
	}
	p := strings.TrimRight(u.EscapedPath(), "/")
	if p == "" {
		p = version
	}
	u.RawPath = p + path
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return nil, model.Errorf(model.KindRequest, "the path of the base URL %q cannot be read", address(strings.TrimSpace(base)))
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// post sends data and returns the answer when its status is 200; the caller closes its body.
// Every other outcome is an error: ctx's own when ctx ended, else a *model.Error.
func (c *Client) post(ctx context.Context, data []byte, s *silence) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(data))
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "jig")
	for k, v := range c.headers {
		req.Header.Set(k, v)
	}
	if h, ok := c.headers["Host"]; ok {
		req.Host = h
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	res.Body = plainBody(res, body{res.Body, s})
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxShown))
	if cancelled(ctx) {
		return nil, ctx.Err()
	}
	return nil, c.refused(res, text)
}
