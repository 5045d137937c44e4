// Package catalog knows what models cost and how much they can take in and say: a dated copy of
// public price lists, written by gen/main.go and read only when it is asked. It is advice that a
// configuration overrides; it decides nothing and calls nobody.
package catalog

import (
	_ "embed" // the data
	"net"
	"net/url"
	"strconv"
	"strings"

	"jig/internal/money"
)

// A string and not bytes: it stays in the binary's read-only part and costs no start-up.
//
//go:embed models.txt
var data string

// Model is what the lists say of a model. Zero values are not known.
type Model struct {
	ID     string
	Price  *money.Price
	Window int      // tokens it can take in
	Reply  int      // tokens of its longest reply, as the lists recommend it
	Levels []string // of reasoning, when it has any
}

// Address is where a model is reached.
type Address struct {
	Kind string // the dialect
	Name string // the provider's name in the configuration
	URL  string // its base URL, "" is the vendor's own
}

// Date is the day the lists are from, as 2006-01-02.
func Date() string {
	_, rest, _ := strings.Cut(data, "\ndate ")
	date, _, _ := strings.Cut(rest, "\n")
	return date
}

// Find gives what is known of a model. A name with a date behind it is the same model as one
// without.
func Find(a Address, id string) (Model, bool) {
	id = strings.TrimPrefix(id, "models/") // as Google's names may begin
	plain := undated(id)
	for _, same := range []func(x string) bool{
		func(x string) bool { return x == id },
		func(x string) bool { return undated(x) == plain },
	} {
		for _, s := range sections(a) {
			for m := range s.models() {
				if same(m.name()) {
					return m.read(), true
				}
			}
		}
	}
	return Model{}, false
}

// List gives all models of the provider at an address, nil when the lists have no such provider.
func List(a Address) []Model {
	var out []Model
	if all := sections(a); len(all) > 0 {
		for m := range all[0].models() {
			out = append(out, m.read())
		}
	}
	return out
}

// undated is a name without the date that it may end with.
func undated(id string) string {
	for _, form := range []string{"-20000000", "-2000-00-00"} {
		if n := len(id) - len(form); n > 0 && dated(id[n:], form) {
			return id[:n]
		}
	}
	return id
}

// dated compares a name's end with a form in which 0 stands for any digit.
func dated(end, form string) bool {
	for i := range len(form) {
		if digit := end[i] >= '0' && end[i] <= '9'; end[i] != form[i] && (form[i] != '0' || !digit) {
			return false
		}
	}
	return true
}

// vendors are whose service a dialect is, where no other address is given.
var vendors = map[string]string{"openai": "openai", "openresponses": "openai", "anthropic": "anthropic", "gemini": "gemini"}

// section is what the lists say of one provider.
type section struct{ id, at, lines string }

// sections are those that an address may mean, the likeliest first. An address decides by its host,
// and by its path where one host sells under several; a host that nobody lists, such as a company's
// own gateway, by the name it was given. What runs on the own machine or in the own network costs
// what its owner says.
func sections(a Address) []section {
	var out []section
	u, err := url.Parse(strings.TrimSpace(a.URL))
	own := err != nil || u.Host == "" || private(u.Hostname())
	for s := range all {
		switch {
		case a.URL == "":
			if s.id == vendors[a.Kind] {
				out = append(out, s)
			}
		case err == nil && s.host() == strings.ToLower(u.Hostname()):
			if strings.HasPrefix(strings.TrimRight(u.Path, "/")+"/", s.path()+"/") {
				out = append([]section{s}, out...)
			} else {
				out = append(out, s)
			}
		}
	}
	if a.URL == "" || own || len(out) > 0 {
		return out
	}
	for s := range all {
		if s.id == a.Name {
			out = append(out, s)
		}
	}
	return out
}

// private is true of hosts that the own network answers for.
func private(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost")
}

func (s section) host() string { host, _, _ := strings.Cut(s.at, "/"); return host }

func (s section) path() string {
	if _, path, ok := strings.Cut(s.at, "/"); ok {
		return "/" + path
	}
	return ""
}

// all walks over the sections.
func all(yield func(section) bool) {
	_, rest, ok := strings.Cut(data, "\n@")
	for ok {
		var s string
		s, rest, ok = strings.Cut(rest, "\n@")
		head, lines, _ := strings.Cut(s, "\n")
		id, at, _ := strings.Cut(head, " ")
		if !yield(section{id, at, lines}) {
			return
		}
	}
}

// line is one model as it is written.
type line string

func (s section) models() func(func(line) bool) {
	return func(yield func(line) bool) {
		for l := range strings.Lines(s.lines) {
			if !yield(line(strings.TrimSuffix(l, "\n"))) {
				return
			}
		}
	}
}

func (l line) name() string { name, _, _ := strings.Cut(string(l), "\t"); return name }

func (l line) read() Model {
	f := strings.Split(string(l), "\t")
	if len(f) != 8 {
		return Model{ID: l.name()}
	}
	m := Model{ID: f[0]}
	m.Window, _ = strconv.Atoi(f[5]) // 0 for what is not known
	m.Reply, _ = strconv.Atoi(f[6])
	if f[7] != "-" {
		m.Levels = strings.Split(f[7], ",")
	}
	var rates [4]money.Rate
	for i := range rates {
		var err error
		if rates[i], err = money.ParseRate(f[1+i]); err != nil {
			return m
		}
	}
	m.Price = &money.Price{Input: rates[0], Output: rates[1], CacheRead: rates[2], CacheWrite: rates[3]}
	return m
}
