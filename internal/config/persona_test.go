package config

import (
	"strings"
	"testing"
)

const standing = "bash write edit view_image web nook history"

const five = "spawn_agent send_input_to_agent wait_for_agents list_agents interrupt_agent"

func TestAPersonaIsAnAgent(t *testing.T) {
	l := clean(t, persona("reviewer", `---
id: reviewer
Label: Reviewer
provider: openai
MODEL: qwen3:8b
allowedReasoningLevels: [low, high]
reasoning: low
contextWindow: 32k
description: reads "${cwd}"
subAgents:
  helper:
    systemPrompt: help
    launchModels: ['openai:x']
    tools: [bash]
---

You review.

${cwd} stays.
`))
	a := l.Agents["reviewer"]
	equalTo(t, "label", a.Label, "Reviewer")
	equalTo(t, "model", a.Model, "openai:qwen3:8b")
	equalTo(t, "context window", a.ContextWindow, 32000)
	equalTo(t, "allowed levels", strings.Join(a.AllowedReasoningLevels, " "), "low high")
	equalTo(t, "description", a.Description, `reads "/work/p/sub"`)
	equalTo(t, "prompt", a.System, "You review.\n\n${cwd} stays.")
	equalTo(t, "place of the prompt", a.At("system").String(), "/u/personas/reviewer.md:17:1")
	equalTo(t, "place of the model", a.At("model").String(), "/u/personas/reviewer.md:5:8")
	equalTo(t, "helper's prompt", a.Subagents.Defined["helper"].SystemPrompt, "help")
	equalTo(t, "helper's tools", onNames(a.Subagents.Defined["helper"].Tools.On), "bash")
	equalTo(t, "a plain chat", a.PlainChat(), false)
	equalTo(t, "tools", onNames(a.Tools.On), standing+" "+five)
}

func TestToolsOfAPersona(t *testing.T) {
	for _, c := range []struct{ front, tools string }{
		{"", standing + " " + five},
		{"label: x\n", standing + " " + five},
		{"subagents: {default: false}\n", standing},
		{"subagents: {default: No, s: {system_prompt: x}}\n", standing + " " + five},
		{"subagents: {s: false}\n", standing + " " + five},
		{"tools: []\n", ""},
		{"tools:\n", ""},
		{"tools: [bash, web]\n", "bash web"},
		{"tools: {bash: , web: off}\n", "bash"},
	} {
		a := clean(t, persona("p", "---\n"+c.front+"---\nx\n")).Agents["p"]
		equalTo(t, c.front, onNames(a.Tools.On), c.tools)
	}
}

// TestABadPersonaIsLeftOutAlone: the warning names the file and the line, and the
// personas beside it load.
func TestABadPersonaIsLeftOutAlone(t *testing.T) {
	const out = " (persona left out)"
	for _, c := range []struct{ id, text, want string }{
		{"p", "---\ntools: [bash, bogus]\n---\n", "2:15: tools.bogus: unknown tool (want <TOOLS>)" + out},
		{"p", "", "1:1: the front matter is missing: the first line must be ---" + out},
		{"p", "You are.\n", "1:1: the front matter is missing: the first line must be ---" + out},
		{"p", "\n---\n---\n", "1:1: the front matter is missing: the first line must be ---" + out},
		{"p", "---\nlabel: x\n", "1:1: the front matter is never closed: want a second line ---" + out},
		{"p", "---\nlabel: [x\n---\n", "2:8: the [ before this is never closed, or a comma is missing (a value with \": \" in it needs quotes)" + out},
		{"p", "---\n- a\n---\n", "2:1: want a mapping (<PERSONA>), got a list" + out},
		{"p", "---\nlabel: x\n\tmodel: y\n---\n", "3:1: a tab cannot indent: use spaces" + out},
		{"p", "---\nid: q\n---\n", `2:5: id: the id "q" differs from the file's name, which says "p"` + out},
		{"p", "---\nlable: x\n---\n", `2:1: lable: unknown key, did you mean "label"? (want <PERSONA>)` + out},
		{"p", "---\nlabel: x\nLABEL: y\n---\n", "3:1: LABEL: the key is here twice, in two spellings: remove one" + out},
		{"p", "---\nreasoning: max\nallowed_reasoning_levels: [low]\n---\n", `2:12: reasoning: "max" is not among allowed_reasoning_levels (low)` + out},
		{"p", "---\nallowed_reasoning_levels: [lov]\n---\n", `2:28: allowed_reasoning_levels[0]: unknown reasoning "lov", did you mean "low"? (want none, minimal, low, medium, high, xhigh, max)` + out},
		{"p", "---\nprovider: openai\n---\n", "2:11: provider: needs model beside it" + out},
		{"p", "---\nprovider: nope\nmodel: x\n---\n", `3:8: model: unknown provider "nope" in "nope:x" (want anthropic, gemini, openai, openresponses, replay)` + out},
		{"p", "---\nmodel: anthropic: x\n---\n", `2:8: "anthropic: x" reads as a mapping because of the space after the colon: write anthropic:x, or put it in quotes` + out},
		{"p", "---\nmodels:\n  - anthropic: x\n---\n", `3:5: models[0]: "anthropic: x" reads as a mapping because of the space after the colon: write anthropic:x, or put it in quotes` + out},
		{"p", "---\nextends: nope\n---\n", `2:10: extends: no agent or persona is called "nope", did you mean "none"? (want none)` + out},
		{"p", "---\nsystem: x\n---\nbody\n", "2:9: system: the prompt is the text below the front matter: remove one of them" + out},
		{"p", "---\nsubagents: {s: {}}\n---\n", "2:13: subagents.s.system_prompt: a subagent needs a system prompt" + out},
		{"p", "---\nlabel: \xff\n---\n", "2:8: byte 0xff is not UTF-8: save the file as UTF-8" + out},
		{"p", "---\n---\nbody \xff\n", "3:6: byte 0xff is not UTF-8: save the file as UTF-8" + out},
		{"a b", "---\n---\n", `1:1: a persona's file is called <id>.md, and its id is made of letters, digits, "-", "_" and ".", begins with a letter or digit and has at most 64 characters of one alphabet` + out},
	} {
		sources := []Source{persona(c.id, c.text)}
		if strings.Contains(c.text, "nope\n---") {
			sources = append(sources, persona("none", "---\n---\n"))
		}
		l := load(append(sources, persona("good", "---\nextends: last\n---\n"), persona("last", "---\n---\n"))...)
		c.want = strings.Replace(c.want, "(want none)", "(want good, last, none)", 1)
		got := strings.ReplaceAll(strings.Join(append(l.errors, l.warnings...), "\n"), "persona /u/personas/"+c.id+".md:", "")
		want := strings.ReplaceAll(spelledOut(c.want), "<PERSONA>", strings.Join(personaKeys(), ", "))
		if got != want {
			t.Errorf("%q:\n got: %s\nwant: %s", c.text, got, want)
		}
		if _, there := l.Agents[c.id]; there {
			t.Errorf("%q: the persona is there", c.text)
		}
		if _, there := l.Agents["good"]; !there {
			t.Errorf("%q: the persona beside it is gone", c.text)
		}
	}
}

func personaKeys() []string { return keysOf(fieldsOf(agentType()), true) }

func TestAFileThatIsNoMarkdownIsNoPersona(t *testing.T) {
	s := persona("p", "---\n---\n")
	s.Path = "/u/personas/p.txt"
	l := load(s)
	equalTo(t, "warnings", len(l.warnings), 1)
	equalTo(t, "agents", len(l.Agents), 0)
}

func TestPersonasReadOnWindowsKeepTheirNames(t *testing.T) {
	s := persona("p", "\ufeff---\r\nlabel: x\r\n---\r\n\r\none\r\ntwo\r\n")
	s.Path = `C:\Users\u\AppData\Roaming\jig\personas\p.md`
	env := machine()
	env.GOOS = "windows"
	a := loadIn(env, s).Agents["p"]
	equalTo(t, "prompt", a.System, "one\ntwo")
	equalTo(t, "label", a.Label, "x")
}

// TestNearestDefinitionWins: by level, and within a level the config entry.
func TestNearestDefinitionWins(t *testing.T) {
	at := func(level Level, depth int, kind Kind, text string) Source {
		path := map[Level]string{User: "/u/", Project: "/p/", Flag: "/c/"}[level]
		if kind == PersonaFile {
			return Source{Level: level, Depth: depth, Kind: kind, Path: path + "x.md", Trusted: true, Data: []byte("---\ndescription: " + text + "\n---\n")}
		}
		return Source{Level: level, Depth: depth, Kind: kind, Path: path + "config.yaml", Trusted: true, Data: []byte("agents: {x: {description: " + text + "}}")}
	}
	for _, c := range []struct {
		name, want, warning string
		sources             []Source
	}{
		{"project persona over user entry", "near", "", []Source{at(Project, 0, PersonaFile, "near"), at(User, 0, ConfigFile, "far")}},
		{"project entry over user persona", "near", "", []Source{at(User, 0, PersonaFile, "far"), at(Project, 0, ConfigFile, "near")}},
		{"deeper project level", "near", "", []Source{at(Project, 3, ConfigFile, "near"), at(Project, 1, PersonaFile, "far"), at(Project, 2, PersonaFile, "middle")}},
		{"-c over project persona", "near", "", []Source{at(Flag, 0, ConfigFile, "near"), at(Project, 9, PersonaFile, "far")}},
		{"entry over persona, entry first", "entry", `persona /u/x.md:1:1: the agents: entry "x" of the same level (/u/config.yaml:1:10) goes first (persona left out)`, []Source{at(User, 0, ConfigFile, "entry"), at(User, 0, PersonaFile, "persona")}},
		{"entry over persona, persona first", "entry", `persona /u/x.md:1:1: the agents: entry "x" of the same level (/u/config.yaml:1:10) goes first (persona left out)`, []Source{at(User, 0, PersonaFile, "persona"), at(User, 0, ConfigFile, "entry")}},
	} {
		l := load(c.sources...)
		equalTo(t, c.name, l.Agents["x"].Description, c.want)
		equalTo(t, c.name+" warning", strings.Join(l.warnings, "\n"), c.warning)
	}
}
