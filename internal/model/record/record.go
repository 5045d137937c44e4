// Package record keeps what a model says in a file that the replay dialect plays. It wraps any model
// and changes nothing of what it is asked or says. A failure that was tried again is no part of it:
// what counts of a round is how it ended.
package record

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"jig/internal/model"
	"jig/internal/model/tape"
	"jig/internal/msg"
)

// Recorder writes one recording. It is safe for concurrent use; requests that overlap are written in
// the order in which they end.
type Recorder struct {
	file File

	mu     sync.Mutex
	talk   *tape.Talk
	before *tape.Request // the last one that was written, in full
	failed *failed       // how the last request ended, while it may still be made again
	err    error         // why nothing is written any more
}

// failed is a request that came to nothing.
type failed struct {
	request model.Request
	line    line
	full    tape.Request
}

// line is one reply of the file. The keys are those of a script.
type line struct {
	Request tape.Request `json:"request"`
	Blocks  []tape.Part  `json:"blocks,omitempty"`
	Usage   msg.Usage    `json:"usage,omitzero"`
	Stop    model.Stop   `json:"stop,omitempty"`
	CutBy   string       `json:"cut_by,omitempty"`
	Error   *failure     `json:"error,omitempty"`
}

type failure struct {
	Kind   model.Kind `json:"kind"`
	Status int        `json:"status,omitempty"`
	After  string     `json:"after,omitempty"`
	Text   string     `json:"text"`
	Final  bool       `json:"final"`
}

// New records to a file. The values say what must not be written as it is.
func New(f File, v *tape.Values) *Recorder { return &Recorder{file: f, talk: tape.NewTalk(v)} }

// Notice tells that a text which a request will bring is the report of a job, which nobody wrote.
func (r *Recorder) Notice(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.talk.Notice(text)
}

// Wrap gives a model that is recorded. It belongs outside of whatever changes requests, and inside of
// whatever makes them again.
func (r *Recorder) Wrap(m model.Model) model.Model { return &recorded{m, r} }

type recorded struct {
	next model.Model
	to   *Recorder
}

// Stream makes a request and writes down what came of it.
func (m *recorded) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	reply, err := m.next.Stream(ctx, r, tell)
	if ctx.Err() == nil {
		r.Heard, r.More = nil, nil // no two functions are equal, and tries of one request are
		m.to.ended(r, reply, err)
	}
	return reply, err
}

// ended is told of a request that nobody stopped. One that was not made is as if it had not been.
func (r *Recorder) ended(q model.Request, reply model.Reply, err error) {
	var e *model.Error
	if err != nil && (!errors.As(err, &e) || errors.Is(err, model.ErrUnsent)) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil && !reflect.DeepEqual(r.failed.request, q) {
		r.settle()
	}
	r.failed = nil
	full := r.talk.Ask(q, false)
	v := r.talk.Values
	l := line{Request: full.Trim(r.before), Blocks: v.Said(reply.Blocks), Usage: reply.Usage, Stop: reply.Stop, CutBy: reply.CutBy}
	if e != nil {
		l.Error = &failure{Kind: e.Kind, Status: e.Status, Text: v.Mask(e.Text), Final: true}
		if e.After > 0 {
			l.Error.After = e.After.String()
		}
		r.failed = &failed{q, l, full}
		return
	}
	r.write(l, full)
	r.talk.Answered(q, reply.Blocks, true)
}

// settle writes a failure that was not tried again.
func (r *Recorder) settle() {
	r.write(r.failed.line, r.failed.full)
	r.talk.Answered(r.failed.request, nil, false)
	r.failed = nil
}

func (r *Recorder) write(l line, full tape.Request) {
	if r.err == nil {
		r.err = r.file.Line(l)
	}
	r.before = &full
}

// Close writes what is left. The error says why the recording is not whole.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		r.settle()
	}
	if err := r.file.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}
