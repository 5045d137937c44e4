package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/sandbox"
	"jig/internal/tool"
	"jig/internal/tools/code"
	"jig/internal/tools/shell"
)

var update = flag.Bool("update", false, "rewrite what is written from the code")

// current compares a file of the manual with what the code says now.
func current(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", name)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/%s is stale (%v): run make generate", name, err)
	}
}

func TestCommandLinePageIsCurrent(t *testing.T) {
	root := newRoot(World{})
	var b bytes.Buffer
	b.WriteString("# The command line\n\nWritten from the program itself. A bare `jig` is `jig run`; an agent named like a command is run with `jig run NAME`.\n")
	commandPage(&b, root)
	current(t, "cli.md", b.String())
}

func commandPage(b *bytes.Buffer, c *cobra.Command) {
	if c.HasParent() && !c.Hidden {
		text := c.Long
		if text == "" {
			text = c.Short
		}
		fmt.Fprintf(b, "\n## %s\n\n    %s\n\n%s\n", c.CommandPath(), c.UseLine(), paragraphs(text))
		var rows []string
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name, usage := pflag.UnquoteUsage(f)
			flag := "`--" + f.Name + "`"
			if f.Shorthand != "" {
				flag = "`-" + f.Shorthand + "`, " + flag
			}
			if name != "" {
				flag += " " + name
			}
			rows = append(rows, fmt.Sprintf("| %s | %s |", flag, usage))
		})
		if rows != nil {
			fmt.Fprintf(b, "\n| flag | meaning |\n|---|---|\n%s\n", strings.Join(rows, "\n"))
		}
	}
	for _, sub := range c.Commands() {
		commandPage(b, sub)
	}
}

// paragraphs keeps lists as they are laid out and lets prose flow.
func paragraphs(s string) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "  "), " "); ok && strings.HasPrefix(line, "  ") {
			line = fmt.Sprintf("- `%s`: %s", name, strings.TrimSpace(rest))
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// TestToolTablesAreCurrent: parameters and failures stand in the code once and in the manual as the
// code has them.
func TestToolTablesAreCurrent(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	put := func(name string, specs []tool.Spec) {
		begin := "<!-- generated: " + name + " -->\n"
		head, rest, ok := strings.Cut(text, begin)
		_, tail, ok2 := strings.Cut(rest, "<!-- end -->")
		if !ok || !ok2 {
			t.Fatalf("docs/tools.md has no place for %s", name)
		}
		text = head + begin + toolTables(t, specs) + "<!-- end -->" + tail
	}
	for _, s := range toolsets {
		o, err := s.open(config.Tool{Name: s.name}, manualPlace())
		if err != nil {
			t.Fatal(err)
		}
		put(s.name, o.Specs())
	}
	always, _ := ownersOf(config.Agent{Tools: config.Tools{Declared: true}}, manualPlace(), &host.Goals{})
	var specs []tool.Spec
	for _, o := range always {
		specs = append(specs, o.Specs()...)
	}
	put("intrinsic", specs)
	current(t, "tools.md", text)
}

// manualPlace is where the manual's tools act: the same place, with a sandbox, whatever machine this is.
func manualPlace() place {
	return place{root: "/home/you/project", temp: "/tmp", binary: "/bin/sh", // a program that is there and may not be replaced
		regime: func(func(string) bool) regime { return regime{report: sandbox.Report{Tier: sandbox.Bwrap}} }}
}

// TestEverySettingOfAToolsetIsInTheManual: the tables of settings are prose, so nothing writes them.
func TestEverySettingOfAToolsetIsInTheManual(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]any{"shell": shell.Config{}, "code": code.Config{}} {
		_, section, _ := strings.Cut(string(page), "\n## "+name+": ")
		section, _, _ = strings.Cut(section, "<!-- generated: ")
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c)) {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if key != "" && key != "-" && !strings.Contains(section, "\n| `"+key+"` | ") {
				t.Errorf("docs/tools.md does not say what %s: {%s: …} does", name, key)
			}
		}
	}
	if !strings.Contains(string(page), "\n## shell: ") || reflect.TypeFor[shell.Config]().NumField() == 0 {
		t.Error("nothing was looked at")
	}
}

// TestSandboxTablesAreCurrent: what a tier stops and costs stands in the code, where the tests hold
// every tier to it.
func TestSandboxTablesAreCurrent(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "sandbox.md"))
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- generated: tiers -->\n", "<!-- end -->"
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/sandbox.md has no place for the tables")
	}
	current(t, "sandbox.md", head+begin+"\n"+sandbox.Markdown()+"\n"+end+tail)
}

func toolTables(t *testing.T, specs []tool.Spec) string {
	var b strings.Builder
	general := map[*tool.Failure]bool{}
	for _, f := range tool.ArgumentFailures {
		general[f] = f != tool.Missing
	}
	for _, s := range specs {
		asks := "never asks"
		if len(s.Asks) > 0 {
			asks = "asks first"
			if contains(s.Asks, shell.ScopeOutside) {
				asks = "asks first when a call leaves the sandbox, and always where there is none"
			}
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\nShown: %s. Parallel: %s. %s.\n\n| parameter | type | meaning |\n|---|---|---|\n",
			s.Name, s.Doc, s.Show, s.Together, strings.ToUpper(asks[:1])+asks[1:])
		for _, p := range parameters(t, s.Input) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p[0], p[1], p[2])
		}
		b.WriteString("\nWhat the model reads when a call fails:\n\n")
		for _, f := range s.Failures {
			if !general[f] {
				fmt.Fprintf(&b, "- %s\n", escape(f.Form))
			}
		}
	}
	return b.String() + "\n"
}

func escape(s string) string {
	return strings.NewReplacer("<", `\<`, "|", `\|`, "*", `\*`).Replace(strings.ReplaceAll(s, "\n", " "))
}

// parameters reads a schema's properties in their order, which a map would lose.
func parameters(t *testing.T, schema json.RawMessage) [][3]string {
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var out [][3]string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var p struct{ Type, Description string }
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		kind := p.Type
		if !contains(s.Required, name.(string)) {
			kind += ", optional"
		}
		out = append(out, [3]string{name.(string), kind, escape(p.Description)})
	}
	return out
}
