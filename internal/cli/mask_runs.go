package cli

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

const (
	gram   = 8 // bytes that are looked up at once
	stride = 5 // bytes between two look-ups: leastRun bytes have one that lies whole in them
	// leastRun is how much of a key is taken out where the rest was cut off; a public beginning does not
	// count, and some more must follow it.
	leastRun    = gram + stride - 1
	leastSecret = 6
	// leastCut is how long a key is of which parts are looked for: parts of a short one are words.
	leastCut = 20
	// edge is how much is looked up of either end of what is much longer.
	edge = 512
)

// publicBeginnings are of keys of many people, and stand in manuals.
var publicBeginnings = []string{"sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-", "sk-or-v1-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-ant-", "sk-", "xai-", "gsk_", "AIza",
	"github_pat_", "ghp_", "gho_", "hf_", "nvapi-", "Bearer "}

// form is a key as it may stand in a text.
type form struct {
	text, mask string
	cut        bool // parts of it are looked for
	public     int  // how much of its beginning is no secret
}

// keyRuns finds keys in texts, and what is left of one that was cut. A replacer would do for whole keys; it
// looks at each byte, and results are large.
type keyRuns struct {
	forms []form
	// Where a gram stands in the forms. begin has for its hash a number in at, 0 for none, each of which
	// leads to the next one with the same hash.
	begin [1 << 13]uint32
	at    []spot
	seen  [1 << 12]uint64 // a bit for each hash of more bits, so that most look-ups end here
	short *strings.Replacer
	brief []string
}

type spot struct{ form, offset, next uint32 }

// newKeyRuns takes keys with what stands in the place of each. The first of two equal ones counts.
func newKeyRuns(keys [][2]string) *keyRuns {
	r := &keyRuns{}
	known := map[string]bool{}
	for _, k := range keys {
		for _, f := range formsOf(k[0], k[1]) {
			if !known[f.text] {
				known[f.text] = true
				r.forms = append(r.forms, f)
			}
		}
	}
	slices.SortStableFunc(r.forms, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	size := 1
	for _, f := range r.forms {
		size += min(len(f.text), 2*edge)
	}
	r.at = append(make([]spot, 0, size), spot{})
	var pairs []string
	for i, f := range r.forms {
		if len(f.text) < leastRun {
			pairs = append(pairs, f.text, f.mask)
			r.brief = append(r.brief, f.text)
			continue
		}
		for o := 0; o+gram <= len(f.text); o++ {
			if o >= edge && o+edge < len(f.text) {
				continue
			}
			h := hash(eight(f.text, o))
			r.seen[h>>6] |= 1 << (h & 63)
			h >>= 18 - 13
			r.at = append(r.at, spot{uint32(i), uint32(o), r.begin[h]})
			r.begin[h] = uint32(len(r.at) - 1)
		}
	}
	r.short = strings.NewReplacer(pairs...)
	return r
}

func eight(s string, at int) uint64 {
	b := s[at : at+gram] // as one load; a conversion to bytes would copy
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// hash is of 18 bits.
func hash(v uint64) uint64 { return v * 0x9E3779B97F4A7C15 >> (64 - 18) }

// formsOf are a key and what it becomes inside a JSON string, an address and base64, also where it stands
// somewhere in what was encoded.
func formsOf(key, mask string) []form {
	cut := isCuttable(key)
	public := 0
	for _, b := range publicBeginnings {
		if strings.HasPrefix(key, b) {
			public = len(b)
			break
		}
	}
	var out []form
	add := func(s string, cut bool, public int) {
		if len(s) >= shortestKey {
			out = append(out, form{s, mask, cut, public})
		}
	}
	add(key, cut, public)
	if b, err := json.Marshal(key); err == nil {
		add(string(b[1:len(b)-1]), cut, public)
	}
	var plain strings.Builder
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if e.Encode(key) == nil {
		s := strings.TrimSuffix(plain.String(), "\n")
		add(s[1:len(s)-1], cut, public)
	}
	add(url.QueryEscape(key), cut, public)
	add(url.PathEscape(key), cut, public)
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		add(enc.EncodeToString([]byte(key)), cut, (public*4+2)/3)
		for shift, unsure := range []int{0, 2, 3} { // characters that also say something of what stands before
			s := enc.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, shift), key...))
			if (shift+len(key))%3 != 0 {
				s = s[:len(s)-1] // and of what follows
			}
			if s = s[unsure:]; len(s) >= leastRun {
				add(s, cut, (public*4+2)/3)
			}
		}
	}
	return out
}

// isCuttable says that no text has a part of a key by chance. Addresses, names and made-up keys of plain
// words are no secrets, or are only taken out whole.
func isCuttable(key string) bool {
	if len(key) < leastCut || strings.Contains(key, "://") || strings.ContainsFunc(key, unicode.IsSpace) {
		return false
	}
	digits := strings.ContainsFunc(key, unicode.IsDigit)
	mixed := strings.ContainsFunc(key, unicode.IsUpper) && strings.ContainsFunc(key, unicode.IsLower) && !strings.ContainsAny(key, "-_. ")
	return digits || mixed
}

// mask takes the keys out of a text.
func (r *keyRuns) mask(s string) string {
	var b strings.Builder
	done := 0
	for p := 0; p+gram <= len(s); p += stride {
		h := hash(eight(s, p))
		if r.seen[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		from, to, mask := r.run(s, done, p, r.begin[h>>(18-13)])
		if to == 0 {
			continue
		}
		b.WriteString(r.brieflyMasked(s[done:from]))
		b.WriteString(mask)
		done = to
		p = to - stride
	}
	if done == 0 {
		return r.brieflyMasked(s)
	}
	b.WriteString(r.brieflyMasked(s[done:]))
	return b.String()
}

// run is the longest part of a key around p that is to be taken out, not before least; to is 0 where
// there is none. Whole keys come first.
func (r *keyRuns) run(s string, least, p int, first uint32) (from, to int, mask string) {
	whole := false
	for i := first; i != 0; i = r.at[i].next {
		x := r.at[i]
		f := &r.forms[x.form]
		if s[p:p+gram] != f.text[x.offset:x.offset+gram] {
			continue
		}
		a, o := p, int(x.offset)
		for a > least && o > 0 && s[a-1] == f.text[o-1] {
			a--
			o--
		}
		z, e := p+gram, int(x.offset)+gram
		for z < len(s) && e < len(f.text) && s[z] == f.text[e] {
			z++
			e++
		}
		all := o == 0 && e == len(f.text)
		if !all && (whole || !f.isLeft(s, a, z, o, e)) || all == whole && z-a <= to-from {
			continue
		}
		from, to, mask, whole = a, z, f.mask, all
	}
	return from, to, mask
}

// isLeft says that s[a:z], which is f.text[o:e], is what a cut left of a key, and more of it than everybody
// knows.
func (f *form) isLeft(s string, a, z, o, e int) bool {
	if !f.cut || z-a < leastRun || e-max(o, f.public) < leastSecret {
		return false
	}
	begins := o == 0 || a == 0 || !inKey(s[a-1])
	ends := e == len(f.text) || z == len(s) || !inKey(s[z])
	return begins && ends
}

// inKey says that a key could go on with a byte.
func inKey(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_' || c == '+' || c == '/'
}

// brieflyMasked takes out what is too short to be looked up by its parts.
func (r *keyRuns) brieflyMasked(s string) string {
	for _, k := range r.brief {
		if strings.Contains(s, k) {
			return r.short.Replace(s)
		}
	}
	return s
}
