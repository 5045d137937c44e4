package endpoint

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// minSecret is how many bytes a secret has at least: taking out every "1" would leave no text.
const minSecret = 6

// secrets are the strings that must never be seen in a text: a provider may echo what it got. The
// longest come first, so that one which is part of another leaves no rest of it.
func secrets(o Options) []string {
	var out []string
	add := func(values ...string) {
		for _, s := range values {
			s = strings.TrimSpace(s) // as it is sent
			if len(s) >= minSecret && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	add(o.Key)
	if u, err := url.Parse(strings.TrimSpace(o.URL)); err == nil {
		if u.User != nil {
			pass, _ := u.User.Password()
			pair := u.User.Username() + ":" + pass
			add(u.User.Username(), pass, pair, base64.StdEncoding.EncodeToString([]byte(pair)))
			add(strings.SplitN(u.User.String(), ":", 2)...) // as it is written in an address
		}
		for _, field := range strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
			_, raw, ok := strings.Cut(field, "=")
			if !ok { // a lone token
				raw = field
			}
			add(raw)
			if s, err := url.QueryUnescape(raw); err == nil {
				add(s)
			}
		}
	}
	for _, v := range o.Headers {
		add(v)
		if _, cred, ok := strings.Cut(v, " "); ok { // Bearer …, Basic …
			add(cred)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return out
}

// addresses finds them. It is only made where something goes wrong, as making it takes long.
var addresses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
})

const hidden = "[secret]"

// clean takes secrets out of a text and makes it one line of bounded length.
func (c *Client) clean(s string) string {
	const enough = 16 << 10 // far more than is left in the end
	s = strings.TrimSpace(s)
	s = s[:min(len(s), enough)]
	s = addresses().ReplaceAllStringFunc(s, address)
	for _, k := range c.secrets {
		s = strings.ReplaceAll(s, k, hidden)
	}
	s = c.maskEnd(s)
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return shorten(s, 600)
}

// maskEnd takes the beginning of a secret from the end of a text, where somebody may have cut it.
func (c *Client) maskEnd(s string) string {
	end := len(strings.TrimRight(s, "….\"'`)]}> \n"))
	for _, k := range c.secrets {
		if strings.Contains(k, " ") { // begins with a word such as Bearer; what follows it is there by itself
			continue
		}
		for n := min(len(k)-1, end); n >= minSecret; n-- {
			if strings.HasSuffix(s[:end], k[:n]) {
				return s[:end-n] + hidden + s[end:]
			}
		}
	}
	return s
}

// address leaves the scheme, the host and the path of an address: the user before the host and the
// query after the path may hold a secret. What cannot be read as an address may be one with a
// secret that was not escaped.
func address(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if ok {
		scheme += "://"
	} else {
		scheme, rest = "", s
	}
	at, tail := strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, "?#")
	switch {
	case tail < 0:
		return scheme + rest[at+1:]
	case tail < at: // a password with a ? in it, or a query with an @: no part is safe to show
		return scheme + "…"
	}
	return scheme + rest[at+1:tail]
}

// shorten cuts a text that is longer than most characters.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
