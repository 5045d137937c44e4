package config

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// httpURL checks an address. The message shows the text as written, never an expanded
// value, which may hold a key.
func (l *loader) httpURL(text string, p Pos, at string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		l.fail(p, at, "the address is empty")
	case err != nil:
		l.fail(p, at, "this is no address: want http://… or https://…")
	case u.Scheme != "http" && u.Scheme != "https":
		l.fail(p, at, "want an address that begins with http:// or https://")
	case u.Hostname() == "":
		l.fail(p, at, "the address names no host")
	}
}

func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

func (x *Provider) check(l *loader, at string) bool {
	if !x.Has("type") {
		x.Type = x.Name
		if !slices.Contains(ProviderTypes(), x.Name) {
			l.fail(x.Pos, at+".type", "a type is missing, and \"%s\" is none itself%s (want %s)", Shown(x.Name), suggestion(x.Name, ProviderTypes()), strings.Join(ProviderTypes(), ", "))
		}
	}
	if x.Has("url") && !x.bad["url"] {
		switch {
		case x.Type == "replay":
			x.URL = l.env.absolute(x.dir, x.URL)
			l.covered(x.URL, x.At("url"), at+".url")
		case x.unsetEmpty("url", x.URL):
			x.URL = "" // told by Unset; the default address would be another host than meant
			l.warn(x.At("url"), at+".url", "the address is empty because environment variable %s is not set", Shown(x.unset["url"][0]))
		default:
			l.httpURL(x.URL, x.At("url"), at+".url")
		}
	}
	l.headers(x.Headers, x.At("headers"), at+".headers")
	return true
}

// unsetEmpty tells whether a value is empty for want of an environment variable.
func (e Entry) unsetEmpty(key, value string) bool {
	return strings.TrimSpace(value) == "" && len(e.unset[key]) > 0
}

// headers checks that names and values can stand in a request; a line end in one would
// begin another header.
func (l *loader) headers(h map[string]Secret, p Pos, at string) {
	for _, name := range sorted(h) {
		if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") != "" {
			l.fail(p, coord(at, name), "this is no name for an HTTP header")
		}
		if strings.ContainsAny(string(h[name]), "\r\n\x00") {
			l.fail(p, coord(at, name), "an HTTP header cannot have a line end in it")
		}
	}
}

func (x *Model) check(l *loader, at string) bool {
	if !x.Has("provider") {
		x.Provider = x.Name
	}
	if x.ID == "" && !x.bad["id"] {
		l.fail(x.At("id"), at+".id", "the model's name at the provider is missing")
	}
	if x.ID == "*" {
		l.fail(x.At("id"), at+".id", "a wildcard names no model")
	}
	return true
}

// shorthand reads provider:id.
func (x *Model) shorthand(l *loader, n *node, at string) {
	var ok bool
	x.Provider, x.ID, ok = strings.Cut(n.text, ":")
	x.at["provider"], x.at["id"] = l.pos(n.line, n.col), l.pos(n.line, n.col)
	switch {
	case !ok:
		l.failAt(n, at, "want provider:id, got \"%s\"", Shown(n.raw))
	case x.Provider == "" || strings.TrimSpace(x.ID) == "":
		l.failAt(n, at, "want provider:id with something on both sides, got \"%s\"", Shown(n.raw))
	case x.ID == "*":
		l.failAt(n, at, "a wildcard names no model: write the id in full")
	default:
		return
	}
	x.Provider, x.ID = "", ""
}

func (x *MCPServer) check(l *loader, at string) bool {
	stdio, remote := x.Has("command"), x.Has("url")
	if stdio && l.src.Level == Project {
		l.refused[x.Name] = true
		l.warn(x.At("command"), at, "a server that is a command is accepted from the user's configuration or -c alone (left out)")
		return false
	}
	switch {
	case stdio && remote:
		l.fail(x.At("url"), at, "want command or url, not both")
	case !stdio && !remote:
		l.fail(x.Pos, at, "want command (a program) or url (an address)")
	case stdio && strings.TrimSpace(x.Command) == "" && !x.bad["command"]:
		l.fail(x.At("command"), at+".command", "the command is empty")
	case remote && !x.bad["url"]:
		l.httpURL(x.URL, x.At("url"), at+".url")
	}
	if stdio && !remote {
		for _, k := range []string{"headers", "auth", "client_id", "client_secret", "redirect_port"} {
			if x.Has(k) {
				l.fail(x.At(k), coord(at, k), "belongs to a server with url")
			}
		}
	}
	if remote && !stdio {
		for _, k := range []string{"args", "env"} {
			if x.Has(k) {
				l.fail(x.At(k), coord(at, k), "belongs to a server with command")
			}
		}
	}
	if x.Has("client_secret") && !x.Has("client_id") {
		l.fail(x.At("client_secret"), at+".client_secret", "needs client_id beside it")
	}
	if x.Has("defer") && strings.TrimSpace(x.Defer) == "" {
		l.warn(x.At("defer"), at+".defer", "the summary is blank, so the server's tools are not deferred")
	}
	l.headers(x.Headers, x.At("headers"), at+".headers")
	return true
}

func (x *Environment) check(l *loader, at string) bool {
	if x.Has("command") && len(x.Command) == 0 && !x.bad["command"] {
		l.fail(x.At("command"), at+".command", "the command is empty")
	}
	if x.Name == "local" && x.Has("command") {
		l.fail(x.At("command"), at+".command", "local is this machine and is reached without a command")
	}
	if !x.Has("command") { // elsewhere the path is the other machine's
		x.Cwd = l.env.absolute(x.dir, x.Cwd)
	}
	return true
}

func (x *ClientTool) check(l *loader, at string) bool {
	for _, r := range x.Name {
		if r > 127 || r == '.' {
			l.fail(x.Pos, at, "a tool's name is made of ASCII letters, digits, \"-\" and \"_\"")
			break
		}
	}
	for _, k := range []string{"description", "parameters", "command"} {
		if !x.Has(k) {
			l.fail(x.Pos, coord(at, k), "a client tool needs this")
		}
	}
	if t, ok := x.Parameters["type"]; !x.bad["parameters"] && x.Has("parameters") && (!ok || t != "object") {
		l.fail(x.At("parameters"), at+".parameters.type", "want object, because arguments come by name")
	}
	return true
}

// checkService checks the settings of web, nook and history.
func (l *loader) checkService(v reflect.Value, at string, e Entry) {
	key, address := "url", ""
	switch x := v.Addr().Interface().(type) {
	case *Web:
		key, address = "searxng", x.Searxng
	case *Nook:
		address = x.URL
	case *History:
		address = x.URL
	}
	switch {
	case e.Has(key) && e.unsetEmpty(key, address):
		l.warn(e.At(key), coord(at, key), "the address is empty because environment variable %s is not set", Shown(e.unset[key][0]))
	case e.Has(key) && !e.bad[key]:
		l.httpURL(address, e.At(key), coord(at, key))
	case at != "web" && e.Has("token") && !e.Has(key):
		l.fail(e.At("token"), at+".token", "needs url beside it")
	}
}
