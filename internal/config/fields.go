package config

import (
	"reflect"
	"strconv"
	"strings"

	"jig/internal/nearest"
)

// The keys of every section are the key tags of the structs in types.go: the audit, the
// decoder and the published schema read the same ones.
//
//	key:"name"     a setting
//	key:"+"        the settings of an embedded struct stand here
//	key:"persona"  the same, in a persona's front matter alone
//	key:"-"        not a setting (nor is a field without a tag)
//	want:"a,b"     the words it can be
//	range:"0,2"    the numbers it can be
//
// A toolset's own struct says json:"name" instead of key:"name".

// field is one setting of a struct.
type field struct {
	key      string
	index    []int
	typ      reflect.Type
	want     []string
	min, max float64
	bounded  bool
	persona  bool
}

// fieldsOf lists the settings of a struct type in the order they are declared.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		key := f.Tag.Get("key")
		if key == "" {
			key, _, _ = strings.Cut(f.Tag.Get("json"), ",")
		}
		switch key {
		case "", "-":
			continue
		case "+", "persona":
			for _, in := range fieldsOf(f.Type) {
				in.index = append([]int{i}, in.index...)
				in.persona = in.persona || key == "persona"
				list = append(list, in)
			}
			continue
		}
		out := field{key: key, index: []int{i}, typ: f.Type}
		if w := f.Tag.Get("want"); w != "" {
			out.want = strings.Split(w, ",")
		}
		if low, high, ok := strings.Cut(f.Tag.Get("range"), ","); ok {
			out.bounded = true
			out.min, _ = strconv.ParseFloat(low, 64)
			out.max, _ = strconv.ParseFloat(high, 64)
		}
		list = append(list, out)
	}
	return list
}

func keysOf(fields []field, persona bool) []string {
	var keys []string
	for _, f := range fields {
		if persona || !f.persona {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// spot is a place where keys can stand, as people know it.
type spot struct {
	name string
	keys []string
}

// spots lists all places, for saying where a misplaced key belongs.
func spots() []spot {
	at := func(name string, v any) spot {
		return spot{name, keysOf(fieldsOf(reflect.TypeOf(v)), false)}
	}
	return []spot{
		at("the top level", Config{}),
		at("providers.<name>", Provider{}),
		at("models.<name>", Model{}),
		at("agents.<name>", Agent{}),
		{"a persona's front matter", keysOf(fieldsOf(reflect.TypeOf(PersonaKeys{})), true)},
		{"agents.<name>.tools", ToolNames()},
		{"agents.<name>.tools.shell", []string{"network", "auto_run"}},
		{"agents.<name>.tools.code", []string{"auto_write", "read_only"}},
		at("agents.<name>.subagents.<name>", Subagent{}),
		at("models.<name>.price", Price{}),
		at("mcp_servers.<name>", MCPServer{}),
		at("web", Web{}),
		at("nook", Nook{}),
		at("history", History{}),
		at("environments.<name>", Environment{}),
		at("client_tools.<name>", ClientTool{}),
	}
}

// belongs names the places a key is known at, at most three.
func belongs(key string) []string {
	var names []string
	for _, s := range spots() {
		for _, k := range s.keys {
			if nearest.Fold(k) == nearest.Fold(key) && len(names) < 3 {
				names = append(names, s.name)
			}
		}
	}
	return names
}

// unknownKey is the message for a key that does not stand where it was found.
func unknownKey(what, key string, here []string) string {
	msg := "unknown " + what
	near := nearest.Of(key, here)
	places := belongs(key)
	switch {
	case near != "" && nearest.Fold(near) == nearest.Fold(key): // another spelling of a key of this place
		msg += ", did you mean " + quoted(near) + "?"
	case len(places) > 0:
		msg += ": " + quoted(key) + " belongs under " + strings.Join(places, " or ")
		if near != "" {
			msg += "; or did you mean " + quoted(near) + "?"
		}
	case near != "":
		msg += ", did you mean " + quoted(near) + "?"
	}
	return msg + " (want " + strings.Join(here, ", ") + ")"
}

// coord adds a key to a coordinate; a key that is not a plain word is quoted.
func coord(at, key string) string {
	plain := key != ""
	for _, r := range key {
		plain = plain && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	if !plain {
		key = `"` + Shown(key) + `"`
	}
	if at == "" {
		return key
	}
	return at + "." + key
}
