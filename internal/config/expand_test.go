package config

import (
	"strings"
	"testing"
)

func TestExpansionIsOnePass(t *testing.T) {
	env := machine("A=1", "EMPTY=", "EVIL=${env:A}${cwd}", "HALF=${")
	for _, c := range []struct{ in, out, unset, slips string }{
		{"plain", "plain", "", ""},
		{"${env:A}", "1", "", ""},
		{"x${env:A}y${env:A}z", "x1y1z", "", ""},
		{"${env:EMPTY}", "", "", ""},
		{"a${env:GONE}b", "ab", "GONE", ""},
		{"${env:EVIL}", "${env:A}${cwd}", "", ""},
		{"${env:HALF}env:A}", "${env:A}", "", ""},
		{"${userHome}", "/home/u", "", ""},
		{"${cwd}", "/work/p/sub", "", ""},
		{"${workspaceFolder}", "/work/p", "", ""},
		{"${appHome}", "/home/u/.config/jig", "", ""},
		{"a${pathSeparator}b", "a/b", "", ""},
		{"${HOME} $HOME $(x) ${}", "${HOME} $HOME $(x) ${}", "", ""},
		{"${env:}", "${env:}", "", ""},
		{"${env:A", "${env:A", "", ""},
		{"$${env:A}", "$1", "", ""},
		{"${${env:A}}", "${1}", "", ""},
		{"${userhome}", "${userhome}", "", "${userhome} is not known and stays as it is, did you mean ${userHome}?"},
		{"${workspaceFoler}", "${workspaceFoler}", "", "${workspaceFoler} is not known and stays as it is, did you mean ${workspaceFolder}?"},
		{"${name}", "${name}", "", ""},
	} {
		out, unset, slips := env.expand(c.in)
		equalTo(t, c.in, out, c.out)
		equalTo(t, c.in+" unset", strings.Join(unset, " "), c.unset)
		equalTo(t, c.in+" slips", strings.Join(slips, " "), c.slips)
	}
	env.GOOS = "windows"
	out, _, _ := env.expand("a${pathSeparator}b")
	equalTo(t, "separator on Windows", out, `a\b`)
}

// TestExpansionReachesValuesAndNotKeys, and a value that is expanded cannot become
// structure.
func TestExpansionReachesValuesAndNotKeys(t *testing.T) {
	l := loadIn(machine("YAML={a: b}", "NAME=x"), user(`
mcp_servers:
  s:
    command: ${userHome}/bin
    args: ["${env:YAML}", "--${env:NAME}"]
    env: {"${env:NAME}": "${env:NAME}"}
agents:
  a: {system: "in ${cwd}", description: '${env:GONE}'}
`))
	same(t, "errors", l.errors, nil)
	s := l.MCPServers["s"]
	equalTo(t, "command", s.Command, "/home/u/bin")
	equalTo(t, "args", strings.Join(s.Args, " "), "{a: b} --x")
	equalTo(t, "env", s.Env["${env:NAME}"].Reveal(), "x")
	equalTo(t, "system", l.Agents["a"].System, "in /work/p/sub")
	equalTo(t, "unset", strings.Join(l.Agents["a"].Unset("description"), " "), "GONE")
	equalTo(t, "warnings about unset variables", len(l.warnings), 0)
	equalTo(t, "listed", l.Unset[0].String(), "config /u/config.yaml:8:41: agents.a.description: environment variable GONE is not set")
	equalTo(t, "listed once", len(l.Unset), 1)
}

func TestSlipsInVariablesAreWarnedWithTheirPlace(t *testing.T) {
	l := load(user("agents:\n  a:\n    system: ${userhome}\n"))
	same(t, "warnings", l.warnings, []string{"config /u/config.yaml:3:13: ${userhome} is not known and stays as it is, did you mean ${userHome}?"})
}

// TestSecretsStayOutOfMessages: a message shows what is written in the file, never what
// an environment variable put there.
func TestSecretsStayOutOfMessages(t *testing.T) {
	l := loadIn(machine("SECRET=hunter2"), user(`
providers:
  p: {type: openai, url: "ftp://${env:SECRET}", headers: {A: "${env:SECRET}\n"}}
mcp_servers:
  s: {url: "${env:SECRET}"}
agents:
  a: {mode: "${env:SECRET}", temperature: "${env:SECRET}", no_save: "${env:SECRET}", context_window: "${env:SECRET}", skills: "${env:SECRET}", tools: "${env:SECRET}"}
`))
	if text := strings.Join(append(l.errors, l.warnings...), "\n"); strings.Contains(text, "hunter2") || len(l.errors) != 9 {
		t.Errorf("%d lines:\n%s", len(l.errors), text)
	}
}
