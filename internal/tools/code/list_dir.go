package code

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"jig/internal/tool"
)

//go:embed list_dir.md
var listDirDoc string

var listDir = definition{
	name: "list_dir", doc: listDirDoc, prepare: prepareListDir,
	params: tool.Params{
		{Name: "path", Type: tool.String, Doc: "default: the project root"},
	},
	failures: []*tool.Failure{notDirectory, cannotList},
}

var (
	notDirectory = tool.Fails("not a directory: {path}")
	cannotList   = tool.Fails("cannot list {dir}: {error}")
)

func prepareListDir(s *Set, a tool.Args) (step, error) {
	p, err := s.directory(a)
	if err != nil {
		return step{}, err
	}
	return step{subject: p.shown(), run: func(context.Context) (tool.Result, error) {
		text, err := list(p)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Text(text), nil
	}}, nil
}

// maxEntries is how many entries are listed.
const maxEntries = 500

// list is one directory: its directories and then everything else, each sorted by name.
func list(p spot) (string, error) {
	if err := p.isDirectory(); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(p.abs)
	if err != nil {
		return "", cannotList.With("dir", p.shown(), "error", cause(err))
	}
	if len(entries) == 0 {
		return "[directory is empty]", nil
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	note := func(n int) string { return fmt.Sprintf("\n[showing %d of %d entries]", n, len(entries)) }
	var b strings.Builder
	for n, e := range entries {
		row := entryRow(e)
		if n == maxEntries || b.Len()+len(row)+len(note(len(entries))) > outputCap {
			return strings.TrimSuffix(b.String(), "\n") + note(n), nil
		}
		b.WriteString(row + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// entryRow is one entry. A link shows its own size; what vanished meanwhile or cannot be looked at is
// still a name.
func entryRow(e fs.DirEntry) string {
	if e.IsDir() {
		return shown(e.Name()) + "/"
	}
	info, err := e.Info()
	if err != nil {
		return shown(e.Name())
	}
	return shown(e.Name()) + " (" + size(info.Size()) + ")"
}

// isDirectory refuses what cannot be looked through.
func (p spot) isDirectory() error {
	info, err := os.Stat(p.abs)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil || missing(err):
		return notDirectory.With("path", shown(p.arg))
	}
	return cannotList.With("dir", p.shown(), "error", cause(err))
}
