package code

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"jig/internal/tool"
)

//go:embed read_file.md
var readFileDoc string

var readFile = definition{
	name: "read_file", doc: readFileDoc, prepare: prepareReadFile,
	params: tool.Params{
		{Name: "path", Type: tool.String, Required: true, Doc: "relative to the project root"},
		{Name: "offset", Type: tool.Integer, Doc: "first line, from 1 (default)"},
		{Name: "limit", Type: tool.Integer, Doc: "number of lines (default: all)"},
	},
	failures: []*tool.Failure{absent, isDirectory, notRegular, binaryFile, pastEnd, cannotRead},
}

var (
	absent      = tool.Fails("file does not exist: {absolute path}")
	isDirectory = tool.Fails("{absolute path} is a directory, not a file")
	notRegular  = tool.Fails("{path} is {kind}, not a regular file")
	binaryFile  = tool.Fails("{path} looks like a binary file ({size}); read_file only serves text")
	pastEnd     = tool.Fails("offset {offset} is past the end of {path} ({lines} lines)")
	cannotRead  = tool.Fails("cannot read {path}: {error}")
)

func prepareReadFile(s *Set, a tool.Args) (step, error) {
	arg, err := a.Need("path")
	if err != nil {
		return step{}, err
	}
	p, err := s.resolve(arg, existing)
	if err != nil {
		return step{}, err
	}
	w := window{first: max(a.Int("offset", 1), 1), limit: a.Int("limit", 0)}
	return step{subject: p.shown(), run: func(context.Context) (tool.Result, error) {
		text, err := s.read(p, w)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Text(text), nil
	}}, nil
}

// window is the part of a file that is wanted: the first line, from 1, and how many, all for 0 or less.
type window struct{ first, limit int }

func (s *Set) read(p spot, w window) (string, error) {
	c, err := s.loadPath(p.abs)
	if err != nil {
		return "", p.readFailure(err)
	}
	if binary(c.data) {
		return "", binaryFile.With("path", p.shown(), "size", size(c.size))
	}
	text, err := w.rows(p, linesOf(c.data), c)
	if err == nil {
		s.ledger.put(realPath(p.abs), c.record)
	}
	return text, err
}

func (p spot) readFailure(err error) error {
	var odd irregular
	switch {
	case missing(err):
		return absent.With("absolute path", shown(p.abs))
	case errors.Is(err, errDirectory):
		return isDirectory.With("absolute path", shown(p.abs))
	case errors.As(err, &odd):
		return notRegular.With("path", p.shown(), "kind", odd.kind)
	}
	return cannotRead.With("path", p.shown(), "error", cause(err))
}

// rows is the window as text, with the notes that belong to it, in outputCap bytes at most.
func (w window) rows(p spot, l lines, c contents) (string, error) {
	total := l.total
	var large string
	if !c.whole {
		large = "\n[file is " + megabytes(c.size) + "; only the first 20 MB was read]"
	}
	if total == 0 {
		return "[file is empty]" + large, nil
	}
	if w.first > total {
		return "", pastEnd.With("offset", strconv.Itoa(w.first), "path", p.shown(), "lines", strconv.Itoa(total))
	}
	last := total
	if w.limit > 0 && w.limit < total-w.first+1 {
		last = w.first + w.limit - 1
	}
	note := ""
	if w.first > 1 || last < total {
		note = fmt.Sprintf("\n[showing lines %d-%d of %d]", w.first, last, total)
	}
	if rows, shown := l.rows(w.first, last, outputCap-len(note)-len(large)); shown == last {
		return rows + note + large, nil
	}
	cut := func(upTo int) string {
		return fmt.Sprintf("\n[output truncated — showing lines %d-%d of %d; call read_file with offset=%d to continue]", w.first, upTo, total, upTo+1)
	}
	room := outputCap - len(cut(total)) - len(large)
	rows, shown := l.rows(w.first, last, room)
	if shown < w.first {
		shown = w.first
		for n, line := range l.from(w.first) {
			rows = clip(row(n, line), room-len("…"))
			break
		}
	}
	return rows + cut(shown) + large, nil
}

// rows is as many of the lines from first to last, from 1, as have room, and the last of them.
func (l lines) rows(first, last, room int) (string, int) {
	var b strings.Builder
	for n, line := range l.from(first) {
		if n > last {
			break
		}
		row := row(n, line)
		if n > first {
			row = "\n" + row
		}
		if b.Len()+len(row) > room {
			return b.String(), n - 1
		}
		b.WriteString(row)
	}
	return b.String(), last
}
