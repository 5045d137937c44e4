package search

import (
	"bytes"
	"errors"
	"io"

	"jig/internal/search/regex"
)

// window is how much of a file is read before it is searched: little enough to
// be still in the processor's cache.
const window = 128 << 10

// A worker searches one file at a time.
type worker struct {
	p     *pipeline
	m     *regex.Matcher
	file  handle
	buf   []byte // the file, as far as it is read
	lines []Line // found and not yet delivered
	stats Stats

	current *batch
	mayEmit bool   // it is the current batch's turn
	path    string // of the file, once there is something to say of it
	item    batchItem
}

func newWorker(p *pipeline) *worker {
	return &worker{p: p, m: p.matcher(), buf: make([]byte, window)}
}

func (w *worker) batch(b *batch) {
	w.current, w.mayEmit = b, false
	for _, it := range b.items {
		if w.p.halted.Load() {
			return
		}
		w.item, w.path, w.lines = it, "", w.lines[:0]
		w.search(it.dir, b.names[it.from:it.to:it.to+1])
	}
}

func (w *worker) search(d *folder, name []byte) {
	size, err := w.file.open(d, name)
	if err != nil {
		if !vanished(err) {
			w.stats.Unread++
		}
		return
	}
	defer w.file.close()
	limit := w.p.q.MaxFile
	if limit > 0 && size > limit {
		w.stats.Large++
		return
	}
	if err := w.content(size); err != nil {
		w.stats.Unread++
	}
}

// content reads and searches the open file. size is what the system says of it
// and may be out of date or, for files that are made while they are read, 0.
func (w *worker) content(size int64) error {
	limit := w.p.q.MaxFile
	known := size > 0
	if known && int64(len(w.buf)) < size {
		w.buf = make([]byte, size)
	}
	var s scan
	filled, ended := 0, false
	for !ended {
		if w.p.halted.Load() {
			return nil
		}
		goal := filled + window
		if known {
			goal = int(min(int64(goal), size))
		} else if goal > len(w.buf) {
			w.buf = append(w.buf, make([]byte, len(w.buf))...)
		}
		start := filled
		for filled < goal && !ended {
			n, err := w.file.read(w.buf[filled:goal])
			filled += n
			if errors.Is(err, io.EOF) {
				ended = true
			} else if err != nil {
				return err
			}
		}
		ended = ended || known && int64(filled) == size
		if limit > 0 && int64(filled) > limit {
			w.stats.Large++
			return nil
		}
		if start == 0 {
			if bytes.IndexByte(w.buf[:min(filled, binaryProbe)], 0) >= 0 {
				w.stats.Binary++
				return nil
			}
			w.stats.Files++
			s.begin(w.buf[:filled])
		}
		end := filled
		if !ended {
			if w.p.q.Context > 0 {
				continue // the lines after a match have to be there
			}
			i := bytes.LastIndexByte(w.buf[start:filled], '\n')
			if i < 0 {
				continue
			}
			end = start + i + 1
		}
		if !w.scan(&s, w.buf[:end]) {
			return nil
		}
	}
	w.deliver()
	return nil
}

// scan is how far a file is searched.
type scan struct {
	origin  int // where the text begins, after a byte order mark
	at      int // start of the first line not searched
	next    int // start of the first line not reported as found or context
	nextN   int // its number
	pending int // lines from there on that are context of the last match
}

func (s *scan) begin(text []byte) {
	s.nextN = 1
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		s.origin = 3
	}
}

// scan searches whole lines of text from where it left off. It reports false
// when the search is over.
func (w *worker) scan(s *scan, text []byte) bool {
	if len(text) < s.origin {
		return true
	}
	text = text[s.origin:]
	around := w.p.q.Context
	for {
		from, to, ok := w.m.NextLine(text, s.at)
		if !ok {
			break
		}
		if around > 0 {
			w.contextBefore(s, text, from, around)
		}
		s.nextN += bytes.Count(text[s.next:from], newline)
		w.lines = append(w.lines, Line{N: s.nextN, Text: text[from:to], Hit: true})
		s.at = min(to+1, len(text))
		if to < len(text) {
			s.nextN++
		}
		s.next, s.pending = s.at, around
		if len(w.lines) >= chunkLines && !w.deliver() {
			return false
		}
	}
	s.at = len(text)
	if around > 0 {
		w.contextAfter(s, text, len(text))
	}
	return !w.p.halted.Load()
}

var newline = []byte{'\n'}

// contextAfter reports the context of the last match up to the offset end.
func (w *worker) contextAfter(s *scan, text []byte, end int) {
	for ; s.pending > 0 && s.next < end; s.pending-- {
		w.contextLine(s, text)
	}
}

// contextBefore reports what precedes the match at from and has not been
// reported yet.
func (w *worker) contextBefore(s *scan, text []byte, from, around int) {
	w.contextAfter(s, text, from)
	first := from
	for range around {
		if first == s.next {
			break
		}
		first = bytes.LastIndexByte(text[:first-1], '\n') + 1
	}
	s.nextN += bytes.Count(text[s.next:first], newline)
	s.next = first
	for s.next < from {
		w.contextLine(s, text)
	}
}

func (w *worker) contextLine(s *scan, text []byte) {
	end := len(text)
	if i := bytes.IndexByte(text[s.next:], '\n'); i >= 0 {
		end = s.next + i
	}
	w.lines = append(w.lines, Line{N: s.nextN, Text: text[s.next:end]})
	s.next = min(end+1, len(text))
	s.nextN++
}

// deliver emits the lines found so far if it is the batch's turn, and keeps
// them otherwise. It reports false when the search is over.
func (w *worker) deliver() bool {
	if len(w.lines) == 0 {
		return !w.p.halted.Load()
	}
	b := w.current
	if w.path == "" {
		w.path = w.item.dir.path + string(b.names[w.item.from:w.item.to])
	}
	if !w.mayEmit && w.p.isTurn(b) {
		w.mayEmit = true
		w.p.emitKept(b)
	}
	if !w.mayEmit && b.found.add(w.path, w.lines) {
		w.lines = w.lines[:0]
		return true
	}
	if !w.mayEmit {
		if !w.p.await(b) {
			return false
		}
		w.mayEmit = true
		w.p.emitKept(b)
	}
	if w.p.ended() {
		return false
	}
	if !w.p.emit(w.path, w.lines) {
		w.p.halt()
		return false
	}
	w.lines = w.lines[:0]
	return true
}

// add copies lines, or reports false when there is no room for them.
func (k *kept) add(path string, lines []Line) bool {
	size := len(k.text)
	for _, l := range lines {
		size += len(l.Text)
	}
	if size > batchKeep {
		return false
	}
	from := len(k.lines)
	for _, l := range lines {
		at := len(k.text)
		k.text = append(k.text, l.Text...)
		k.lines = append(k.lines, keptLine{l.N, at, len(k.text), l.Hit})
	}
	k.files = append(k.files, keptFile{path, from, len(k.lines)})
	return true
}
