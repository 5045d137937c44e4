package search

import (
	"context"
	"errors"
	"io/fs"
	"runtime"

	"jig/internal/search/regex"
)

// A Query says what is searched for, and where.
type Query struct {
	Tree
	Pattern *regex.Regexp
	// Include, if not nil, says which files are searched. It is called from one
	// goroutine.
	Include func(path string) bool
	MaxFile int64 // larger files are left out; bytes, 0 for no limit
	Context int   // lines shown before and after each matching one
	Workers int   // files searched at once; 0 for as many as there are processors
}

// A Line is a line of a file that matches, or stands near one that does.
type Line struct {
	N    int    // counted from 1
	Text []byte // without the line feed; valid only during the call it is passed to
	Hit  bool   // it matches; otherwise it is context
}

// Stats says what a search looked at. After a search that was stopped early it
// depends on how far ahead the workers were.
type Stats struct {
	Walked     // Unread counts files too
	Files  int // searched
	Binary int // left out: a zero byte in the first 8,000
	Large  int // left out: larger than MaxFile
}

// binaryProbe is how many bytes at the start of a file tell whether it is text.
const binaryProbe = 8000

var errNotRegular = errors.New("not a regular file")

// Search calls emit for the lines of each file that match, and those around
// them. Files come in the order of Walk and lines in ascending order, each at
// most once, whatever the number of workers; emit is never called twice at the
// same time. A file with very many lines comes in several calls one after the
// other. When emit returns false, the search ends without an error.
//
// Only regular files are opened, and nothing is waited for. Lines end at line
// feeds only, a carriage return is part of its line. A byte order mark (UTF-8)
// at the start of a file belongs to no line. Files and directories that cannot
// be read are counted in Stats.Unread; what vanishes meanwhile is passed over.
//
// Each worker holds one file in memory, so the need is about Workers times the
// largest file.
//
// The error is that of opening the base or of the context.
func Search(ctx context.Context, q Query, emit func(path string, lines []Line) (more bool)) (Stats, error) {
	if q.Workers <= 0 {
		q.Workers = runtime.GOMAXPROCS(0)
	}
	w, err := newWalker(ctx, q.Tree)
	if err != nil {
		return Stats{}, err
	}
	return newPipeline(ctx, q, emit).run(w)
}

// visitor returns what the walk calls to hand files to the workers.
func (p *pipeline) visitor() func(d *folder, name []byte, kind fs.FileMode) error {
	include := p.q.Include
	return func(d *folder, name []byte, kind fs.FileMode) error {
		if p.halted.Load() {
			return fs.SkipAll
		}
		if kind != 0 || include != nil && !include(d.path+string(name)) {
			return nil
		}
		return p.add(d, name)
	}
}
