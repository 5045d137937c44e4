package config

import (
	"fmt"
	"strings"
	"testing"
)

func onNames(tools []Tool) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// spellings gives every way to write a word in upper and lower case.
func spellings(word string) []string {
	all := []string{""}
	for _, r := range word {
		var next []string
		for _, s := range all {
			next = append(next, s+strings.ToLower(string(r)), s+strings.ToUpper(string(r)))
		}
		all = next
	}
	return all
}

// TestEveryFalseSpellingSwitchesAToolOff: any case, plain or in either quotes, in every
// place of the mapping.
func TestEveryFalseSpellingSwitchesAToolOff(t *testing.T) {
	tried := 0
	for _, word := range []string{"false", "no", "off", "n"} {
		for _, s := range spellings(word) {
			for _, quoted := range []string{s, "'" + s + "'", `"` + s + `"`} {
				tried++
				tools := clean(t, user("agents:\n  a:\n    tools:\n      shell:\n      code: "+quoted+"\n")).Agents["a"].Tools
				if onNames(tools.On) != "shell" || strings.Join(tools.Off, " ") != "code" {
					t.Errorf("%s: on %s, off %v", quoted, onNames(tools.On), tools.Off)
				}
			}
		}
	}
	equalTo(t, "spellings tried", tried, 3*(32+4+8+2))
}

func TestBooleansAcceptEverySpelling(t *testing.T) {
	for word, want := range map[string]bool{"true": true, "yes": true, "on": true, "y": true, "false": false, "no": false, "off": false, "n": false} {
		for _, s := range spellings(word) {
			for _, quoted := range []string{s, "'" + s + "'", `"` + s + `"`} {
				if got := clean(t, user("agents: {a: {no_save: "+quoted+"}}")).Agents["a"].NoSave; got != want {
					t.Errorf("%s is %v", quoted, got)
				}
			}
		}
	}
	for _, s := range []string{"", " no", "none", "nope", "0", "-no", "no-", "_n", "n_o", "ｎｏ", "truе"} {
		if _, ok := YAMLBool(s); ok {
			t.Errorf("%q is no boolean", s)
		}
	}
}

// TestOneGrammarForTools: a mapping and a list say the same, names stand for themselves
// and agents for five.
func TestOneGrammarForTools(t *testing.T) {
	five := "spawn_agent send_input_to_agent wait_for_agents list_agents interrupt_agent"
	all := "shell code skills ask " + five + " bash write edit view_image web nook history"
	for _, c := range []struct{ tools, on, off string }{
		{"{shell: , code: {auto_write: true}}", "shell code", ""},
		{"[shell, code]", "shell code", ""},
		{"[shell, code, shell]", "shell code", ""},
		{"[]", "", ""},
		{"{}", "", ""},
		{"", "", ""},
		{"null", "", ""},
		{"{shell: null, code: ~}", "shell code", ""},
		{"{ask: no}", "", "ask"},
		{"{shell: yes}", "shell", ""}, // whether it is a configuration is the set's to say
		{"{agents: }", five, ""},
		{"[agents]", five, ""},
		{"{agents: off}", "", "agents"},
		{"{agents: , list_agents: no}", strings.Replace(five, " list_agents", "", 1), "list_agents"},
		{"{list_agents: no, agents: }", strings.Replace(five, " list_agents", "", 1), "list_agents"},
		{"{agents: no, list_agents: }", "list_agents", "agents"},
		{"[list_agents, agents]", "list_agents spawn_agent send_input_to_agent wait_for_agents interrupt_agent", ""},
		{"[" + strings.Join(ToolNames(), ", ") + "]", all, ""},
		{"{" + strings.Join(ToolNames(), ": , ") + ": }", all, ""},
	} {
		a := clean(t, user("agents: {a: {tools: "+c.tools+"}}")).Agents["a"]
		equalTo(t, c.tools+" on", onNames(a.Tools.On), c.on)
		equalTo(t, c.tools+" off", strings.Join(a.Tools.Off, " "), c.off)
		equalTo(t, c.tools+" is a plain chat", a.PlainChat(), false)
	}
}

func TestToolsThatAreNoneFailTheLoad(t *testing.T) {
	for _, c := range []struct{ tools, want string }{
		{"{bogus: }", "1:26: agents.coder.tools.bogus: unknown tool (want <TOOLS>)"},
		{"{bogus: no}", "1:26: agents.coder.tools.bogus: unknown tool (want <TOOLS>)"},
		{"[bogus]", "1:26: agents.coder.tools.bogus: unknown tool (want <TOOLS>)"},
		{"{shel: }", `1:26: agents.coder.tools.shel: unknown tool, did you mean "shell"? (want <TOOLS>)`},
		{"{hsell: }", `1:26: agents.coder.tools.hsell: unknown tool, did you mean "shell"? (want <TOOLS>)`},
		{"[Bash]", `1:26: agents.coder.tools.Bash: unknown tool, did you mean "bash"? (want <TOOLS>)`},
		{"[viewImage]", `1:26: agents.coder.tools.viewImage: unknown tool, did you mean "view_image"? (want <TOOLS>)`},
		{"{agent: }", `1:26: agents.coder.tools.agent: unknown tool: the set "agent" is now called "skills" (want <TOOLS>)`},
		{"[\"a\\nb\"]", `1:26: agents.coder.tools."a\u{a}b": unknown tool (want <TOOLS>)`},
		{"bash", `1:25: agents.coder.tools: want a list of tool names or a mapping from names to settings, got "bash": write [bash]`},
		{"no", `1:25: agents.coder.tools: want a list of tool names or a mapping from names to settings, got "no": for no tools write []`},
		{"[{shell: {network: true}}]", `1:26: agents.coder.tools: a list enables tools with their defaults: to configure shell, write tools as a mapping, without "- "`},
		{"[[bash]]", "1:26: agents.coder.tools: want a tool name, got a list"},
		{"[bash, ~]", "1:32: agents.coder.tools: want a tool name, got nothing"},
	} {
		l := load(user("agents: {coder: {tools: " + c.tools + "}}"))
		same(t, c.tools, l.errors, []string{"config /u/config.yaml:" + spelledOut(c.want)})
	}
}

func TestWhatComesOnItsOwn(t *testing.T) {
	for _, c := range []struct{ agent, headless, interactive string }{
		{"{}", "", "ask"},
		{"{tools: []}", "", "ask"},
		{"{tools: {ask: false}}", "", ""},
		{"{tools: {ask: }}", "ask", "ask"},
		{"{mode: agent}", "skills", "skills ask"},
		{"{mode: bot, tools: [code]}", "code skills", "code skills ask"},
		{"{mode: chat, tools: [skills]}", "skills", "skills ask"},
		{"{mode: agent, tools: {skills: no}}", "", "ask"},
	} {
		a := clean(t, user("agents: {a: "+c.agent+"}")).Agents["a"]
		equalTo(t, c.agent+" headless", onNames(a.Enabled(false)), c.headless)
		equalTo(t, c.agent+" interactive", onNames(a.Enabled(true)), c.interactive)
	}
	equalTo(t, "plain chat", clean(t, user("agents: {a: {model: 'openai:x'}}")).Agents["a"].PlainChat(), true)
}

func TestToolsWithFullAuthorityAreMarked(t *testing.T) {
	for tools, want := range map[string]bool{"[bash]": true, "[write]": true, "[edit]": true, "[shell, code, web]": false, "{bash: off}": false} {
		equalTo(t, tools, clean(t, user("agents: {a: {tools: "+tools+"}}")).Agents["a"].Unconfined(), want)
	}
}

// TestAToolReadsItsOwnSettings: strictly, with places, booleans in any spelling and
// values expanded.
func TestAToolReadsItsOwnSettings(t *testing.T) {
	type settings struct {
		AutoWrite bool     `json:"auto_write"`
		ReadOnly  *bool    `json:"read_only,omitempty"`
		Write     []string `json:"write"`
		Limit     int      `json:"limit" range:"1,9"`
		Ratio     float64  `json:"ratio"`
		Mode      string   `json:"mode" want:"auto,off"`
		Env       map[string]string
		Vars      map[string]string `json:"vars"`
		Inner     struct {
			Deep string `json:"deep"`
		} `json:"inner"`
	}
	decode := func(value string) (settings, error) {
		s := settings{Mode: "auto", Limit: 5}
		tool := load(user("agents:\n  a:\n    tools:\n      code: " + value + "\n")).Agents["a"].Tools.On[0]
		err := tool.Decode(&s)
		return s, err
	}
	s, err := decode(`{auto_write: "YES", read_only: Off, write: ["${userHome}/x", y], limit: 7, ratio: .5, mode: "off", vars: {A: b}, inner: {deep: z}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %v %v %v %v %v %v %v", s.AutoWrite, *s.ReadOnly, s.Write, s.Limit, s.Ratio, s.Mode, s.Vars, s.Inner); got != "true false [/home/u/x y] 7 0.5 off map[A:b] {z}" {
		t.Error(got)
	}
	for value, want := range map[string]string{
		"":                     "",
		"{}":                   "",
		"~":                    "",
		"{auto_write: }":       "",
		"yes":                  `got "yes" (/u/config.yaml:4:13)`,
		"[a]":                  `got a list (/u/config.yaml:4:13)`,
		"{auto_write: 1}":      `auto_write: want true or false (or yes, no, on, off), got "1" (/u/config.yaml:4:26)`,
		"{autowrite: yes}":     `autowrite: unknown key, did you mean "auto_write"? (want auto_write, read_only, write, limit, ratio, mode, vars, inner) (/u/config.yaml:4:14)`,
		"{Env: {}}":            `Env: unknown key: "Env" belongs under mcp_servers.<name> or environments.<name> (want auto_write, read_only, write, limit, ratio, mode, vars, inner) (/u/config.yaml:4:14)`,
		"{limit: 10}":          `limit: want a whole number from 1 to 9, got "10" (/u/config.yaml:4:21)`,
		"{mode: on, limit: x}": `mode: unknown mode "on" (want auto, off) (/u/config.yaml:4:20); limit: want a whole number from 1 to 9, got "x" (/u/config.yaml:4:31)`,
		"{write: a}":           `write: want a list, got text: write [a] (/u/config.yaml:4:21)`,
		"{inner: {deap: x}}":   `inner.deap: unknown key, did you mean "deep"? (want deep) (/u/config.yaml:4:22)`,
	} {
		_, err := decode(value)
		got := ""
		if err != nil {
			got = err.Error()
		}
		equalTo(t, value, got, want)
	}
}
