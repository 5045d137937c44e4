package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// readable turns the parser's error into a sentence for people. The parser's own text
// quotes the file, which may be huge or full of control characters.
func readable(err error, text string) *syntaxError {
	var e interface {
		error
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &e) {
		return &syntaxError{message: "not valid YAML"}
	}
	out := &syntaxError{message: "not valid YAML: " + Shown(e.GetMessage())}
	if t := e.GetToken(); t != nil && t.Position != nil {
		out.line, out.col = t.Position.Line, t.Position.Column
	}
	has := func(part string) bool { return strings.Contains(e.GetMessage(), part) }
	switch {
	case has("found character '\t'"), has("tab character"):
		out.message = "a tab cannot indent: use spaces"
	case has("mapping value is not allowed in this context"):
		out.message = colonMessage(lineOf(text, out.line))
	case has("block sequence entries are not allowed"):
		out.message = "a list begins on the line below its key; a text that begins with \"- \" needs quotes"
	case has("is a reserved character"):
		out.message = "a value cannot begin with this character: put it in quotes"
	case has("could not find end character of"):
		out.message = "the quote that opens here is never closed"
	case has("non-map value is specified"), has("unexpected key name"):
		out.message = "want a line of the form key: value"
	case has("could not find '[' character"), has("could not find '{' character"):
		out.message = "this bracket closes nothing"
	case has("found an invalid key for this map"):
		out.message = "a key must be a word"
	case has("value is not allowed in this context"):
		out.message = "this line's indentation fits none of the lines above"
		if !startsLine(text, out.line, out.col) {
			out.message = "nothing more can stand on this line"
		}
	case has("',' or ']' must be specified"), has("sequence end token ']' not found"):
		out.message = "the [ before this is never closed, or a comma is missing (a value with \": \" in it needs quotes)"
	case has("',' or '}' must be specified"), has("could not find flow mapping end token '}'"):
		out.message = "the { before this is never closed, or a comma is missing (a value with braces, such as ${env:X}, needs quotes inside { })"
	}
	return out
}

// startsLine tells whether a place is the first on its line that is not blank.
func startsLine(text string, line, col int) bool {
	for range line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	for _, r := range text {
		if col--; col <= 0 || r != ' ' {
			break
		}
	}
	return col <= 0
}

func lineOf(text string, line int) string {
	for range line - 1 {
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			return ""
		}
		text = rest
	}
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}

// colonMessage explains the second ": " of a line such as model: anthropic: x.
func colonMessage(line string) string {
	_, value, found := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
	word, rest, again := strings.Cut(value, ": ")
	if !found || !again || strings.ContainsAny(word, " '\"{[") {
		return "a value with \": \" in it reads as a mapping: put it in quotes"
	}
	return spaceMessage(word, rest)
}

// spaceMessage is the sentence for a space that made a mapping out of provider:id.
func spaceMessage(word, rest string) string {
	word, rest = Shown(word), Shown(strings.TrimSpace(rest))
	if rest == "" {
		return fmt.Sprintf("\"%s:\" reads as a mapping: write %s:ID without a space, or in quotes", word, word)
	}
	return fmt.Sprintf("\"%s: %s\" reads as a mapping because of the space after the colon: write %s:%s, or put it in quotes", word, rest, word, rest)
}
