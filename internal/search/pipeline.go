package search

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"jig/internal/search/regex"
)

// The walk runs on the caller's goroutine and puts files into numbered batches.
// Workers search batches at the same time. Only the worker whose batch is next
// may emit; the others keep what they find until it is their turn. One that has
// found more than it may keep waits, so memory stays bounded, and from then on
// emits without copying. The batch that is next is always in the hands of a
// worker that need not wait, so the whole never stands still.

const (
	batchFiles = 16        // files in one batch
	batchKeep  = 256 << 10 // bytes a batch may keep before its turn
	chunkLines = 256       // lines handed to emit at once
)

type batch struct {
	number int
	names  []byte // each followed by a zero byte
	items  []batchItem
	found  kept
}

type batchItem struct {
	dir      *folder
	from, to int
}

// kept holds lines until their turn.
type kept struct {
	text  []byte
	files []keptFile
	lines []keptLine
}

type keptFile struct {
	path     string
	from, to int // within lines
}

type keptLine struct {
	n, from, to int
	hit         bool
}

type pipeline struct {
	ctx    context.Context
	q      Query
	emit   func(path string, lines []Line) bool
	halted atomic.Bool
	over   chan struct{} // closed when halted
	all    []*batch
	work   chan *batch
	free   chan *batch
	open   *batch // being filled by the walk
	next   int    // number of the next batch to be opened

	mu       sync.Mutex
	moved    *sync.Cond // the turn has moved, or all is over
	turn     int        // number of the batch that may emit
	finished map[int]*batch
	stats    Stats
	panicked any
	matchers []*regex.Matcher // of the workers, to be interrupted
	lines    []Line           // for emitting what was kept; belongs to the batch whose turn it is
}

func newPipeline(ctx context.Context, q Query, emit func(string, []Line) bool) *pipeline {
	batches := 4*q.Workers + 4
	p := &pipeline{
		ctx: ctx, q: q, emit: emit,
		work: make(chan *batch, batches), free: make(chan *batch, batches),
		over: make(chan struct{}), finished: map[int]*batch{},
	}
	p.moved = sync.NewCond(&p.mu)
	for range batches {
		b := &batch{}
		p.all = append(p.all, b)
		p.free <- b
	}
	return p
}

func (p *pipeline) run(w *walker) (Stats, error) {
	stop := context.AfterFunc(p.ctx, p.halt)
	defer stop()
	var wg sync.WaitGroup
	for range p.q.Workers {
		wg.Go(p.worker)
	}
	w.visit = p.visitor()
	err := w.run()
	p.flush()
	close(p.work)
	wg.Wait()
	for _, b := range p.all {
		b.reset() // what a panic left
	}
	if p.panicked != nil {
		panic(p.panicked)
	}
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	if err == nil {
		err = p.ctx.Err()
	}
	p.stats.Unread += w.walked.Unread
	p.stats.Ignored = w.walked.Ignored
	return p.stats, err
}

// halt makes everybody stop soon.
func (p *pipeline) halt() {
	p.mu.Lock()
	if !p.halted.Swap(true) {
		close(p.over)
		for _, m := range p.matchers {
			m.Interrupt()
		}
	}
	p.mu.Unlock()
	p.moved.Broadcast()
}

// matcher makes a matcher that ends when everybody does.
func (p *pipeline) matcher() *regex.Matcher {
	m := p.q.Pattern.Matcher()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.matchers = append(p.matchers, m)
	if p.halted.Load() {
		m.Interrupt()
	}
	return m
}

// ended reports whether emit may not be called any more. The context is asked
// too, because a halt that it causes comes a little later.
func (p *pipeline) ended() bool { return p.halted.Load() || p.ctx.Err() != nil }

// add puts a file into the open batch.
func (p *pipeline) add(d *folder, name []byte) error {
	if p.open == nil {
		select {
		case p.open = <-p.free:
		case <-p.over:
			return fs.SkipAll
		}
		p.open.number = p.next
		p.next++
	}
	b := p.open
	from := len(b.names)
	b.names = append(append(b.names, name...), 0)
	d.hold()
	b.items = append(b.items, batchItem{d, from, from + len(name)})
	// The first batches are small, so that few but large files are shared out.
	if len(b.items) >= min(batchFiles, 1+b.number/4) {
		p.flush()
	}
	return nil
}

func (p *pipeline) flush() {
	if p.open != nil {
		p.work <- p.open
		p.open = nil
	}
}

func (p *pipeline) worker() {
	w := newWorker(p)
	defer func() {
		if v := recover(); v != nil {
			p.mu.Lock()
			if p.panicked == nil {
				p.panicked = v
			}
			p.mu.Unlock()
			p.halt()
		}
	}()
	for b := range p.work {
		w.batch(b)
		p.finish(b)
	}
	p.mu.Lock()
	p.stats.add(w.stats)
	p.mu.Unlock()
}

func (b *batch) reset() {
	for _, it := range b.items {
		it.dir.release()
	}
	clear(b.items)
	b.items, b.names = b.items[:0], b.names[:0]
	b.found.reset()
}

func (k *kept) reset() {
	clear(k.files)
	k.text, k.files, k.lines = k.text[:0], k.files[:0], k.lines[:0]
}

func (s *Stats) add(o Stats) {
	s.Unread += o.Unread
	s.Files += o.Files
	s.Binary += o.Binary
	s.Large += o.Large
}

// finish ends a batch: if it is its turn, what it and those after it have kept
// is emitted.
func (p *pipeline) finish(b *batch) {
	p.mu.Lock()
	p.finished[b.number] = b
	for {
		b := p.finished[p.turn]
		if b == nil {
			break
		}
		delete(p.finished, p.turn)
		p.mu.Unlock()
		p.emitKept(b)
		b.reset()
		p.free <- b
		p.mu.Lock()
		p.turn++
		p.moved.Broadcast()
	}
	p.mu.Unlock()
}

// await waits for the turn of a batch and reports whether it came.
func (p *pipeline) await(b *batch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.turn != b.number && !p.halted.Load() {
		p.moved.Wait()
	}
	return !p.halted.Load()
}

// isTurn reports whether a batch may emit now.
func (p *pipeline) isTurn(b *batch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turn == b.number
}

// emitKept emits what a batch has kept, whose turn it is.
func (p *pipeline) emitKept(b *batch) {
	k := &b.found
	for _, f := range k.files {
		if p.ended() {
			break
		}
		p.lines = p.lines[:0]
		for _, l := range k.lines[f.from:f.to] {
			p.lines = append(p.lines, Line{N: l.n, Text: k.text[l.from:l.to], Hit: l.hit})
		}
		if !p.emit(f.path, p.lines) {
			p.halt()
		}
	}
	k.reset()
}
