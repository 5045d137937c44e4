package docs_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what is written from the code")

// TestKeyTablesAreCurrent: the configuration's keys stand in the code, from which the schema is made,
// and here as the schema has them.
func TestKeyTablesAreCurrent(t *testing.T) {
	schema, err := os.ReadFile("config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- generated: keys -->\n", "<!-- end -->"
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("configuration.md has no place for the keys")
	}
	want := head + begin + keyTables(t, schema) + end + tail
	if *update {
		if err := os.WriteFile("configuration.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(page) {
		t.Error("configuration.md is stale: run make generate")
	}
}

// property is one key of the schema, in the order in which it stands there.
type property struct {
	name string
	node
}

type node struct {
	Description string
	Enum        []any
	AnyOf       []node
	Properties  json.RawMessage
	Additional  json.RawMessage `json:"additionalProperties"`
}

func keyTables(t *testing.T, schema []byte) string {
	var top node
	if err := json.Unmarshal(schema, &top); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, section := range properties(t, top.Properties) {
		keys := entryKeys(t, section.node)
		of := "`" + section.name + ".NAME`"
		if keys == nil {
			keys, of = properties(t, section.Properties), "`"+section.name+"`"
		}
		fmt.Fprintf(&b, "\n**%s**: %s.\n", of, section.Description)
		if keys == nil {
			continue
		}
		b.WriteString("\n| key | meaning |\n|---|---|\n")
		for _, k := range keys {
			fmt.Fprintf(&b, "| `%s` | %s%s |\n", k.name, strings.ReplaceAll(k.Description, "|", `\|`), words(k.node))
		}
	}
	return b.String() + "\n"
}

// entryKeys are the keys of a section's named entries; an entry may have a short form beside them.
func entryKeys(t *testing.T, n node) []property {
	var entry node
	if json.Unmarshal(n.Additional, &entry) != nil {
		return nil
	}
	for _, alternative := range append([]node{entry}, entry.AnyOf...) {
		if p := properties(t, alternative.Properties); p != nil {
			return p
		}
	}
	return nil
}

// words are the values a key takes, where they are a fixed set.
func words(n node) string {
	for _, alternative := range append([]node{n}, n.AnyOf...) {
		var out []string
		for _, v := range alternative.Enum {
			if s, ok := v.(string); ok {
				out = append(out, "`"+s+"`")
			}
		}
		if len(out) > 1 {
			return " (" + strings.Join(out, ", ") + ")"
		}
	}
	return ""
}

func properties(t *testing.T, raw json.RawMessage) []property {
	if raw == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var out []property
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		p := property{name: name.(string)}
		if err := d.Decode(&p.node); err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}
