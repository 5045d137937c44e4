package code

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path"
	"strings"

	"jig/internal/search"
	"jig/internal/search/regex"
	"jig/internal/tool"
)

//go:embed grep.md
var grepDoc string

var grep = definition{
	name: "grep", doc: grepDoc, prepare: prepareGrep,
	params: tool.Params{
		{Name: "pattern", Type: tool.String, Required: true, Doc: "regular expression, Rust syntax (no lookaround, no backreferences)"},
		{Name: "path", Type: tool.String, Doc: "directory to search (default: the root)"},
		{Name: "include", Type: tool.String, Doc: "glob: *.go for file names, cmd/** for paths from the root"},
		{Name: "context", Type: tool.Integer, Doc: "lines around each match, 0-10"},
	},
	failures: append([]*tool.Failure{badRegex, badInclude}, walkFailures...),
}

var (
	badRegex   = tool.Fails("invalid regular expression: {error}")
	badInclude = tool.Fails("invalid include pattern: {include}")
)

const (
	maxMatches  = 100
	maxSearched = 10 << 20
	maxContext  = 10
)

func prepareGrep(s *Set, a tool.Args) (step, error) {
	pattern, err := a.Need("pattern")
	if err != nil {
		return step{}, err
	}
	re, err := regex.Compile(pattern, regex.Options{})
	if err != nil {
		return step{}, badRegex.With("error", strings.TrimPrefix(err.Error(), "invalid pattern: ")) // the sentence says it
	}
	p, err := s.directory(a)
	if err != nil {
		return step{}, err
	}
	var f filter
	if include := a.String("include"); include != "" {
		f, err = s.filter(include)
		if _, ok := tool.Sentence(err); err != nil && !ok {
			err = badInclude.With("include", readable([]byte(include)))
		}
		if err != nil {
			return step{}, err
		}
	}
	around := min(max(a.Int("context", 0), 0), maxContext)
	return step{subject: shown(pattern), run: func(ctx context.Context) (tool.Result, error) {
		if err := p.isDirectory(); err != nil {
			return tool.Result{}, err
		}
		text, err := s.search(ctx, p, re, f, around)
		if err != nil {
			return tool.Result{}, err
		}
		if text == "" || text[0] == '\n' {
			text = "no matches for " + readable([]byte(pattern)) + text
		}
		return tool.Text(text), nil
	}}, nil
}

// search is the lines that match, with notes; without matches, nothing but notes.
func (s *Set) search(ctx context.Context, p spot, re *regex.Regexp, f filter, around int) (string, error) {
	q := search.Query{
		Tree:    search.Tree{Root: s.root, Base: f.start(p.rel), Ignore: s.gitignore()},
		Pattern: re, MaxFile: maxSearched, Context: around,
	}
	switch {
	case f.Glob != nil && f.base:
		q.Include = func(rel string) bool { return f.Match(path.Base(rel)) }
	case f.Glob != nil:
		q.Include = f.Match
	}
	q.Include = s.notOwn(q.Base, q.Include)
	m := matches{around: around}
	stats, err := search.Search(ctx, q, m.add)
	if err != nil {
		return "", p.walkFailure(err)
	}
	out := strings.TrimSuffix(m.out.String(), "\n")
	if m.stopped {
		return out + stopped(m.hits), nil
	}
	return out + notRead(stats.Unread), nil
}

func stopped(n int) string {
	return fmt.Sprintf("\n[stopped after %d matches; refine the pattern or use include to narrow the search]", n)
}

// matches collects the lines of a search until there are enough.
type matches struct {
	around  int
	out     strings.Builder
	hits    int
	file    string // of the last match
	last    int    // its line
	stopped bool
}

// add takes the next lines of a file and says whether more are wanted. It does not stop at the last
// match that is shown but at the first that is not, so that stopping always means that there is more.
func (m *matches) add(rel string, lines []search.Line) bool {
	name := shown(rel)
	for _, l := range lines {
		switch {
		case l.Hit && m.hits == maxMatches:
			m.stopped = true
			return false
		case l.Hit:
			m.hits++
			m.file, m.last = rel, l.N
		case m.hits == maxMatches && (rel != m.file || l.N > m.last+m.around):
			continue // belongs to a match that will not be shown
		}
		sep := "-"
		if l.Hit {
			sep = ":"
		}
		line := fmt.Sprintf("%s:%d%s %s\n", name, l.N, sep, clip(readable(trim(l.Text)), lineWidth))
		if m.out.Len()+len(line) > outputCap-len(stopped(maxMatches)) {
			m.stopped = true
			if l.Hit {
				m.hits--
			}
			return false
		}
		m.out.WriteString(line)
	}
	return true
}

// trim takes off what ends a line with CRLF, and from a very long line what will not be shown.
func trim(text []byte) []byte {
	text = bytes.TrimSuffix(text, []byte("\r"))
	return text[:min(len(text), 2*lineWidth)]
}
