package export_test

import (
	"regexp"
	"strings"
	"testing"

	"jig/internal/proto"
)

// A viewer of Markdown loads a picture from wherever it is said to be, which tells somebody who reads it and
// when.
func TestNothingInMarkdownIsLoadedByAViewer(t *testing.T) {
	const u = "http://192.0.2.1/x"
	for _, x := range []string{
		"![y](" + u + ")", `\![y](` + u + ")", `\\![y](` + u + ")", "![y][r]\n\n[r]: " + u, "![r]\n\n[r]: " + u, "[![y](" + u + ")](" + u + ")",
		"`` ![y](" + u + ") `", "`a\nb` ![y](" + u + ") `c", "\\` ![y](" + u + ") `", "[x](<`>) ![y](" + u + ") `", "[x](\n<`>) ![y](" + u + ") `",
		"[x](u '\na`') ![y](" + u + ") `", "```\n    ```\n![y](" + u + ")\n", "> ```\n![y](" + u + ")", "``\n![y](" + u + ") ``",
		"<img src=" + u + ">", "`` <img src=" + u + "> `", "~~~\n~~~\n![y](" + u + ")",
	} {
		for name, s := range map[string]string{"model": markdown(t, began(), says("q"), answers(x)), "person": markdown(t, began(), says(x)), "title": markdown(t, began(), proto.Titled{Title: x})} {
			if regexp.MustCompile(`!\[|<img`).MatchString(strings.ReplaceAll(s, `!\[`, "")) {
				t.Errorf("%s: %q became %q", name, x, s)
			}
		}
	}
}

func TestCodeStaysAsItWasWrittenInMarkdown(t *testing.T) {
	for _, x := range []string{"Use `<div>` and ``a ` ![b]``.", "See [the manual](https://example.org/a) about `<b>`.", "```go\na <b> ![c](d)\n```", "~~~\n<x>\n~~~"} {
		if s := markdown(t, began(), says("q"), answers(x)); !strings.Contains(s, "\n"+x+"\n") {
			t.Errorf("%q became %q", x, s)
		}
	}
}

func TestBlockOfCodeInAListGoesToTheMarginWhereItEndsAsItSeems(t *testing.T) {
	if s := markdown(t, began(), says("q"), answers("- x\n  ```\n![y](z)\n")); !strings.Contains(s, "\n- x\n```\n![y](z)\n```\n") {
		t.Error(s)
	}
}

// A block of code that we thought to have ended would make text of the code that follows it.
func TestNoResultIsTakenOutOfItsBlockOfCode(t *testing.T) {
	const result = "![y](http://192.0.2.1/x)"
	for _, x := range []string{"```\n    ```", "  ```\ncode", "- a\n   ```\n  b", "````\n```"} {
		s := markdown(t, began(), says("q"), answers(x, "c1"), closes("c1", result))
		open := ""
		for l := range strings.SplitSeq(s, "\n") {
			f := regexp.MustCompile("^ {0,3}(`{3,}|~{3,})").FindString(l)
			switch {
			case open == "" && f != "":
				open = strings.TrimSpace(f)
			case open != "" && strings.TrimRight(l, " ") == strings.TrimLeft(l, " ") && strings.HasPrefix(l, open):
				open = ""
			case strings.Contains(l, result) && open == "":
				t.Errorf("%q: %q", x, s)
			}
		}
	}
}
