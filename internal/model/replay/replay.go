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
	"jig/internal/msg"
)

// Model plays one script. Each request takes the next reply, whoever makes it. It is safe for
// concurrent use.
type Model struct {
	script *script

	mu     sync.Mutex
	next   int
	values map[string]string
}

// New reads a script, YAML or JSON lines. The error says where it is wrong.
func New(data []byte) (*Model, error) {
	s, err := parse(data)
	if err != nil {
		return nil, err
	}
	return &Model{script: s, values: map[string]string{}}, nil
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
	if p.Error != nil {
		return out, &model.Error{
			Kind: model.Kind(p.Error.Kind), Status: p.Error.Status, After: time.Duration(p.Error.After),
			Text: "replay: " + p.Error.Text,
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
	m.next++
	p.Reasoning, p.Text = m.fill(p.Reasoning), m.fill(p.Text)
	p.Calls = slices.Clone(p.Calls)
	for i := range p.Calls {
		p.Calls[i].Args = args(p.Calls[i].Args.filled(m.fill))
	}
	return p, nil
}

func mismatch(n int, format string, a ...any) *model.Error {
	return model.Errorf(model.KindRequest, "replay: the request for reply %d is not what the script expects: %s", n+1, fmt.Sprintf(format, a...))
}

// fill puts captured values into a text.
func (m *Model) fill(s string) string {
	return variable.ReplaceAllStringFunc(s, func(name string) string {
		if v, ok := m.values[name[2:len(name)-1]]; ok {
			return v
		}
		return name
	})
}

// reply makes the reply and tells it piece by piece.
func (p reply) reply(tell func(model.Delta)) model.Reply {
	out := model.Reply{Usage: msg.Usage(p.Usage), Stop: model.Stop(p.Stop)}
	if s := p.Reasoning; s != "" {
		out.Blocks = append(out.Blocks, msg.Reasoning{Text: s})
		for piece := range pieces(s) {
			tell(model.Delta{Reasoning: piece})
		}
	}
	if s := p.Text; s != "" {
		out.Blocks = append(out.Blocks, msg.Text{Text: s})
		for piece := range pieces(s) {
			tell(model.Delta{Text: piece})
		}
	}
	for _, c := range p.Calls {
		tell(model.Delta{Call: c.Name})
		out.Blocks = append(out.Blocks, msg.Call{Given: c.ID, Name: c.Name, Args: string(c.Args)})
	}
	if out.Stop == "" && p.Error == nil {
		out.Stop = model.StopEnd
		if len(p.Calls) > 0 {
			out.Stop = model.StopCalls
		}
	}
	return out
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
