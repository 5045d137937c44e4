package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Type is a parameter's JSON type.
type Type string

// The types a parameter may have.
const (
	String  Type = "string"
	Integer Type = "integer"
	Boolean Type = "boolean"
)

// Param is one parameter of a tool. A table of them is the only description there is: the schema
// the model sees, the decoder and the manual are all made from it.
type Param struct {
	Name     string
	Type     Type
	Required bool
	// Whole says that a value of another type, too, counts as missing, where others are told which
	// type was wanted.
	Whole bool
	Doc   string
}

// Params is a tool's parameters in the order they are shown.
type Params []Param

// Failures of the arguments themselves, common to all tools that use Params.
var (
	Missing   = Fails("missing required argument: {name}")
	NotObject = Fails("the arguments must be one JSON object, got {got}; nothing was run")
	WrongType = Fails("argument {name} must be {want}, got {got}; nothing was run")
	Unknown   = Fails("unknown argument: {name} (the arguments are {names}); nothing was run")
	Twice     = Fails("argument {name} is given twice; nothing was run")
	BadText   = Fails("argument {name} is not valid Unicode text ({what}); nothing was run")
)

// ArgumentFailures lists them for a Spec.
var ArgumentFailures = []*Failure{Missing, NotObject, WrongType, Unknown, Twice, BadText}

// Schema is the JSON Schema of the parameters, byte for byte the same every time.
func (ps Params) Schema() json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range ps {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s:{"type":%s,"description":%s}`, quote(p.Name), quote(string(p.Type)), quote(p.Doc))
	}
	b.WriteString(`}`)
	var required []string
	for _, p := range ps {
		if p.Required {
			required = append(required, quote(p.Name))
		}
	}
	if required != nil {
		fmt.Fprintf(&b, `,"required":[%s]`, strings.Join(required, ","))
	}
	b.WriteString(`}`)
	return b.Bytes()
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// Args is decoded arguments. Asking for a name that the Params do not have is a programming error.
type Args struct {
	params Params
	values map[string]any
}

// Decode reads arguments. Numbers and booleans written as strings are taken, null means absent, and
// nothing else is guessed: what cannot be read exactly is refused, since a repaired argument is an
// action nobody asked for. An absent required parameter is reported by the tool when it asks, so
// that each tool keeps its own order of checks; see Need.
func (ps Params) Decode(raw json.RawMessage) (Args, error) {
	a := Args{ps, map[string]any{}}
	fields, err := object(raw)
	if err != nil {
		return a, err
	}
	seen := map[string]bool{}
	for _, f := range fields {
		i := slices.IndexFunc(ps, func(p Param) bool { return p.Name == f.name })
		if i < 0 {
			return a, Unknown.With("name", clip(f.name), "names", ps.names())
		}
		if seen[f.name] {
			return a, Twice.With("name", f.name)
		}
		seen[f.name] = true
		v, err := ps[i].value(f.raw)
		if err != nil {
			return a, err
		}
		if v != nil {
			a.values[f.name] = v
		}
	}
	return a, nil
}

func (ps Params) names() string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Name)
	}
	return strings.Join(out, ", ")
}

// Need is a string that must be there and not be empty.
func (a Args) Need(name string) (string, error) {
	if s := a.String(name); s != "" {
		return s, nil
	}
	return "", Missing.With("name", name)
}

// Has reports whether a value was given.
func (a Args) Has(name string) bool { return a.get(name) != nil }

// String is a string's value, "" when absent.
func (a Args) String(name string) string { s, _ := a.get(name).(string); return s }

// Bool is a boolean's value, false when absent.
func (a Args) Bool(name string) bool { b, _ := a.get(name).(bool); return b }

// Int is an integer's value, or the default when absent.
func (a Args) Int(name string, def int) int {
	if n, ok := a.get(name).(int); ok {
		return n
	}
	return def
}

func (a Args) get(name string) any {
	if !slices.ContainsFunc(a.params, func(p Param) bool { return p.Name == name }) {
		panic("tool: no parameter " + name)
	}
	return a.values[name]
}

type field struct {
	name string
	raw  json.RawMessage
}

// object splits an object into its fields in order; encoding/json would silently keep the last of
// two equal names and turn broken text into U+FFFD.
func object(raw json.RawMessage) ([]field, error) {
	if !json.Valid(raw) {
		return nil, NotObject.With("got", "malformed JSON")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, NotObject.With("got", describe(raw))
	}
	var out []field
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, NotObject.With("got", "malformed JSON")
		}
		name, _ := t.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, NotObject.With("got", "malformed JSON")
		}
		out = append(out, field{name, v})
	}
	return out, nil
}

func (p Param) value(raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	var s string
	text := raw[0] == '"'
	if text {
		if what := badText(raw); what != "" {
			return nil, BadText.With("name", p.Name, "what", what)
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, BadText.With("name", p.Name, "what", err.Error())
		}
	}
	bare := raw
	if text && p.Type != String {
		bare = json.RawMessage(strings.TrimSpace(s))
	}
	switch p.Type {
	case String:
		if text {
			return s, nil
		}
		if p.Whole {
			return nil, nil
		}
	case Boolean:
		if b := string(bare); b == "true" || b == "false" {
			return b == "true", nil
		}
	case Integer:
		if n, ok := integer(string(bare)); ok {
			return n, nil
		}
	}
	want := map[Type]string{String: "a string", Integer: "an integer", Boolean: "true or false"}[p.Type]
	return nil, WrongType.With("name", p.Name, "want", want, "got", describe(raw))
}

// integer reads a JSON number that is whole, such as 20, 20.0 or 2e1. One beyond the range of int
// is held at its end: an offset of 1e30 means "past everything".
func integer(s string) (int, bool) {
	if len(s) > 64 || !json.Valid([]byte(s)) || !strings.ContainsAny(s[:1], "-0123456789") {
		return 0, false
	}
	if _, exp, ok := strings.Cut(strings.ToLower(s), "e"); ok && len(strings.TrimLeft(exp, "+-0")) > 3 {
		return 0, false // a huge exponent would cost memory to expand
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() {
		return 0, false
	}
	switch n := r.Num(); {
	case n.IsInt64() && n.Int64() <= math.MaxInt && n.Int64() >= math.MinInt:
		return int(n.Int64()), true
	case n.Sign() < 0:
		return math.MinInt, true
	}
	return math.MaxInt, true
}

// badText says what in a JSON string is no Unicode text, "" when nothing is. encoding/json would
// put U+FFFD in its place, and that would end up in somebody's file.
func badText(raw []byte) string {
	if !utf8.Valid(raw) {
		return "bytes that are not UTF-8"
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if i >= len(raw) || raw[i] != 'u' {
			continue
		}
		switch u := hex4(raw, i+1); {
		case u >= 0xDC00 && u < 0xE000:
			return fmt.Sprintf(`a lone surrogate \u%04x`, u)
		case u >= 0xD800 && u < 0xDC00:
			low := -1
			if i+6 < len(raw) && raw[i+5] == '\\' && raw[i+6] == 'u' {
				low = hex4(raw, i+7)
			}
			if low < 0xDC00 || low >= 0xE000 {
				return fmt.Sprintf(`a lone surrogate \u%04x`, u)
			}
			i += 6
		}
		i += 4
	}
	return ""
}

func hex4(raw []byte, at int) int {
	if at+4 > len(raw) {
		return -1
	}
	n, err := strconv.ParseUint(string(raw[at:at+4]), 16, 32)
	if err != nil {
		return -1
	}
	return int(n)
}

// describe names a JSON value's type, with the value where it is short.
func describe(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	kind := "a number"
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 'n':
		return "null"
	case '"':
		kind = "a string"
	case 't', 'f':
		kind = "a boolean"
	}
	if len(raw) > 40 {
		return kind
	}
	return kind + ": " + strings.ToValidUTF8(string(raw), "\uFFFD")
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}
