// Package replay plays a written script in place of a model: for demonstrations, tests and bug
// reports. A script can demand what the tools' results must be and take values out of them, so
// that it only plays to its end when the tools did the work. It opens no file and calls nobody.
package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/model/tape"
	"jig/internal/msg"
)

// Model plays one script. Each request takes the next reply, whoever makes it. It is safe for
// concurrent use.
type Model struct {
	script *script

	mu     sync.Mutex
	next   int
	values map[string]string
	strict *strict
}

// New reads a script, YAML or JSON lines. The error says where it is wrong.
func New(data []byte) (*Model, error) {
	s, err := parse(data)
	if err != nil {
		return nil, err
	}
	m := &Model{script: s, values: map[string]string{}}
	m.At(nil, nil)
	return m, nil
}

// At says where a recording is played, and what is never shown of it, before the first request.
func (m *Model) At(places []tape.Place, secrets []string) {
	m.strict = newStrict(tape.NewValues(places, secrets))
}

// Notices is how many reports of jobs the next request brought when it was recorded. known is false
// where no recording says it.
func (m *Model) Notices() (n int, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.script.Recorded || m.next == len(m.script.Replies) || m.script.Replies[m.next].Request == nil {
		return 0, false
	}
	for _, x := range m.script.Replies[m.next].Request.Messages {
		switch {
		case x.Notice:
			n++
		case x.Role == msg.Assistant: // those before it were brought by an earlier request
			n = 0
		}
	}
	return n, true
}

// Notice tells that a text which a request will bring is the report of a job, which nobody typed.
func (m *Model) Notice(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strict.talk.Notice(text)
}

// Stream gives the next reply of the script. A request that is not what the reply expects, and a
// request too many, is an error of kind request.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	p, err := m.take(r)
	if err != nil {
		return model.Reply{}, err
	}
	if p.Delay > 0 {
		t := time.NewTimer(time.Duration(p.Delay))
		defer t.Stop()
		select {
		case <-ctx.Done():
			return model.Reply{}, ctx.Err()
		case <-t.C:
		}
	}
	if tell == nil {
		tell = func(model.Delta) {}
	}
	out := p.reply(tell)
	m.said(r, out.Blocks, p.Error == nil)
	if p.Error != nil {
		text := "replay: " + p.Error.Text
		if m.script.Recorded { // it is to end as it ended
			text = p.Error.Text
		}
		return out, &model.Error{
			Kind: model.Kind(p.Error.Kind), Status: p.Error.Status, After: time.Duration(p.Error.After),
			Text: text, Final: p.Error.Final,
		}
	}
	return out, nil
}

// take chooses the reply for a request, checks that the request is what it expects and puts the
// captured values in.
func (m *Model) take(r model.Request) (reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.next
	if n == len(m.script.Replies) {
		return reply{}, model.Errorf(model.KindRequest, "replay: the script has %s and was asked for one more; add a reply to it", count(n, "reply", "replies"))
	}
	p := m.script.Replies[n]
	heard := listen(r.Messages)
	joined := ""
	if len(p.Capture) > 0 {
		joined = heard.joined()
	}
	for _, c := range p.Capture {
		found := c.re.FindStringSubmatch(joined)
		if found == nil {
			return reply{}, mismatch(n, "no result to match %s for ${%s}: %s", c.re, c.name, heard.describe())
		}
		m.values[c.name] = found[len(found)-1]
		if len(found) > 1 {
			m.values[c.name] = found[1]
		}
	}
	if p.Expect != nil {
		if why := p.Expect.differs(heard, m.fill); why != "" {
			return reply{}, mismatch(n, "%s", why)
		}
	}
	if p.Request != nil { // one that is not compared says what the names in calls stand for all the same
		if why := m.strict.differs(p.Request.Request, r); why != "" && m.script.Recorded {
			return reply{}, model.Errorf(model.KindRequest, "replay: the request for reply %d is not as it was recorded: %s", n+1, why)
		}
	}
	if name := m.strict.talk.Values.Unknown(p.Blocks); name != "" {
		return reply{}, model.Errorf(model.KindRequest, "replay: reply %d calls with ${%s}, and nothing in this run is known to be that; write a value in its place and take it out of values", n+1, name)
	}
	p.speech = m.strict.talk.Values.Speak(p.Blocks)
	if !m.script.Recorded {
		m.fillBlocks(p.speech)
	}
	m.next++
	p.Reasoning, p.Text = m.fill(p.Reasoning), m.fill(p.Text)
	p.Calls = slices.Clone(p.Calls)
	for i := range p.Calls {
		p.Calls[i].Args = args(p.Calls[i].Args.filled(m.fill))
	}
	return p, nil
}

// said keeps what was said for the next comparison.
func (m *Model) said(r model.Request, b msg.Blocks, whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strict.talk.Answered(r, b, whole)
}

func mismatch(n int, format string, a ...any) *model.Error {
	return model.Errorf(model.KindRequest, "replay: the request for reply %d is not what the script expects: %s", n+1, fmt.Sprintf(format, a...))
}

// fillBlocks puts captured values where a script has them in blocks.
func (m *Model) fillBlocks(blocks msg.Blocks) {
	for i, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			b.Text = m.fill(b.Text)
			blocks[i] = b
		case msg.Reasoning:
			b.Text = m.fill(b.Text)
			blocks[i] = b
		case msg.Call:
			b.Args = args(b.Args).filled(m.fill)
			blocks[i] = b
		}
	}
}

// fill puts captured values into a text.
func (m *Model) fill(s string) string {
	return variable().ReplaceAllStringFunc(s, func(name string) string {
		if v, ok := m.values[name[2:len(name)-1]]; ok {
			return v
		}
		return name
	})
}

// reply makes the reply and tells it piece by piece.
func (p reply) reply(tell func(model.Delta)) model.Reply {
	out := model.Reply{Usage: msg.Usage(p.Usage), Stop: model.Stop(p.Stop), CutBy: p.CutBy}
	calls := len(p.Calls) + len(p.speech.Calls())
	out.Blocks = append(out.Blocks, p.speech...)
	if s := p.Reasoning; s != "" {
		out.Blocks = append(out.Blocks, msg.Reasoning{Text: s})
	}
	if s := p.Text; s != "" {
		out.Blocks = append(out.Blocks, msg.Text{Text: s})
	}
	for _, c := range p.Calls {
		out.Blocks = append(out.Blocks, msg.Call{Given: c.ID, Name: c.Name, Args: string(c.Args)})
	}
	for _, b := range out.Blocks {
		show(b, tell)
	}
	if out.Stop == "" && p.Error == nil {
		out.Stop = model.StopEnd
		if calls > 0 {
			out.Stop = model.StopCalls
		}
	}
	return out
}

// show tells a block as it would come.
func show(b msg.Block, tell func(model.Delta)) {
	switch b := b.(type) {
	case msg.Reasoning:
		for piece := range pieces(b.Text) {
			tell(model.Delta{Reasoning: piece})
		}
	case msg.Text:
		for piece := range pieces(b.Text) {
			tell(model.Delta{Text: piece})
		}
	case msg.Call:
		tell(model.Delta{Call: b.Name})
	}
}

// pieces cuts a text as a model would stream it, after each word.
func pieces(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for s != "" {
			n := strings.IndexAny(s, " \n")
			if n < 0 {
				n = len(s) - 1
			}
			if !yield(s[:n+1]) {
				return
			}
			s = s[n+1:]
		}
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// quote shows a text in an error line, cut when it is long.
func quote(s string) string {
	const most = 160
	if len(s) > most {
		cut := most
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		return fmt.Sprintf("%q… (%d bytes)", s[:cut], len(s))
	}
	return fmt.Sprintf("%q", s)
}
