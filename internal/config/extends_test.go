package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func agentType() reflect.Type { return reflect.TypeFor[Agent]() }

func TestExtendingTakesWhatIsNotSaid(t *testing.T) {
	l := clean(t, user(`
agents:
  base:
    models: ['openai:x', 'openai:y']
    system_file: prompts/base.md
    tools: {code: {auto_write: yes}, web: }
    mode: agent
    temperature: 0
    notify: no
    no_save: yes
    subagents: {default: no}
  child: {extends: base, model: 'openai:z', temperature: 1}
  grandchild: {extends: child, system: other, tools: [], no_save: false}
  plain: {model: 'openai:x'}
  plainchild: {extends: plain}
`))
	child, grand := l.Agents["child"], l.Agents["grandchild"]
	equalTo(t, "child's models", strings.Join(child.ModelRefs(), " "), "openai:z")
	equalTo(t, "child's list of models", len(child.Models), 0)
	equalTo(t, "child's prompt file", child.SystemFile, "/u/prompts/base.md")
	equalTo(t, "child's tools", onNames(child.Tools.On), "code web")
	equalTo(t, "child's temperature", *child.Temperature, 1)
	equalTo(t, "child's mode", child.Mode, AgentMode)
	equalTo(t, "child notifies", child.Notifies(), false)
	equalTo(t, "place of an inherited key", child.At("mode").String(), "/u/config.yaml:7:11")
	equalTo(t, "name", child.Name, "child")
	equalTo(t, "grandchild's prompt", grand.System+grand.SystemFile, "other")
	equalTo(t, "grandchild's models", strings.Join(grand.ModelRefs(), " "), "openai:z")
	equalTo(t, "grandchild's tools", onNames(grand.Tools.On), "")
	equalTo(t, "grandchild's false", grand.NoSave, false)
	equalTo(t, "grandchild's subagents", grand.Subagents.Any(), false)
	equalTo(t, "plain child is plain", l.Agents["plainchild"].PlainChat(), true)
	equalTo(t, "base is as it was", strings.Join(l.Agents["base"].ModelRefs(), " "), "openai:x openai:y")
}

func TestPersonasAndEntriesExtendEachOther(t *testing.T) {
	l := clean(t,
		user("agents: {entry: {extends: p}, chat: {model: 'openai:x'}}"),
		persona("p", "---\nmodel: openai:m\nlabel: P\n---\nprompt\n"),
		persona("q", "---\nextends: entry\nmodel: openai:n\n---\n"),
		persona("r", "---\nextends: chat\n---\n"),
		persona("s", "---\nextends: p\nsubagents: {default: off}\n---\nown\n"),
	)
	entry, q := l.Agents["entry"], l.Agents["q"]
	equalTo(t, "entry's tools", onNames(entry.Tools.On), standing+" "+five)
	equalTo(t, "entry is a plain chat", entry.PlainChat(), false)
	equalTo(t, "entry's label", entry.Label, "")
	equalTo(t, "q's prompt", q.System, "prompt")
	equalTo(t, "q's model", q.Model, "openai:n")
	equalTo(t, "r's tools", onNames(l.Agents["r"].Tools.On), "")
	equalTo(t, "s's tools are its base's", onNames(l.Agents["s"].Tools.On), standing+" "+five)
	equalTo(t, "s's prompt", l.Agents["s"].System, "own")
}

// TestExtendingOnesOwnNameMeansTheFartherOne, so a project can refine a user's agent.
func TestExtendingOnesOwnNameMeansTheFartherOne(t *testing.T) {
	l := clean(t,
		user("agents: {a: {model: 'openai:x', description: far}, b: {extends: a}}"),
		project(0, "agents: {a: {extends: a, description: near}}"),
	)
	equalTo(t, "description", l.Agents["a"].Description, "near")
	equalTo(t, "model", l.Agents["a"].Model, "openai:x")
	equalTo(t, "through another", l.Agents["b"].Description, "near")
}

func TestCirclesEndSomewhere(t *testing.T) {
	l := load(
		user("agents: {a: {extends: b}, b: {extends: a}}"),
		persona("c", "---\nextends: d\n---\n"),
		persona("d", "---\nextends: c\n---\n"),
		persona("e", "---\nextends: e\n---\n"),
		persona("f", "---\nextends: c\n---\n"),
		persona("ok", "---\n---\n"),
	)
	same(t, "errors", l.errors, []string{
		`config /u/config.yaml:1:23: agents.a.extends: "b" cannot be used itself`,
		`config /u/config.yaml:1:40: agents.b.extends: it extends itself in a circle: a → b → a`,
	})
	same(t, "warnings", l.warnings, []string{
		`persona /u/personas/d.md:2:10: extends: it extends itself in a circle: c → d → c (persona left out)`,
		`persona /u/personas/c.md:2:10: extends: "d" cannot be used itself (persona left out)`,
		`persona /u/personas/e.md:2:10: extends: it extends itself, and there is no other "e" at a farther level (persona left out)`,
		`persona /u/personas/f.md:2:10: extends: "c" cannot be used itself (persona left out)`,
	})
	equalTo(t, "agents", strings.Join(sorted(l.Agents), " "), "ok")
}

// TestAPersonaThatIsLeftOutUncoversTheFartherOne, but a broken entry does not: it fails
// the load instead.
func TestAPersonaThatIsLeftOutUncoversTheFartherOne(t *testing.T) {
	near := persona("x", "---\nextends: nope\n---\n")
	near.Level, near.Trusted, near.Path = Project, true, "/p/.jig/personas/x.md"
	l := load(near, user("agents: {x: {description: far}}"))
	equalTo(t, "description", l.Agents["x"].Description, "far")
	equalTo(t, "warnings", len(l.warnings), 1)

	l = load(project(0, "agents: {x: {extends: nope}}"), user("agents: {x: {description: far}}"))
	if _, there := l.Agents["x"]; there || len(l.errors) != 1 {
		t.Errorf("errors %v, x there: %v", l.errors, there)
	}
}

func TestALongChainOfExtends(t *testing.T) {
	var b strings.Builder
	b.WriteString("agents:\n  a0: {model: 'openai:x'}\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "  a%d: {extends: a%d}\n", i+1, i)
	}
	equalTo(t, "model at the end", clean(t, user(b.String())).Agents["a1000"].Model, "openai:x")
}
