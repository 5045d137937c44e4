package code

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"jig/internal/tool"
)

//go:embed edit_file.md
var editFileDoc string

var editFile = definition{
	name: "edit_file", doc: editFileDoc, writes: true, prepare: prepareEditFile,
	params: tool.Params{
		{Name: "path", Type: tool.String, Required: true, Doc: "relative to the project root"},
		{Name: "old_string", Type: tool.String, Required: true, Doc: "exact text, whitespace included"},
		{Name: "new_string", Type: tool.String, Required: true, Doc: "the replacement"},
		{Name: "replace_all", Type: tool.Boolean, Doc: "replace every occurrence"},
	},
	failures: []*tool.Failure{emptyOld, identical, unread, changed, tooLarge, notFound, ambiguous, leadsOutside, cannotRead, cannotWrite},
}

var (
	emptyOld  = tool.Fails("old_string must not be empty (use write_file to create or replace a whole file)")
	identical = tool.Fails("old_string and new_string are identical")
	tooLarge  = tool.Fails("{path} is too large to edit ({size})")
	notFound  = tool.Fails("old_string not found in {path} — it must match the file content exactly, whitespace included; read the file again if unsure")
	ambiguous = tool.Fails("old_string appears {n} times in {path}; extend it with surrounding context to make it unique, or set replace_all")
)

// edit is what edit_file was asked to do.
type edit struct {
	at        spot
	old, with string
	all       bool
}

func prepareEditFile(s *Set, a tool.Args) (step, error) {
	e := edit{old: a.String("old_string"), with: a.String("new_string"), all: a.Bool("replace_all")}
	arg, err := a.Need("path")
	if err != nil {
		return step{}, err
	}
	if e.at, err = s.resolve(arg, existing); err != nil {
		return step{}, err
	}
	for _, name := range []string{"old_string", "new_string"} {
		if !a.Has(name) {
			return step{}, tool.Missing.With("name", name)
		}
	}
	switch e.old {
	case "":
		return step{}, emptyOld
	case e.with:
		return step{}, identical
	}
	before, done, err := s.tryEdit(e)
	if err != nil {
		return step{}, err
	}
	return step{
		subject: e.at.shown(),
		would:   fmt.Sprintf("edit_file: %s in %s", count(done.n, "replacement"), e.at.shown()),
		card:    func() *tool.Card { return diff(e.at, before.data, done.content) },
		run:     func(ctx context.Context) (tool.Result, error) { return s.edit(ctx, e, before.record) },
	}, nil
}

// tryEdit is the edit without its effect.
func (s *Set) tryEdit(e edit) (contents, replacement, error) {
	k, err := s.known(e.at)
	if err != nil {
		return k, replacement{}, err
	}
	if !k.whole {
		return k, replacement{}, tooLarge.With("path", e.at.shown(), "size", megabytes(k.size))
	}
	done, n := replace(k.data, e.old, e.with, e.all)
	switch {
	case n == 0:
		return k, done, notFound.With("path", e.at.shown())
	case n > 1 && !e.all:
		return k, done, ambiguous.With("n", strconv.Itoa(n), "path", e.at.shown())
	case done.content == nil:
		return k, done, cannotWrite.With("path", e.at.shown(), "error", "the result would be larger than "+megabytes(maxResult))
	}
	return k, done, nil
}

func (s *Set) edit(ctx context.Context, e edit, seen record) (tool.Result, error) {
	w, err := s.writer(ctx, e.at)
	if err != nil {
		return tool.Result{}, err
	}
	defer w.close()
	before, done, err := s.tryEdit(e)
	if err != nil {
		return tool.Result{}, err
	}
	if !seen.still(before.record) {
		return tool.Result{}, changed.With("path", e.at.shown())
	}
	if err := w.replace(before, done.content); err != nil {
		return tool.Result{}, err
	}
	r := tool.Text(fmt.Sprintf("%d replacement(s) in %s", done.n, e.at.shown()) + done.around())
	r.Card = diff(e.at, before.data, done.content)
	return r, nil
}

// maxResult is how large a file may become by an edit: thousands of short matches with a long
// replacement would otherwise fill any memory.
const maxResult = 256 << 20

// replacement is what became of some content.
type replacement struct {
	content []byte
	n       int // how many
	at      int // where the first one begins
}

// replace replaces the only occurrence of old, or all of them, byte for byte, and counts them. If
// there are more than may be replaced, nothing is. Content that has only CRLF ends and no match is
// tried with CRLF in both texts, and in no other way. A byte order mark needs no care: the text
// after it is found where it is.
func replace(content []byte, old, with string, all bool) (replacement, int) {
	n := bytes.Count(content, []byte(old))
	if n == 0 && strings.Contains(old, "\n") && allCRLF(content) {
		old, with = withCRLF(old), withCRLF(with)
		n = bytes.Count(content, []byte(old))
	}
	if n == 0 || n > 1 && !all {
		return replacement{}, n
	}
	r := replacement{n: n, at: bytes.Index(content, []byte(old))}
	if grown := len(with) - len(old); grown <= 0 || n <= (maxResult-len(content))/grown {
		r.content = bytes.ReplaceAll(content, []byte(old), []byte(with))
	}
	return r, n
}

// withCRLF ends every line in CRLF, those that do already too.
func withCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// around is a blank line and a few numbered lines around the first change.
func (r replacement) around() string {
	l := linesOf(r.content)
	at := max(r.at-(len(r.content)-len(l.text)), 0)
	line := bytes.Count(l.text[:at], []byte("\n")) + 1
	if line > l.total {
		line = l.total // the end of the file was cut off
	}
	var b strings.Builder
	for n, text := range l.from(max(line-3, 1)) {
		if n > line+3 {
			break
		}
		b.WriteString("\n" + clip(row(n, text), lineWidth))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// lineWidth is how many bytes of a line are shown where lines are shown only to be recognised.
const lineWidth = 500

// count is a number of things in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
