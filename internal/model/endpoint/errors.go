package endpoint

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"jig/internal/model"
)

// Errorf makes a *model.Error whose text holds no secret and is one line.
func (c *Client) Errorf(k model.Kind, format string, a ...any) *model.Error {
	return model.Errorf(k, "%s", c.clean(fmt.Sprintf(format, a...)))
}

// broken is the error for a connection that could not be made or broke off. When ctx has ended
// that is the reason, whatever the transport says.
func (c *Client) broken(ctx context.Context, err error) error {
	if s := gaveUp(ctx); s != nil {
		e := c.Errorf(model.KindNetwork, "%s %s and was given up; try again, or let it take longer with the provider's idle_timeout", c.url.Host, s)
		e.Cause = s
		return e
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text, final := c.brokenText(err)
	e := c.Errorf(model.KindNetwork, "%s", text)
	e.Cause, e.Final = err, final
	var layer *url.Error
	if errors.As(err, &layer) {
		e.Cause = layer.Err // without the whole address, which may hold a secret
	}
	return e
}

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
		return fmt.Sprintf("%s broke off its answer; try again", where), false
	}
	return fmt.Sprintf("the connection to %s failed: %v; try again", where, innermost(err)), false
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

// complaint is what a provider says of a request it refused, in whichever form it came.
type complaint struct {
	Type, Code, Message string
	details
}

// complain reads an error body: {"error": {…}}, {"error": "…"}, {"message": …}, {"detail": …} and
// lists of them. ok is false when it holds none.
func complain(body []byte) (complaint, bool) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' { // some gateways wrap it in a list
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var top struct {
		Error   json.RawMessage `json:"error"`
		Message any             `json:"message"`
		Detail  any             `json:"detail"`
		Type    any             `json:"type"`
		Code    any             `json:"code"`
	}
	if json.Unmarshal(body, &top) != nil {
		return complaint{}, false
	}
	if len(top.Error) > 0 && string(top.Error) != "null" {
		var s string
		if json.Unmarshal(top.Error, &s) == nil {
			return complaint{Type: text(top.Type), Code: text(top.Code), Message: first(s, text(top.Message))}, true
		}
		var e struct {
			Type    any `json:"type"`
			Code    any `json:"code"`
			Message any `json:"message"`
			Status  any `json:"status"`
			Details any `json:"details"`
		}
		_ = json.Unmarshal(top.Error, &e)
		p := complaint{Type: first(text(e.Type), text(e.Status)), Code: text(e.Code), Message: first(text(e.Message), string(top.Error))}
		p.details = detailed(p.Type, p.Message, e.Details)
		return p, true
	}
	if m := first(text(top.Message), text(top.Detail)); m != "" {
		return complaint{Type: text(top.Type), Code: text(top.Code), Message: m}, true
	}
	return complaint{}, false
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func first(s ...string) string {
	for _, x := range s {
		if x != "" {
			return x
		}
	}
	return ""
}

// refused is the error for an answer with another status than 200.
func (c *Client) refused(res *http.Response, body []byte) *model.Error {
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		e := c.Errorf(model.KindRequest, "%s redirects to %s (%d); set the provider's url to where the service is",
			c.place(), address(res.Header.Get("Location")), res.StatusCode)
		e.Status = res.StatusCode
		return e
	}
	p, ok := complain(body)
	if !ok {
		p.Message = plain(body)
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
	said := p.Message
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
	line := fmt.Sprintf("%s %s%s: %s", c.place(), what, num, strings.TrimRight(shorten(said, 300), ". \n"))
	if todo != "" {
		line += "; " + todo
	}
	e := c.Errorf(kind, "%s", line)
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

func kindOf(status int, p complaint) model.Kind {
	if n, err := strconv.Atoi(p.Code); status == 0 && err == nil && n >= 400 && n < 600 {
		status = n // a gateway's way to pass on the status it got
	}
	m, tags := strings.ToLower(p.Message), strings.ToLower(p.Type+" "+p.Code+" "+p.Reason)
	has := func(s string, words ...string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusPaymentRequired, p.Final, has(tags, "insufficient_quota", "billing"), has(m, "credit balance is too low"):
		return model.KindQuota
	case status == http.StatusRequestEntityTooLarge, has(tags, "context_length_exceeded", "request_too_large", "exceed_context_size"),
		has(m, "prompt is too long", "maximum context length", "context window", "exceeds the available context size", "exceeds the maximum number of tokens"):
		return model.KindOverflow
	case status == http.StatusTooManyRequests, has(tags, "rate_limit", "resource_exhausted"):
		return model.KindLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden, has(tags, "authentication_error", "permission_error", "invalid_api_key", "api_key_invalid"):
		return model.KindAuth
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, has(tags, "overloaded", "api_error", "server_error", "timeout_error"):
		return model.KindServer
	}
	return model.KindRequest
}

// plain makes a body that is not the dialect's JSON fit for one line: a page's title, or its text.
func plain(body []byte) string {
	s := string(body)
	low := strings.ToLower(s)
	if !strings.Contains(low[:min(len(low), 1024)], "<html") && !strings.Contains(low[:min(len(low), 1024)], "<!doctype") {
		return s
	}
	if a := strings.Index(low, "<title>"); a >= 0 {
		if b := strings.Index(low[a:], "</title>"); b >= 0 && a+b <= len(s) {
			return fmt.Sprintf("a web page titled %q", strings.Join(strings.Fields(s[a+len("<title>"):a+b]), " "))
		}
	}
	return "a web page"
}

// notReply is the error for an answer of status 200 that is neither a stream nor a whole reply.
func (c *Client) notReply(res *http.Response, body []byte) *model.Error {
	if p, ok := complain(body); ok {
		return c.complained(0, p)
	}
	kind, said := model.KindProtocol, plain(body)
	if strings.TrimSpace(said) == "" {
		kind, said = model.KindNetwork, "an empty body" // as good as broken off
	}
	return c.Errorf(kind, "%s answered with %s, not with a model's reply: %s; check the provider's url",
		c.place(), first(res.Header.Get("Content-Type"), "no content type"), said)
}
