package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestMalformedFilesGetASentenceWithAPlace gives each file the whole text a person sees,
// without its beginning; an empty text means that nothing is wrong.
func TestMalformedFilesGetASentenceWithAPlace(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"",
			""},
		{"# c\n",
			""},
		{"---\n",
			""},
		{"~\n",
			""},
		{"---\n...\n",
			""},
		{"%YAML 1.2\n---\nkeys: {a: b}\n",
			""},
		{"\ufeffkeys:\n  a: b\n",
			""},
		{"keys:\r\n  a: b\r\n  bad key: c\r\n",
			"3:3: keys.\"bad key\": a name is made of letters, digits, \"-\", \"_\" and \".\", begins with a letter or digit and has at most 64 characters of one alphabet"},
		{"hello",
			"1:1: want a mapping with providers, models, agents, mcp_servers, keys, web, nook, history, environments, client_tools, got text"},
		{"- a\n",
			"1:1: want a mapping with providers, models, agents, mcp_servers, keys, web, nook, history, environments, client_tools, got a list"},
		{"42",
			"1:1: want a mapping with providers, models, agents, mcp_servers, keys, web, nook, history, environments, client_tools, got text"},
		{"keys: 1\n",
			"1:7: keys: want a mapping, got text"},
		{"keys: [a]\n",
			"1:7: keys: want a mapping, got a list"},
		{"keys:\n\ta: b\n",
			"2:1: a tab cannot indent: use spaces"},
		{"keys:\n  a: b\n\tc: d\n",
			"3:1: a tab cannot indent: use spaces"},
		{"keys:\n  a: b\n  a: c\n",
			"3:3: key \"a\" is here twice (first on line 2): remove one"},
		{"keys: {a: b}\nkeys: {c: d}\n",
			"2:1: key \"keys\" is here twice (first on line 1): remove one"},
		{"keys: {a: b}\n---\nkeys: {c: d}\n",
			"3:1: a second YAML document begins here: keep everything in one"},
		{"keys: {a: \xff}\n",
			"1:11: byte 0xff is not UTF-8: save the file as UTF-8"},
		{"\xff\xfek\x00",
			"1:1: the file is UTF-16: save it as UTF-8"},
		{"keys: {a: \x00}\n",
			"1:11: control character U+0000: remove it, or write it as an escape in double quotes"},
		{"keys:\n  a: \"b\n",
			"2:6: the quote that opens here is never closed"},
		{"keys: [a, b\nc: d\n",
			"2:1: the [ before this is never closed, or a comma is missing (a value with \": \" in it needs quotes)"},
		{"keys: - a\n",
			"1:7: a list begins on the line below its key; a text that begins with \"- \" needs quotes"},
		{"\tkeys: {a: b}\n",
			"1:5: a tab cannot indent: use spaces"},
		{"keys: {a: b\n",
			"1:7: the { before this is never closed, or a comma is missing (a value with braces, such as ${env:X}, needs quotes inside { })"},
		{"keys:\n  a: b\n c: d\n",
			"3:2: this line's indentation fits none of the lines above"},
		{"keys:\n  a\n  b: c\n",
			"2:3: want a line of the form key: value"},
		{"agents:\n  a:\n    model: anthropic: x\n",
			"3:12: \"anthropic: x\" reads as a mapping because of the space after the colon: write anthropic:x, or put it in quotes"},
		{"agents:\n  a:\n    description: say: this\n",
			"3:18: \"say: this\" reads as a mapping because of the space after the colon: write say:this, or put it in quotes"},
		{"agents:\n  a:\n    description: say this: and that: x\n",
			"3:18: a value with \": \" in it reads as a mapping: put it in quotes"},
		{"keys:\n  a: @x\n",
			"2:6: a value cannot begin with this character: put it in quotes"},
		{"keys:\n  a: `x\n",
			"2:6: a value cannot begin with this character: put it in quotes"},
		{"keys: {a: ${env:X}}\n",
			"1:12: the { before this is never closed, or a comma is missing (a value with braces, such as ${env:X}, needs quotes inside { })"},
		{"keys: {a: *x}\n",
			"1:11: alias *x: nothing before it is marked &x"},
		{"keys: &x {a: *x}\n",
			"1:14: alias *x: nothing before it is marked &x"},
		{"? [a, b]\n: c\n",
			"2:1: a key must be a word"},
		{"keys: !foo {a: b}\n",
			"1:7: tag !foo means nothing here: remove it"},
		{"keys: {a: !!str 1, b: !!int 2}\n",
			""},
		{"keys: {a: !!binary aGk=}\n",
			"1:11: tag !!binary means nothing here: remove it"},
		{"keys: {<<: [1]}\n",
			"1:8: << takes a mapping, got text"},
		{"keys: {a: .inf}\n",
			""},
		{"null: x\n",
			"1:1: a key must be a word, got nothing: put it in quotes if it is meant"},
		{"keys: {~: x}\n",
			"1:8: a key must be a word, got nothing: put it in quotes if it is meant"},
		{"keys:\n  ? a\n  : b\n",
			""},
		{"\r\r\ra",
			"4:1: want a mapping with providers, models, agents, mcp_servers, keys, web, nook, history, environments, client_tools, got text"},
		{"a: |2\n x\n",
			"2:2: not valid YAML: invalid number of indent is specified in the multi-line header"},
		{"keys: {a: b}}\n",
			"1:13: nothing more can stand on this line"},
		{"keys: ]\n",
			"1:7: this bracket closes nothing"},
		{"keys: {a: 'it's'}\n",
			"1:15: the { before this is never closed, or a comma is missing (a value with braces, such as ${env:X}, needs quotes inside { })"},
		{"keys: {a: \"\\q\"}\n",
			"1:13: not valid YAML: found unknown escape character 'q'"},
		{"keys:\n- a\n  b: c\n",
			"2:3: want a line of the form key: value"},
		{": x\n",
			"1:1: want a line of the form key: value"},
		{"a: &b\n",
			"1:4: not valid YAML: undefined anchor value"},
		{"*a : b\n",
			"1:1: alias *a: nothing before it is marked &a"},
		{"keys: {a: b} c\n",
			"1:14: nothing more can stand on this line"},
		{"%FOO\n---\nkeys: {}\n",
			""},
		{"keys:\n  \u200ba: x\n",
			"2:3: keys.\"\\u{200b}a\": a name is made of letters, digits, \"-\", \"_\" and \".\", begins with a letter or digit and has at most 64 characters of one alphabet"},
		{"keys:\n  \"\\e[31mred\": x\n",
			"2:3: keys.\"\\u{1b}[31mred\": a name is made of letters, digits, \"-\", \"_\" and \".\", begins with a letter or digit and has at most 64 characters of one alphabet"},
	} {
		l := load(user(c.file))
		got := strings.Join(append(l.errors, l.warnings...), "\n")
		if got = strings.TrimPrefix(got, "config /u/config.yaml:"); got != c.want {
			t.Errorf("%q:\n got: %s\nwant: %s", c.file, got, c.want)
		}
	}
}

func bomb() string {
	text := "keys:\n  a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		text += fmt.Sprintf("  %c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	return text
}

// TestFilesThatWouldCostTooMuchAreRefused: the parser takes quadratic time for long
// mappings and recurses as deep as the file says, and aliases multiply.
func TestFilesThatWouldCostTooMuchAreRefused(t *testing.T) {
	long := func(line string, bytes int) string { return strings.Repeat(line, bytes/len(line)) }
	deepIndent := ""
	for i := range 200 {
		deepIndent += strings.Repeat(" ", i) + "a:\n"
	}
	for _, c := range []struct{ name, file, want string }{
		{"aliases", bomb(), ":6:28: the file says too much (more than 50000 values once its aliases are followed)"},
		{"brackets", "keys: " + strings.Repeat("[", 70) + strings.Repeat("]", 70), ":1:71: nested too deep (more than 64 levels)"},
		{"many brackets", "keys: " + strings.Repeat("[", 100_000), ":1:71: nested too deep (more than 64 levels)"},
		{"braces", "keys: " + strings.Repeat("{a: ", 65) + strings.Repeat("}", 65), ":1:263: nested too deep (more than 64 levels)"},
		{"dashes", strings.Repeat("- ", 70) + "x", ":1:129: nested too deep (more than 64 levels)"},
		{"question marks", strings.Repeat("? ", 100_000), ":1:129: nested too deep (more than 64 levels)"},
		{"indentation", deepIndent, ":65:65: nested too deep (more than 64 levels)"},
		{"size", strings.Repeat("x", MaxFile+1), ": the file is too large (1048577 bytes, at most 1048576)"},
		{"keys", long("k: v\n", MaxFile/4), ":6667:4: the file says too much (more than 20000 words and signs)"},
		{"empty items", long("-\n", MaxFile/4), ":20001:1: the file says too much (more than 20000 words and signs)"},
		{"anchors", "a: " + long("&a ", MaxFile/4), ":1:196: nested too deep (more than 64 levels)"},
	} {
		same(t, c.name, load(user(c.file)).errors, []string{"config /u/config.yaml" + c.want})
	}
}

func TestLongTextIsNoTrouble(t *testing.T) {
	text := strings.Repeat("word ", 50_000)
	l := clean(t, user("agents:\n  a:\n    system: |\n      "+text+"\n"))
	equalTo(t, "bytes of the prompt", len(l.Agents["a"].System), len(text)+1)
}

func TestAliasesAndMergeKeysWorkWithinBounds(t *testing.T) {
	l := clean(t, user(`
models:
  a: &base {provider: openai, id: x, temperature: 1}
  b: {<<: *base, id: y}
  c: {<<: [{top_p: 0.5}, *base], temperature: 2}
  d: *base
`))
	equalTo(t, "b.id", l.Models["b"].ID, "y")
	equalTo(t, "b.temperature", *l.Models["b"].Temperature, 1)
	equalTo(t, "c.temperature", *l.Models["c"].Temperature, 2)
	equalTo(t, "c.top_p", *l.Models["c"].TopP, 0.5)
	equalTo(t, "d.id", l.Models["d"].ID, "x")
}

// TestPlacesCountCharacters: a byte order mark takes no column, a character of several
// bytes takes one, and CRLF ends one line.
func TestPlacesCountCharacters(t *testing.T) {
	for _, file := range []string{
		"keys: {}\nagents: {é: {mode: x}}\n",
		"\ufeffkeys: {}\r\nagents: {é: {mode: x}}\r\n",
	} {
		same(t, "errors", load(user(file)).errors, []string{"config /u/config.yaml:2:20: agents.\"é\".mode: unknown mode \"x\" (want chat, agent, bot)"})
	}
}
