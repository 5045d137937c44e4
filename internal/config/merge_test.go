package config

import (
	"strings"
	"testing"
)

// TestEntriesMergeWhole: the nearest entry of a name replaces the farther one with all
// its keys, and entries of other names stay.
func TestEntriesMergeWhole(t *testing.T) {
	l := clean(t,
		project(1, "providers: {p: {type: anthropic}}\nweb: {allow_private: yes}\nkeys: {exa: near}\nnook: {url: 'https://near.example'}"),
		user("providers: {p: {type: openai, url: 'https://far.example', key: k}, q: {type: gemini}}\nweb: {searxng: 'https://s.example'}\nkeys: {exa: far, mistral: m}\nnook: {url: 'https://far.example', token: t}\nhistory: {url: 'https://h.example', token: t}"),
		project(0, "providers: {p: {type: replay, url: x.yaml}}\nkeys: {exa: middle}"),
	)
	p := l.Providers["p"]
	equalTo(t, "type", p.Type, "anthropic")
	equalTo(t, "address is not mixed in", p.URL, "")
	equalTo(t, "key is not mixed in", p.Key.Reveal(), "")
	equalTo(t, "level", p.Level, Project)
	equalTo(t, "place", p.Pos.String(), "/p/.jig/config.yaml:1:13")
	equalTo(t, "other entry", l.Providers["q"].Type, "gemini")
	equalTo(t, "keys", l.Keys["exa"].Reveal()+l.Keys["mistral"].Reveal(), "nearm")
	equalTo(t, "web", l.Web, Web{Searxng: "https://s.example", AllowPrivate: true})
	equalTo(t, "a token does not follow to another address", l.Nook, Nook{URL: "https://near.example"})
	equalTo(t, "history", l.History, History{URL: "https://h.example", Token: "t"})
	pos, _ := l.Where("keys.exa")
	equalTo(t, "place of a key", pos.String(), "/p/.jig/config.yaml:3:13")
}

// TestAFileOnTheCommandLineReplacesTheOthers, but not the personas.
func TestAFileOnTheCommandLineReplacesTheOthers(t *testing.T) {
	p := persona("p", "---\nmodel: fast\n---\n")
	l := clean(t, user("keys: {exa: x}\nbogus: ["), project(0, "keys: {a: b}"), flagFile("models: {fast: 'openai:x'}"), p)
	equalTo(t, "keys", len(l.Keys), 0)
	equalTo(t, "persona", l.Agents["p"].Model, "fast")
	var out []string
	for _, x := range l.LeftOut {
		out = append(out, x.Path+": "+x.Why)
	}
	same(t, "left out", out, []string{"/u/config.yaml: -c replaces it", "/p/.jig/config.yaml: -c replaces it"})
}

func TestReferencesReachOverLevels(t *testing.T) {
	clean(t,
		user("agents: {a: {model: fast, mcp_servers: [s], environment: dev}}"),
		project(0, "models: {fast: {provider: p, id: x}}\nmcp_servers: {s: {url: 'https://x.example'}}\nenvironments: {dev: {command: ssh dev jig env}}"),
		project(1, "providers: {p: {type: openai}}"),
	)
}

// everyKey says all that can be said.
const everyKey = `
providers:
  p: {type: openai, url: "https://x.example/v1", key: k, headers: {A: b}}
  r: {type: replay, url: demo.yaml}
models:
  m: {provider: p, id: i, context_window: 1.5M, reasoning: xhigh, temperature: 0, top_p: 1, price: {input: 1, output: 2.5, cache_read: .1, cache_write: 0}}
  short: p:a:b
agents:
  a:
    models: [m, "p:x"]
    system: s
    tools: [code]
    mode: bot
    mcp_servers: [s, s]
    skills: "*"
    subagents: {default: false, h: {description: d, system_prompt: s, tools: [bash], launch_models: [m]}}
    reasoning: none
    context_window: 200000
    temperature: 2
    top_p: 0
    no_save: On
    notify: "off"
    description: d
    environment: e
  b: {system_file: ~/x.md, skills: [], mcp_servers: [], environment: local}
mcp_servers:
  s: {command: c, args: [1, true, 0x1F, 1_000, ~x], env: {A: 1}, defer: d}
  u: {url: "http://[::1]:80", headers: {A: b}, auth: oauth, client_id: i, client_secret: s, redirect_port: 17801}
keys: {exa: 0123}
web: {searxng: "http://s", allow_private: y}
nook: {url: "http://n", token: t}
history: {url: "http://h", token: t}
environments:
  e: {command: [ssh, "a b"], cwd: /x, env: {A: b}, sandbox: auto}
  local: {cwd: rel, env: {A: b}, sandbox: off}
client_tools:
  t: {description: d, parameters: {type: object, n: [1, true, null, "1", x]}, command: c, args: [a], default_enabled: no, execution_timeout_ms: 5}
`

func TestEveryKeyOfEveryEntryIsRead(t *testing.T) {
	l := clean(t, user(everyKey))
	p, r, m, a, b := l.Providers["p"], l.Providers["r"], l.Models["m"], l.Agents["a"], l.Agents["b"]
	s, u, e, c := l.MCPServers["s"], l.MCPServers["u"], l.Environments["e"], l.ClientTools["t"]
	for what, ok := range map[string]bool{
		"provider":     p.Type == "openai" && p.URL == "https://x.example/v1" && p.Key == "k" && p.Headers["A"] == "b",
		"replay":       r.URL == "/u/demo.yaml",
		"model":        m.Provider == "p" && m.ID == "i" && m.ContextWindow == 1_500_000 && m.Reasoning == "xhigh" && *m.Temperature == 0 && *m.TopP == 1,
		"price":        m.Price.Input == 1 && m.Price.Output == 2.5 && *m.Price.CacheRead == .1 && *m.Price.CacheWrite == 0,
		"shorthand":    l.Models["short"].Provider == "p" && l.Models["short"].ID == "a:b",
		"agent":        strings.Join(a.ModelRefs(), " ") == "m p:x" && a.System == "s" && a.Mode == Bot && a.NoSave && !a.Notifies() && a.Description == "d" && a.Environment == "e",
		"agent knobs":  a.Reasoning == "none" && a.ContextWindow == 200000 && *a.Temperature == 2 && *a.TopP == 0,
		"choices":      a.MCPServers.Takes("s") && !a.MCPServers.Takes("u") && len(a.MCPServers.List) == 1 && a.Skills.Takes("any"),
		"no choice":    !b.MCPServers.Takes("s") && !b.Skills.Takes("any") && b.SystemFile == "/home/u/x.md" && b.Notifies(),
		"subagents":    a.Subagents.NoDefault && a.Subagents.Defined["h"].Description == "d" && a.Subagents.Defined["h"].LaunchModels[0] == "m",
		"stdio server": s.Command == "c" && strings.Join(s.Args, " ") == "1 true 0x1F 1_000 ~x" && s.Env["A"] == "1" && s.Defer == "d",
		"server":       u.URL == "http://[::1]:80" && u.Auth == "oauth" && u.ClientID == "i" && u.ClientSecret == "s" && u.RedirectPort == 17801,
		"key":          l.Keys["exa"] == "0123",
		"services":     l.Web.AllowPrivate && l.Nook.Token == "t" && l.History.Token == "t",
		"environment":  strings.Join(e.Command, "|") == "ssh|a b" && e.Cwd == "/x" && e.Env["A"] == "b" && e.Sandbox == "auto",
		"local":        l.Environments["local"].Cwd == "/u/rel" && l.Environments["local"].Sandbox == "off",
		"client tool":  c.Description == "d" && c.Command == "c" && c.Args[0] == "a" && !*c.DefaultEnabled && c.ExecutionTimeoutMS == 5,
	} {
		if !ok {
			t.Errorf("%s was not read as written", what)
		}
	}
	list := c.Parameters["n"].([]any)
	if list[0] != 1.0 || list[1] != true || list[2] != nil || list[3] != "1" || list[4] != "x" {
		t.Errorf("parameters: %v", list)
	}
}
