package endpoint

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"jig/internal/model"
)

// Errorf makes a *model.Error whose text holds no secret and is one line.
func (c *Client) Errorf(k model.Kind, format string, a ...any) *model.Error {
	return model.Errorf(k, "%s", c.clean(fmt.Sprintf(format, a...)))
}

// advise makes an error whose text says what happened and then what to do.
func (c *Client) advise(k model.Kind, what, todo string) *model.Error {
	e := c.Errorf(k, "%s", what)
	e.What = e.Text
	e.Text += "; " + todo
	return e
}

// broken is the error for a connection that could not be made or broke off. When ctx has ended
// that is the reason, whatever the transport says.
func (c *Client) broken(ctx context.Context, err error) error {
	if s := gaveUp(ctx); s != nil {
		e := c.advise(model.KindNetwork, fmt.Sprintf("%s %s and was given up", c.url.Host, s), "try again, or let it take longer with the provider's idle_timeout")
		e.Cause = s
		return e
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text, final := c.brokenText(err)
	e := c.Errorf(model.KindNetwork, "%s", text)
	if what, again := strings.CutSuffix(text, tryAgain); again {
		e = c.advise(model.KindNetwork, what, "try again")
	}
	e.Cause, e.Final = err, final
	var layer *url.Error
	if errors.As(err, &layer) {
		e.Cause = layer.Err // without the whole address, which may hold a secret
	}
	return e
}

const tryAgain = "; try again"

// brokenText says what broke, and whether it will break again: a certificate is as wrong tomorrow.
func (c *Client) brokenText(err error) (text string, final bool) {
	where := c.url.Host
	var dns *net.DNSError
	var op *net.OpError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var proxy *proxyRefusal
	switch {
	case errors.As(err, &proxy):
		return fmt.Sprintf("the proxy %s refuses the way to %s: %v; check the proxy settings", proxy.host, where, proxy), proxy.status < 500
	case errors.As(err, &dns):
		return fmt.Sprintf("the host name %s cannot be resolved; check the provider's url and the network", dns.Name), false
	case errors.As(err, &unknown):
		return fmt.Sprintf("the certificate of %s comes from an authority this machine does not trust; check the provider's url, or set SSL_CERT_FILE to a file with that authority's certificate", where), true
	case errors.As(err, &name), errors.As(err, &invalid):
		return fmt.Sprintf("the certificate of %s is not accepted: %v; check the provider's url and the machine's certificates", where, innermost(err)), true
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return fmt.Sprintf("%s does not speak TLS; the provider's url may need http:// instead of https://", where), true
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return fmt.Sprintf("no connection to the proxy on the way to %s: %v; check the proxy settings", where, innermost(err)), false
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Sprintf("no connection to %s: %v; is the server running and the provider's url right?", where, innermost(err)), false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("%s broke off its answer"+tryAgain, where), false
	}
	return fmt.Sprintf("the connection to %s failed: %v"+tryAgain, where, innermost(err)), false
}

// proxyRefusal is a proxy's answer to the wish to be led on to another host.
type proxyRefusal struct {
	host   string
	status int
}

func (p *proxyRefusal) Error() string {
	return strings.TrimSpace(fmt.Sprint(p.status, " ", http.StatusText(p.status)))
}

// innermost leaves out the layers that repeat the method and the URL, which may hold a secret.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// refused is the error for an answer with another status than 200.
func (c *Client) refused(res *http.Response, body []byte) *model.Error {
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		e := c.Errorf(model.KindRequest, "%s redirects to %s (%d); set the provider's url to where the service is",
			c.place(), address(res.Header.Get("Location")), res.StatusCode)
		e.Status = res.StatusCode
		return e
	}
	if res.StatusCode < 300 { // nobody has refused anything
		e := c.notReply(res, body)
		e.Kind, e.Status = model.KindProtocol, res.StatusCode
		return e
	}
	body = body[:min(len(body), maxShown)]
	p, ok := complain(body)
	if !ok {
		p.Message = plain([]byte(spoken(body)))
	}
	e := c.complained(res.StatusCode, p)
	if d := retryAfter(res.Header, time.Now()); d > 0 { // goes before what the message says
		e.After = max(p.After, d)
	}
	// The vendors' own clients heed it, too: it comes where the status alone would say otherwise.
	e.Final = strings.EqualFold(res.Header.Get("X-Should-Retry"), "false")
	return e
}

// Told is the error that a provider told of inside an answer which had begun well.
func (c *Client) Told(data []byte) *model.Error {
	p, _ := complain(data)
	return c.complained(0, p)
}

// complained sorts a provider's complaint and puts it into a sentence. status is 0 when it came
// inside an answer that had begun well.
func (c *Client) complained(status int, p complaint) *model.Error {
	kind := kindOf(status, p)
	said := shorten(c.clean(p.Message), 300) // in this order: half a secret is not found any more
	if said == "" {
		said = first(p.Code, p.Type, http.StatusText(status), "no reason given")
	}
	num := ""
	if status != 0 {
		num = fmt.Sprintf(" (%d)", status)
	}
	var what, todo string
	switch kind {
	case model.KindAuth:
		what, todo = "does not accept the key or what it is used for", "check "+c.vendor.KeyEnv+" or the provider's key"
		if !c.hasKey() {
			what, todo = "wants a key", "set "+c.vendor.KeyEnv+" or the provider's key"
		}
	case model.KindQuota:
		what, todo = "says the account has nothing left", "check its plan and billing, or use another provider"
	case model.KindLimit:
		what, todo = "limits the rate of requests", "wait, then try again"
	case model.KindOverflow:
		what, todo = "finds the conversation too long", "shorten it or start a new one"
	case model.KindServer:
		what, todo = "is overloaded or broken", "try again later"
	case model.KindProtocol:
		what, todo = "sent an error that is none of the dialect's", "check the provider's url and type"
	default:
		what, todo = "refuses the request", "check the settings of the agent and its model"
		if status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
			what, todo = "has nothing to answer this", "check the provider's url and the model's name"
		}
	}
	e := c.advise(kind, fmt.Sprintf("%s %s%s: %s", c.place(), what, num, strings.TrimRight(said, ". ")), todo)
	e.Status = status
	if e.After = p.After; e.After == 0 && (kind == model.KindLimit || kind == model.KindServer) {
		e.After = told(p.Message)
	}
	return e
}

func (c *Client) hasKey() bool {
	return c.headers["Authorization"] != "" || c.headers["X-Api-Key"] != "" || c.headers["X-Goog-Api-Key"] != ""
}

// place names the address that was called.
func (c *Client) place() string { return address(c.url.String()) }

// notReply is the error for an answer of success that is neither a stream nor a whole reply.
func (c *Client) notReply(res *http.Response, body []byte) *model.Error {
	body = body[:min(len(body), maxShown)]
	if p, ok := complain(body); ok {
		return c.complained(0, p)
	}
	num := ""
	if res.StatusCode > http.StatusOK {
		num = fmt.Sprintf(" (%d)", res.StatusCode)
	}
	said := shorten(c.clean(plain(body)), 300)
	if said == "" { // as good as broken off
		return c.Errorf(model.KindNetwork, "%s answered with an empty body%s, not with a model's reply; check the provider's url", c.place(), num)
	}
	return c.Errorf(model.KindProtocol, "%s answered with %s%s, not with a model's reply: %s; check the provider's url",
		c.place(), first(res.Header.Get("Content-Type"), "no content type"), num, said)
}
