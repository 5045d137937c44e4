package config

import (
	"strings"
	"testing"
)

func TestModelsResolveByReferenceAndByName(t *testing.T) {
	c := clean(t, user(`
providers:
  openai: {headers: {A: b}}
  local: {type: openai, url: "http://127.0.0.1:8080"}
  demo: {type: replay, url: demo.yaml}
models:
  fast: {provider: local, id: "qwen3:8b", temperature: 0.5, context_window: 32k, price: {input: 1}}
  openai: anthropic:claude
`))
	for _, w := range []struct{ ref, name, provider, kind, url, id string }{
		{"openai:gpt-4o", "", "openai", "openai", "", "gpt-4o"},
		{"local:a:b:c", "", "local", "openai", "http://127.0.0.1:8080", "a:b:c"},
		{"fast", "fast", "local", "openai", "http://127.0.0.1:8080", "qwen3:8b"},
		{"openai", "openai", "anthropic", "anthropic", "", "claude"},
		{"gemini:g", "", "gemini", "gemini", "", "g"},
		{"demo:x", "", "demo", "replay", "/u/demo.yaml", "x"},
		{"replay:dir/s.yaml", "", "replay", "replay", "", "dir/s.yaml"},
	} {
		r, err := c.ResolveModel(w.ref)
		if err != nil {
			t.Errorf("%s: %v", w.ref, err)
		}
		equalTo(t, w.ref, strings.Join([]string{r.Ref, r.Name, r.ProviderName, r.Provider.Type, r.Provider.URL, r.ID}, "|"),
			strings.Join([]string{w.ref, w.name, w.provider, w.kind, w.url, w.id}, "|"))
	}
	r, _ := c.ResolveModel("fast")
	if *r.Temperature != 0.5 || r.ContextWindow != 32000 || r.Price.Input != 1 {
		t.Errorf("settings: %+v", r)
	}
	for ref, want := range map[string]string{
		"":          `unknown model "" (want provider:id, or a models: entry: fast, openai)`,
		"fats":      `unknown model "fats", did you mean "fast"? (want provider:id, or a models: entry: fast, openai)`,
		"fast:x":    `unknown provider "fast" in "fast:x" (want anthropic, demo, gemini, local, openai, openresponses, replay)`,
		"opnai:x":   `unknown provider "opnai" in "opnai:x", did you mean "openai"? (want anthropic, demo, gemini, local, openai, openresponses, replay)`,
		":x":        `unknown provider "" in ":x" (want anthropic, demo, gemini, local, openai, openresponses, replay)`,
		"openai:":   `"openai:" names no model: want provider:id`,
		"openai:*":  `"openai:*" is a wildcard and names no model: write the id in full`,
		"a\x1b[2Jb": `unknown model "a\u{1b}[2Jb" (want provider:id, or a models: entry: fast, openai)`,
	} {
		_, err := c.ResolveModel(ref)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestKeysComeFromTheEnvironmentFirst(t *testing.T) {
	const text = `
providers:
  anthropic: {key: file}
  openrouter: {type: openai, url: "https://openrouter.example", key: file}
  my-box: {type: openai, url: "http://box"}
  work: {type: gemini}
  empty: {type: openai, key: "${env:NOPE}"}
`
	for _, c := range []struct {
		ref, key, source string
		vars             []string
	}{
		{"openai:x", "", "", nil},
		{"openai:x", "1", "OPENAI_API_KEY", []string{"OPENAI_API_KEY=1"}},
		{"openresponses:x", "1", "OPENAI_API_KEY", []string{"OPENAI_API_KEY=1"}},
		{"gemini:x", "2", "GOOGLE_API_KEY", []string{"GOOGLE_API_KEY=2", "GEMINI_API_KEY="}},
		{"gemini:x", "1", "GEMINI_API_KEY", []string{"GOOGLE_API_KEY=2", "GEMINI_API_KEY=1"}},
		{"anthropic:x", "file", "/u/config.yaml:3:20", nil},
		{"anthropic:x", "1", "ANTHROPIC_API_KEY", []string{"ANTHROPIC_API_KEY=1"}},
		{"openrouter:x", "2", "OPENROUTER_API_KEY", []string{"OPENAI_API_KEY=1", "OPENROUTER_API_KEY=2"}},
		// Another service's key is not sent where a key of its own is written down.
		{"openrouter:x", "file", "/u/config.yaml:4:70", []string{"OPENAI_API_KEY=1"}},
		{"my-box:x", "3", "MY_BOX_API_KEY", []string{"OPENAI_API_KEY=1", "MY_BOX_API_KEY=3"}},
		{"my-box:x", "1", "OPENAI_API_KEY", []string{"OPENAI_API_KEY=1"}},
		{"work:x", "1", "GEMINI_API_KEY", []string{"GEMINI_API_KEY=1"}},
		{"replay:x", "", "", []string{"REPLAY_API_KEY=1", "OPENAI_API_KEY=1"}},
	} {
		r, err := loadIn(machine(c.vars...), user(text)).ResolveModel(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		equalTo(t, c.ref+" "+strings.Join(c.vars, " "), r.Key.Reveal()+" "+r.KeySource, c.key+" "+c.source)
	}
	for ref, want := range map[string]string{
		"openai:x":     `no key for provider "openai": set OPENAI_API_KEY, or providers.openai.key in your configuration`,
		"gemini:x":     `no key for provider "gemini": set GEMINI_API_KEY, or providers.gemini.key in your configuration`,
		"empty:x":      `no key for provider "empty": set EMPTY_API_KEY, or providers.empty.key in your configuration (which names environment variable NOPE, and that is not set)`,
		"my-box:x":     "",
		"replay:x":     "",
		"anthropic:x":  "",
		"openrouter:x": "",
	} {
		r, _ := load(user(text)).ResolveModel(ref)
		got := ""
		if err := r.CheckKey(); err != nil {
			got = err.Error()
		}
		equalTo(t, ref, got, want)
	}
	withHeader, _ := load(user("providers: {openai: {headers: {authorization: x}}}")).ResolveModel("openai:x")
	equalTo(t, "a header instead of a key", withHeader.CheckKey() == nil, true)
}

func TestAddressesComeFromTheFileFirst(t *testing.T) {
	text := user("providers: {mine: {type: openai, url: 'https://mine.example'}, lost: {type: openai, url: '${env:NOPE}'}}")
	env := machine("OPENAI_BASE_URL=http://o.example", "ANTHROPIC_BASE_URL=http://a.example")
	l := loadIn(env, text)
	for ref, want := range map[string]string{
		"openai:x": "http://o.example", "openresponses:x": "http://o.example", "anthropic:x": "http://a.example", "gemini:x": "", "mine:x": "https://mine.example",
	} {
		r, err := l.ResolveModel(ref)
		equalTo(t, ref, r.Provider.URL, want)
		equalTo(t, ref+" error", err, nil)
	}
	// What was meant to go to an address of one's own must not go to the vendor instead.
	_, err := l.ResolveModel("lost:x")
	if err == nil || err.Error() != `provider "lost" has no address: environment variable NOPE is not set (/u/config.yaml:1:90)` {
		t.Error(err)
	}
	same(t, "warnings", l.warnings, []string{"config /u/config.yaml:1:90: providers.lost.url: the address is empty because environment variable NOPE is not set"})

	_, err = loadIn(machine("OPENAI_BASE_URL=o.example"), text).ResolveModel("openai:x")
	if err == nil || err.Error() != "environment variable OPENAI_BASE_URL holds no address: want http://… or https://…" {
		t.Error(err)
	}
}

func TestServiceKeys(t *testing.T) {
	l := loadIn(machine("EXA_API_KEY=1", "OTHER_API_KEY="), user("keys: {exa: file, mistral: file, other: file}"))
	for name, want := range map[string]string{"exa": "1", "mistral": "file", "other": "file", "none": ""} {
		equalTo(t, name, l.ServiceKey(name).Reveal(), want)
	}
}

func TestAgentsAreFoundByName(t *testing.T) {
	l := clean(t, user("agents: {coder: {model: 'openai:x'}, default: }"))
	a, err := l.Agent("coder")
	if err != nil || a.Model != "openai:x" {
		t.Error(a, err)
	}
	for name, want := range map[string]string{
		"codre": `unknown agent "codre", did you mean "coder"? (want coder, default)`,
		"x\n":   `unknown agent "x\u{a}" (want coder, default)`,
	} {
		if _, err := l.Agent(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := clean(t).Agent("x"); err == nil || err.Error() != `unknown agent "x": none is configured` {
		t.Error(err)
	}
}

func TestNothingAtAllIsAConfiguration(t *testing.T) {
	l := clean(t)
	if _, err := l.ResolveModel("openai:x"); err != nil {
		t.Error(err)
	}
	if l.Agents == nil || l.Providers == nil || l.Keys == nil {
		t.Error("a map is missing")
	}
}
