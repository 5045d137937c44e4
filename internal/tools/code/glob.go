package code

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"jig/internal/search"
	"jig/internal/tool"
)

//go:embed glob.md
var globDoc string

var glob = definition{
	name: "glob", doc: globDoc, prepare: prepareGlob,
	params: tool.Params{
		{Name: "pattern", Type: tool.String, Required: true, Doc: "with * ? ** [] {}, over paths from the root; without / at any depth"},
		{Name: "path", Type: tool.String, Doc: "directory to search (default: the root)"},
	},
	failures: append([]*tool.Failure{badGlob}, walkFailures...),
}

var badGlob = tool.Fails("invalid glob pattern: {pattern}")

func prepareGlob(s *Set, a tool.Args) (step, error) {
	pattern, err := a.Need("pattern")
	if err != nil {
		return step{}, err
	}
	p, err := s.directory(a)
	if err != nil {
		return step{}, err
	}
	full := pattern
	if !strings.Contains(pattern, "/") && !absolute(s.goos, pattern) {
		full = "**/" + pattern
	}
	f, err := s.filter(full)
	if _, ok := tool.Sentence(err); err != nil && !ok {
		err = badGlob.With("pattern", readable([]byte(pattern)))
	}
	if err != nil {
		return step{}, err
	}
	return step{subject: shown(pattern), run: func(ctx context.Context) (tool.Result, error) {
		if err := p.isDirectory(); err != nil {
			return tool.Result{}, err
		}
		found, unread, err := s.find(ctx, p, f)
		if err != nil {
			return tool.Result{}, err
		}
		if len(found) == 0 {
			return tool.Text("no files match " + readable([]byte(pattern)) + notRead(unread)), nil
		}
		return tool.Text(newest(found, notRead(unread))), nil
	}}, nil
}

const (
	maxCandidates = 10_000
	maxShown      = 200
)

// found is a file that a pattern matches.
type found struct {
	path  string
	mtime time.Time
}

// find collects what the filter matches below a directory. Ignored files are left out, unless that
// leaves nothing and the pattern itself names what is ignored.
func (s *Set) find(ctx context.Context, p spot, f filter) ([]found, int, error) {
	rules := s.gitignore()
	list, unread, err := s.collect(ctx, p, f, rules, nil)
	if err != nil || len(list) > 0 || rules == nil {
		return list, unread, err
	}
	if names := literals(f.String()); len(names) > 0 {
		return s.collect(ctx, p, f, nil, func(rel string) bool { return namesIgnored(rules, rel, names) })
	}
	return nil, unread, nil
}

func (s *Set) collect(ctx context.Context, p spot, f filter, rules *search.Ignore, also func(string) bool) ([]found, int, error) {
	var list []found
	tree := search.Tree{Root: s.root, Base: f.start(p.rel), Ignore: rules}
	walked, err := search.Walk(ctx, tree, func(file search.File) error {
		if !f.Match(file.Path) || also != nil && !also(file.Path) {
			return nil
		}
		entry := found{path: file.Path}
		if info, err := file.Info(); err == nil {
			entry.mtime = info.ModTime()
		}
		if list = append(list, entry); len(list) == maxCandidates {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return nil, 0, p.walkFailure(err)
	}
	return list, walked.Unread, nil
}

// literals are the components of a pattern that are plain names.
func literals(pattern string) []string {
	return slices.DeleteFunc(strings.Split(pattern, "/"), func(name string) bool {
		return strings.ContainsAny(name, `*?[{\`)
	})
}

// namesIgnored says whether what keeps a path from being seen, the first of its parts that is
// ignored, is one of the names.
func namesIgnored(rules *search.Ignore, rel string, names []string) bool {
	parts := strings.Split(rel, "/")
	for i := range parts {
		last := i == len(parts)-1
		if rules.Match(path.Join(parts[:i+1]...), !last) {
			return slices.Contains(names, parts[i])
		}
	}
	return true
}

// newest is one path a line, the newest first.
func newest(list []found, note string) string {
	slices.SortStableFunc(list, func(a, b found) int { return b.mtime.Compare(a.mtime) })
	cut := func(n int) string {
		return fmt.Sprintf("\n[showing the %d newest of %d matches; narrow the pattern to see the rest]", n, len(list))
	}
	room := outputCap - len(cut(len(list))) - len(note)
	var b strings.Builder
	for n, f := range list {
		line := shown(f.path)
		if n > 0 {
			line = "\n" + line
		}
		if n == maxShown || b.Len()+len(line) > room {
			return b.String() + cut(n) + note
		}
		b.WriteString(line)
	}
	return b.String() + note
}
