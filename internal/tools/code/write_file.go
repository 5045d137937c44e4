package code

import (
	"context"
	_ "embed"
	"os"

	"jig/internal/tool"
)

//go:embed write_file.md
var writeFileDoc string

var writeFile = definition{
	name: "write_file", doc: writeFileDoc, writes: true, prepare: prepareWriteFile,
	params: tool.Params{
		{Name: "path", Type: tool.String, Required: true, Doc: "relative to the project root"},
		{Name: "content", Type: tool.String, Required: true, Whole: true, Doc: "the full content"},
	},
	failures: []*tool.Failure{directoryThere, irregularThere, unread, changed, leadsOutside, cannotRead, cannotWrite},
}

var (
	directoryThere = tool.Fails("{path} is a directory")
	irregularThere = tool.Fails("{path} is not a regular file")
)

func prepareWriteFile(s *Set, a tool.Args) (step, error) {
	arg, err := a.Need("path")
	if err != nil {
		return step{}, err
	}
	if !a.Has("content") {
		return step{}, tool.Missing.With("name", "content")
	}
	p, err := s.resolve(arg, creating)
	if err != nil {
		return step{}, err
	}
	content := []byte(a.String("content"))
	before, isNew, err := s.tryWrite(p)
	if err != nil {
		return step{}, err
	}
	would := "overwrite "
	if isNew {
		would = "create "
	}
	return step{
		subject: p.shown(),
		would:   "write_file: " + would + p.shown() + " (" + size(int64(len(content))) + ")",
		card:    func() *tool.Card { return overwritten(p, before, isNew, content) },
		run: func(ctx context.Context) (tool.Result, error) {
			return s.write(ctx, p, content, before.record, isNew)
		},
	}, nil
}

// tryWrite says what is at a path, and whether it may be written.
func (s *Set) tryWrite(p spot) (before contents, isNew bool, err error) {
	info, err := os.Stat(p.abs)
	switch {
	case err == nil && info.IsDir(), err != nil && missing(err) && (endsInSlash(p.arg)):
		return before, false, directoryThere.With("path", p.shown())
	case err == nil && !info.Mode().IsRegular():
		return before, false, irregularThere.With("path", p.shown())
	case err != nil && missing(err):
		_, err = s.target(p)
		return before, true, err
	case err != nil:
		return before, false, cannotWrite.With("path", p.shown(), "error", cause(err))
	}
	before, err = s.known(p)
	return before, false, err
}

// endsInSlash says whether a path was written as that of a directory.
func endsInSlash(arg string) bool {
	return len(arg) > 0 && os.IsPathSeparator(arg[len(arg)-1])
}

func (s *Set) write(ctx context.Context, p spot, content []byte, seen record, wasNew bool) (tool.Result, error) {
	w, err := s.writer(ctx, p)
	if err != nil {
		return tool.Result{}, err
	}
	defer w.close()
	before, isNew, err := s.tryWrite(p)
	if err != nil {
		return tool.Result{}, err
	}
	if wasNew != isNew || !isNew && !seen.still(before.record) {
		return tool.Result{}, changed.With("path", p.shown())
	}
	how := "overwritten"
	if isNew {
		how = "created"
		err = w.create(content)
	} else {
		err = w.replace(before, content)
	}
	if err != nil {
		return tool.Result{}, err
	}
	r := tool.Text("wrote " + size(int64(len(content))) + " to " + p.shown() + " (" + how + ")")
	r.Card = overwritten(p, before, isNew, content)
	return r, nil
}

// overwritten is the difference a written file makes; none is shown against a file too large to read
// whole, rather than a wrong one.
func overwritten(p spot, before contents, isNew bool, content []byte) *tool.Card {
	if !isNew && !before.whole {
		return nil
	}
	return diff(p, before.data, content)
}
