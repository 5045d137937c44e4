package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write the configuration's JSON schema anew")

const schemaFile = "../../docs/config.schema.json"

// TestThePublishedSchemaIsCurrent: the schema is made of the same structs that the
// loader reads, with the comments on their fields as descriptions.
func TestThePublishedSchemaIsCurrent(t *testing.T) {
	got := schemaText(t)
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("%s is stale: run go test ./internal/config -update", filepath.Clean(schemaFile))
	}
}

// TestTheSchemaRefusesNothingThatLoads, and catches what it can: it is there to help
// while a file is written, so a false alarm would be worse than a fault it misses.
func TestTheSchemaRefusesNothingThatLoads(t *testing.T) {
	resolved, err := schemaOf(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	caught, missed := 0, 0
	documents := []string{everyKey, "keys: {}", "agents: {a: }", "agents: {a: {tools: {shell: , code: {x: y}, ask: nO, agents: Off}}}",
		"agents: {a: {tools: [agents]}}", "agents: {a: {tools: }}", "models: {a: 'openai:x', b: }", "keys:", "agents: {a: {no_save: YES, temperature: '1'}}"}
	for _, c := range faults() {
		documents = append(documents, c.file)
	}
	for _, text := range documents {
		root, err := parseYAML([]byte(text))
		if err != nil || root == nil {
			continue
		}
		refusal := resolved.Validate(plain(root))
		faulty := len(load(user(text)).errors) > 0
		switch {
		case refusal != nil && !faulty:
			t.Errorf("%q loads, but the schema says: %v", text, refusal)
		case refusal != nil:
			caught++
		case faulty:
			missed++
		}
	}
	if caught < 80 {
		t.Errorf("the schema caught %d faults and missed %d", caught, missed)
	}
	t.Logf("the schema caught %d faults and missed %d", caught, missed)
}

func schemaText(t *testing.T) []byte {
	data, err := json.MarshalIndent(schemaOf(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// writer makes the schema of a struct.
type writer struct {
	comments map[string]string // by Type.Field
}

func schemaOf(t *testing.T) *jsonschema.Schema {
	w := writer{comments: map[string]string{}}
	for _, file := range []string{"types.go", "agenttypes.go"} {
		w.read(t, file)
	}
	s := w.object(reflect.TypeFor[Config]())
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "jig configuration"
	return s
}

// read collects the comments on a file's struct fields, above or behind them.
func (w *writer) read(t *testing.T, name string) {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				for _, name := range field.Names {
					w.comments[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()+" "+field.Comment.Text()), " ")
				}
			}
		}
		return true
	})
}

func (w *writer) object(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Types: []string{"object", "null"}, AdditionalProperties: none(), Properties: map[string]*jsonschema.Schema{}}
	for _, f := range fieldsOf(t) {
		if f.persona {
			continue
		}
		owner, name := t, t.FieldByIndex(f.index).Name
		if len(f.index) > 1 {
			owner = t.FieldByIndex(f.index[:1]).Type
		}
		p := w.value(f.typ, f)
		p.Description = w.comments[owner.Name()+"."+name]
		s.Properties[f.key] = p
		s.PropertyOrder = append(s.PropertyOrder, f.key)
	}
	return s
}

func none() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

func text() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"string", "number", "boolean", "null"}}
}

func list(item *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"array", "null"}, Items: item}
}

func words(list []string) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// boolean allows the spellings that YAML 1.2 tools take for texts.
func boolean() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"boolean", "string", "null"}, Pattern: "^([Tt][Rr][Uu][Ee]|[Yy]([Ee][Ss])?|[Oo][Nn]|[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]?|[Oo][Ff][Ff]|.*\\$\\{.*)$"}
}

func (w *writer) value(t reflect.Type, f field) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Tools]():
		set := &jsonschema.Schema{Types: []string{"object", "null"}, Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: none()}
		for _, name := range ToolNames() {
			set.Properties[name] = &jsonschema.Schema{}
			set.PropertyOrder = append(set.PropertyOrder, name)
		}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{list(&jsonschema.Schema{Enum: words(ToolNames())}), set}}
	case reflect.TypeFor[Names]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Enum: []any{"*"}}, list(text())}}
	case reflect.TypeFor[Subagents]():
		return &jsonschema.Schema{Types: []string{"object", "null"}, AdditionalProperties: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{boolean(), w.object(reflect.TypeFor[Subagent]())}}}
	case reflect.TypeFor[Tokens]():
		return &jsonschema.Schema{Types: []string{"integer", "string", "null"}, Pattern: `^\s*[0-9.]+[kKmM]?\s*$|\$\{`}
	case reflect.TypeFor[Words]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text(), list(text())}}
	case reflect.TypeFor[Model]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: `^[^:]+:.+$|\$\{`}, w.object(t)}}
	case reflect.TypeFor[map[string]any]():
		return &jsonschema.Schema{Types: []string{"object", "null"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.value(t.Elem(), f)
	case reflect.Struct:
		return w.object(t)
	case reflect.Map:
		return &jsonschema.Schema{Types: []string{"object", "null"}, AdditionalProperties: w.value(t.Elem(), field{})}
	case reflect.Slice:
		return list(w.value(t.Elem(), f))
	case reflect.Bool:
		return boolean()
	case reflect.Int, reflect.Float64:
		s := &jsonschema.Schema{Types: []string{"number", "string", "null"}, Pattern: `^[0-9.eE+-]+$|\$\{`}
		if f.bounded {
			s.Minimum, s.Maximum = &f.min, &f.max
		}
		return s
	case reflect.String:
		s := text()
		if f.want != nil {
			s = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Enum: append(words(f.want), nil)}, {Type: "string", Pattern: `\$\{`}}}
		}
		return s
	}
	panic("no schema for " + t.String())
}
