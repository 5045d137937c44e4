package code

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"jig/internal/tool"
)

// told collects the failures that calls ended with, by tool.
var told struct {
	sync.Mutex
	by map[string]map[*tool.Failure]bool
}

// TestMain sees to it that a run of all tests has made every tool tell every sentence in its list.
func TestMain(m *testing.M) {
	code := m.Run()
	run, fuzz := flag.Lookup("test.run").Value.String(), flag.Lookup("test.fuzz").Value.String()
	// Links, pipes and permissions, which some sentences need, are tested on Unix alone.
	if code == 0 && runtime.GOOS != "windows" && run == "" && fuzz == "" && flag.Lookup("test.list").Value.String() == "" {
		for _, d := range toolset() {
			for _, f := range newSet("linux", "/p", Config{}).spec(d).Failures {
				if !told.by[d.name][f] {
					fmt.Printf("%s: no test makes it say: %s\n", d.name, f.Form)
					code = 1
				}
			}
		}
	}
	os.Exit(code)
}

// project is a root with files and a set for it.
type project struct {
	*testing.T
	root string
	set  *Set
}

type files map[string]string

// given lays out a project. A name that ends in / is a directory.
func given(t *testing.T, fs files, cfg ...Config) *project {
	t.Helper()
	p := &project{T: t, root: t.TempDir()}
	for name, content := range fs {
		p.put(name, content)
	}
	p.with(append(cfg, Config{})[0])
	return p
}

// with starts a new session in the same project.
func (p *project) with(cfg Config) {
	p.Helper()
	var err error
	if p.set, err = New(p.root, cfg); err != nil {
		p.Fatal(err)
	}
}

func (p *project) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *project) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *project) put(name, content string) {
	p.Helper()
	if strings.HasSuffix(name, "/") {
		p.must(os.MkdirAll(p.path(name), 0o755))
		return
	}
	p.must(os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	p.must(os.WriteFile(p.path(name), []byte(content), 0o644))
}

func (p *project) disk(name string) string {
	p.Helper()
	b, err := os.ReadFile(p.path(name))
	p.must(err)
	return string(b)
}

type args map[string]any

// outcome is what came of a call.
type outcome struct {
	tool.Plan
	text string // what the model reads
	err  error
	card *tool.Card
}

// prepare is a call up to its question.
func (p *project) prepare(name string, a any) (tool.Prepared, error) {
	p.Helper()
	raw, ok := a.(string)
	if !ok {
		b, err := json.Marshal(a)
		p.must(err)
		raw = string(b)
	}
	prep, err := p.set.Prepare(context.Background(), tool.Call{ID: "c1", Name: name, Args: json.RawMessage(raw)})
	p.note(name, err)
	return prep, err
}

// run is the rest of it; whatever was asked is taken as allowed.
func (p *project) run(name string, prep tool.Prepared) outcome {
	p.Helper()
	r, err := prep.Run(context.Background(), nil)
	p.note(name, err)
	o := outcome{Plan: prep.Plan, text: r.Blocks.Text(), err: err, card: r.Card}
	if err != nil {
		o.text = err.Error()
	}
	if !utf8.ValidString(o.text) || len(o.text) > outputCap || o.text == "" {
		p.Errorf("%s: a result of %d bytes, valid text: %v", name, len(o.text), utf8.ValidString(o.text))
	}
	return o
}

func (p *project) call(name string, a any) outcome {
	p.Helper()
	prep, err := p.prepare(name, a)
	if err != nil {
		return outcome{text: err.Error(), err: err}
	}
	return p.run(name, prep)
}

// note remembers which failure a tool told. Any error must be one.
func (p *project) note(name string, err error) {
	p.Helper()
	if err == nil {
		return
	}
	var known *tool.Failure
	for _, s := range p.set.Specs() {
		for _, f := range s.Failures {
			if s.Name == name && errors.Is(err, f) {
				known = f
			}
		}
	}
	if known == nil {
		p.Errorf("%s failed with what is not in its list: %v", name, err)
		return
	}
	tell(name, known)
}

func tell(name string, f *tool.Failure) {
	told.Lock()
	defer told.Unlock()
	if told.by == nil {
		told.by = map[string]map[*tool.Failure]bool{}
	}
	if told.by[name] == nil {
		told.by[name] = map[*tool.Failure]bool{}
	}
	told.by[name][f] = true
}

// says makes a call and compares what the model reads, byte for byte.
func (p *project) says(want, name string, a any) outcome {
	p.Helper()
	o := p.call(name, a)
	if o.text != want {
		p.Errorf("%s %v\n got %q\nwant %q", name, a, brief(o.text), brief(want))
	}
	return o
}

func (p *project) holds(name, want string) {
	p.Helper()
	if got := p.disk(name); got != want {
		p.Errorf("%s holds %q, want %q", name, brief(got), brief(want))
	}
}

func brief(s string) string {
	if len(s) > 1500 {
		return s[:700] + " … " + s[len(s)-700:]
	}
	return s
}

// clean checks that nothing but the named files is in a directory.
func (p *project) clean(dir string, want ...string) {
	p.Helper()
	entries, err := os.ReadDir(p.path(dir))
	p.must(err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

func TestConfigurationIsRefusedInItsOwnWords(t *testing.T) {
	_, err := New("/p", Config{ReadOnly: true, AutoWrite: true})
	if err == nil || err.Error() != "read_only and auto_write contradict each other: auto_write approves writes the set does not offer" {
		t.Error(err)
	}
	_, err = Decode(func(any) error { return errors.New("line 3: got a list") })
	if err == nil || err.Error() != "config must be a mapping (auto_write, read_only): line 3: got a list" {
		t.Error(err)
	}
	c, err := Decode(func(v any) error { return json.Unmarshal([]byte(`{"auto_write":true}`), v) })
	if err != nil || !reflect.DeepEqual(c, Config{AutoWrite: true}) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := New("p", Config{}); err == nil {
		t.Error("a relative root is taken")
	}
}

func TestSpecsOfTheSet(t *testing.T) {
	names := func(cfg Config) (out []string, asks []string) {
		s, err := New("/p", cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, sp := range s.Specs() {
			out = append(out, sp.Name)
			asks = append(asks, sp.Asks...)
			writer := sp.Name == "edit_file" || sp.Name == "write_file"
			if writer != (sp.Show == tool.Expanded) || writer != (sp.Together == "never") || !writer && (sp.Show != tool.Group || sp.Together != "always") {
				t.Errorf("%s: %s, together %s", sp.Name, sp.Show, sp.Together)
			}
			if sp.Cap != 65536 || sp.Private || sp.Doc == "" || sp.Doc != strings.TrimSpace(sp.Doc) || !json.Valid(sp.Input) {
				t.Errorf("%+v", sp)
			}
		}
		return out, asks
	}
	all := []string{"glob", "grep", "list_dir", "read_file", "edit_file", "write_file"}
	if got, asks := names(Config{}); !slices.Equal(got, all) || !slices.Equal(asks, all[4:]) {
		t.Error(got, asks)
	}
	if got, asks := names(Config{AutoWrite: true}); !slices.Equal(got, all) || asks != nil {
		t.Error(got, asks)
	}
	if got, asks := names(Config{ReadOnly: true}); !slices.Equal(got, all[:4]) || asks != nil {
		t.Error(got, asks)
	}
}

func TestWhatEveryRequestCarriesIsSmall(t *testing.T) {
	s, err := New("/p", Config{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, sp := range s.Specs() {
		b, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
			"name": sp.Name, "description": sp.Doc, "parameters": sp.Input}})
		if err != nil {
			t.Fatal(err)
		}
		total += len(b)
	}
	if total > 3500 {
		t.Errorf("the tools take %d bytes of every request", total)
	}
	t.Logf("%d bytes", total)
}

func TestPlans(t *testing.T) {
	p := given(t, files{"src/main.rs": "a\nb\n"})
	for _, c := range []struct {
		name, title string
		a           args
	}{
		{"glob", "[glob *.rs]", args{"pattern": "*.rs"}},
		{"grep", "[grep fn main]", args{"pattern": "fn main", "path": "src"}},
		{"list_dir", "[list_dir .]", args{}},
		{"list_dir", "[list_dir src]", args{"path": p.path("src")}},
		{"read_file", "[read_file src/main.rs]", args{"path": "./src//main.rs"}},
	} {
		o := p.call(c.name, c.a)
		if o.Title != c.title || !o.Together || o.Ask != nil || o.err != nil {
			t.Errorf("%s: %+v %v", c.name, o.Plan, o.err)
		}
	}
	edit := args{"path": "src/main.rs", "old_string": "b", "new_string": "B"}
	write := args{"path": "new/x.txt", "content": "hello\n"}
	for _, c := range []struct {
		name, title, text, card string
		a                       args
	}{
		{"edit_file", "[edit_file src/main.rs]", "edit_file: 1 replacement in src/main.rs", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", edit},
		{"write_file", "[write_file new/x.txt]", "write_file: create new/x.txt (6 B)", "@@ -0,0 +1 @@\n+hello\n", write},
	} {
		prep, err := p.prepare(c.name, c.a)
		if err != nil || prep.Together || prep.Ask == nil || prep.Title != c.title {
			t.Fatalf("%s: %+v %v", c.name, prep.Plan, err)
		}
		q := prep.Ask
		refusal := c.name + " was not executed: it requires interactive approval, which is unavailable in this non-interactive run. " +
			"Set the toolset's auto-approve option (tools.code.auto_write / tools.shell.auto_run) to permit it here."
		if q.Scope != c.name || q.Text != c.text || q.Refusal != refusal || q.Covers != "every "+c.name+" call" ||
			q.Card == nil || q.Card.Kind != tool.CardDiff || q.Card.Text != c.card {
			t.Errorf("%s asks %+v %+v", c.name, q, q.Card)
		}
	}
	p.clean(".", "src")
	p.holds("src/main.rs", "a\nb\n")
	p.with(Config{AutoWrite: true})
	p.call("read_file", args{"path": "src/main.rs"})
	for name, a := range map[string]args{"edit_file": edit, "write_file": write} {
		if prep, err := p.prepare(name, a); err != nil || prep.Ask != nil || prep.Together {
			t.Errorf("%s: %+v %v", name, prep.Plan, err)
		}
	}
}

func TestMalformedArgumentsDoNothing(t *testing.T) {
	p := given(t, files{"a": "x"})
	for name, minimum := range map[string]string{
		"glob": `"pattern":"*"`, "grep": `"pattern":"x"`, "list_dir": `"path":"."`, "read_file": `"path":"a"`,
		"edit_file": `"path":"a","old_string":"x","new_string":"y"`, "write_file": `"path":"b","content":"x"`,
	} {
		var names []string
		for _, d := range toolset() {
			for _, q := range d.params {
				if d.name == name {
					names = append(names, q.Name)
				}
			}
		}
		first := names[0]
		for _, c := range []struct{ raw, want string }{
			{`[1]`, "the arguments must be one JSON object, got an array; nothing was run"},
			{`{"` + first + `":{}}`, "argument " + first + " must be a string, got an object; nothing was run"},
			{`{` + minimum + `,"pth":"a"}`, "unknown argument: pth (the arguments are " + strings.Join(names, ", ") + "); nothing was run"},
			{`{` + minimum + `,"` + first + `":"b"}`, "argument " + first + " is given twice; nothing was run"},
			{`{"` + first + `":"\ud800"}`, "argument " + first + ` is not valid Unicode text (a lone surrogate \ud800); nothing was run`},
		} {
			p.says(c.want, name, c.raw)
		}
		if name != "list_dir" {
			for _, raw := range []string{`{}`, `{"` + first + `":""}`, `{"` + first + `":null}`} {
				p.says("missing required argument: "+first, name, raw)
			}
		}
	}
	p.says("missing required argument: path", "read_file", args{"path": " \n"})
	p.says("missing required argument: content", "write_file", args{"path": "b"})
	p.says("missing required argument: content", "write_file", args{"path": "b", "content": 5})
	p.says("missing required argument: old_string", "edit_file", args{"path": "a", "new_string": "y"})
	p.says("missing required argument: new_string", "edit_file", args{"path": "a", "old_string": "x"})
	p.says("     1\tx", "read_file", `{"path":"a","offset":"1","limit":null}`)
	p.clean(".", "a")
}

func TestAnUnknownToolIsAnErrorOfOurs(t *testing.T) {
	s, err := New("/p", Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Prepare(context.Background(), tool.Call{Name: "edit_file", Args: json.RawMessage(`{}`)})
	if _, ok := tool.Sentence(err); err == nil || ok {
		t.Error(err)
	}
}

func TestCancelledCallsDoNothing(t *testing.T) {
	p := given(t, files{"a": "x\n"})
	p.call("read_file", args{"path": "a"})
	for name, a := range map[string]args{
		"edit_file": {"path": "a", "old_string": "x", "new_string": "y"}, "write_file": {"path": "b", "content": "x"},
		"grep": {"pattern": "x"}, "glob": {"pattern": "*"},
	} {
		prep, err := p.prepare(name, a)
		p.must(err)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := prep.Run(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.clean(".", "a")
	p.holds("a", "x\n")
}
