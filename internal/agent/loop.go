package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
)

// sameFault is how many identical malformed calls in a row end a turn: a model that does not learn
// from the first two answers will not learn from the tenth.
const sameFault = 3

// loop is one turn on its way.
type loop struct {
	desk   Desk
	turn   Turn
	round  int
	fault  string // what the last round's malformed calls had in common
	faults int

	state     func() session.State
	summaries *Summaries
}

// RunTurn runs a turn to its end: it sends the conversation, runs the calls of the reply, and goes
// on until a reply has no calls. state is asked before each request, so that what is sent is what a
// resumed session would send. Ended is returned and not said, since the host may have more to do
// first.
func RunTurn(ctx context.Context, d Desk, in Inbox, state func() session.State, t Turn) proto.Ended {
	l := &loop{desk: d, turn: t, state: state, summaries: t.Room.Summaries}
	if l.summaries == nil {
		l.summaries = &Summaries{}
	}
	defer func() { l.summaries.before += l.round }()
	for {
		for _, s := range in.Take(ctx) {
			if err := d.Say(s); err != nil {
				return l.logFailed(err)
			}
		}
		if n := t.Limits.Rounds; n > 0 && t.Limits.Spent+l.round >= n {
			return l.failed(fmt.Sprintf("the tool loop used up --max-turns: %s the whole run's budget and the model wanted another; raise --max-turns or ask for less", requests(n)))
		}
		if end := l.makeRoom(ctx, state()); end != nil {
			return *end
		}
		l.round++
		st := state()
		said, reply, end := l.ask(ctx, st)
		if end != nil {
			return *end
		}
		calls := said.Message.Blocks.Calls()
		if len(calls) == 0 {
			landed, note := in.Wait(ctx)
			switch {
			case ctx.Err() != nil:
				return l.interrupted()
			case landed:
				continue
			}
			return proto.Ended{Why: proto.Done, Rounds: l.round, Note: note}
		}
		p, err := l.run(ctx, said, calls, reply.Stop)
		if err != nil {
			return l.logFailed(err)
		}
		if ctx.Err() != nil {
			return l.interrupted()
		}
		if reply.Stop == model.StopRefusal { // asked again, it would decline again
			return l.failed(declinedText(reply) + "; none of its calls was run")
		}
		if end := l.repeats(calls, p); end != nil {
			return *end
		}
	}
}

func requests(n int) string {
	if n == 1 {
		return "1 turn is"
	}
	return fmt.Sprintf("%d turns are", n)
}

// ask makes one request. A reply without calls it logs; one that has some goes into the log with the
// first of them, before any runs.
func (l *loop) ask(ctx context.Context, st session.State) (proto.Said, model.Reply, *proto.Ended) {
	w := &writing{show: func(v proto.Writing) { l.desk.Show(proto.KeyReply, v) }}
	reply, err := l.stream(ctx, st, w.tell)
	if err != nil || ctx.Err() != nil {
		defer l.desk.Show(proto.KeyReply, nil)
		return proto.Said{}, reply, l.broke(ctx, reply, err)
	}
	said := l.said(reply, st.Calls)
	if len(said.Message.Blocks.Calls()) > 0 {
		return said, reply, nil
	}
	defer l.desk.Show(proto.KeyReply, nil)
	if err := l.desk.Say(said); err != nil {
		end := l.logFailed(err)
		return said, reply, &end
	}
	switch reply.Stop {
	case model.StopLength:
		end := l.failed(cutText(reply.CutBy))
		return said, reply, &end
	case model.StopRefusal:
		end := l.failed(declinedText(reply))
		return said, reply, &end
	}
	return said, reply, nil
}

// request is what the turn sends with a conversation.
func (l *loop) request(messages []msg.Message) model.Request {
	s := l.turn.Send
	return model.Request{Model: s.Model, System: s.System, Tools: l.turn.Tools.Tools(), Messages: messages,
		MaxOutput: s.MaxOutput, Reasoning: s.Reasoning, Temperature: s.Temperature, TopP: s.TopP}
}

// cutText says why an answer is not whole, and what to do.
func cutText(by string) string {
	if by != "" {
		return "the model's answer was cut where " + by + " was used up; raise it or ask for a shorter answer"
	}
	return "the model's answer was cut at its output limit; ask for a shorter one"
}

func declinedText(r model.Reply) string {
	return "the model declined to answer" + quoted(r.Blocks.Text())
}

func quoted(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return ""
	}
	return ": " + s
}

// said makes the fact of a reply. Calls get ids of ours: those of providers may repeat or be missing.
func (l *loop) said(reply model.Reply, made int) proto.Said {
	m := msg.Message{Role: msg.Assistant, Provider: l.turn.Send.Provider, Model: l.turn.Send.Model}
	for _, b := range reply.Blocks {
		if c, ok := b.(msg.Call); ok {
			made++
			c.ID = fmt.Sprintf("call%05d", made)
			b = c
		}
		m.Blocks = append(m.Blocks, b)
	}
	f := proto.Said{Message: m, Round: l.round, Stop: string(reply.Stop)}
	if reply.Usage != (msg.Usage{}) {
		f.Usage = &reply.Usage
	}
	return f
}

// broke ends a turn whose request did not come to a whole reply. What a person stopped keeps the
// text they saw; nothing of a broken reply runs.
func (l *loop) broke(ctx context.Context, reply model.Reply, err error) *proto.Ended {
	if ctx.Err() == nil {
		if errors.Is(err, model.ErrUnsent) {
			l.round--
		}
		end := l.failed(oneLine(err))
		limited(&end, err)
		return &end
	}
	if text := reply.Blocks.Text(); text != "" {
		m := msg.Say(msg.Assistant, text)
		m.Provider, m.Model = l.turn.Send.Provider, l.turn.Send.Model
		if err := l.desk.Say(proto.Said{Message: m, Round: l.round, Stop: string(proto.Interrupted)}); err != nil {
			end := l.logFailed(err)
			return &end
		}
	}
	end := l.interrupted()
	return &end
}

// run runs a reply's calls. A reply that was cut may end inside a call, and where one call is
// broken those beside it may have been meant otherwise: none of them runs. Neither does one of a reply
// that was declined, since that ends wherever the provider stopped it, and what it asks for may be why.
func (l *loop) run(ctx context.Context, said proto.Said, calls []msg.Call, stop model.Stop) (*pipeline, error) {
	p := newPipeline(l.desk, l.turn.Tools, len(calls))
	p.reply = &said
	switch stop {
	case model.StopLength:
		return p, p.leave(ctx, calls, Cut)
	case model.StopRefusal:
		return p, p.leave(ctx, calls, Refused)
	}
	return p, p.runAll(ctx, calls)
}

// repeats ends the turn at the third round in a row whose calls were all malformed in one and the
// same way.
func (l *loop) repeats(calls []msg.Call, p *pipeline) *proto.Ended {
	fault := ""
	for i, c := range calls {
		f := clip(c.Name) + ": " + p.results[i].Blocks.Text()
		if !p.malformed[i] || fault != "" && f != fault {
			l.fault, l.faults = "", 0
			return nil
		}
		fault = f
	}
	if fault != l.fault {
		l.fault, l.faults = fault, 0
	}
	l.faults++
	if l.faults < sameFault {
		return nil
	}
	end := l.failed(fmt.Sprintf("the model made the same malformed call %d times in a row: %s", sameFault, fault))
	return &end
}

func (l *loop) failed(why string) proto.Ended {
	return proto.Ended{Why: proto.Failed, Error: why, Rounds: l.round}
}

func (l *loop) interrupted() proto.Ended {
	return proto.Ended{Why: proto.Interrupted, Error: "interrupted", Rounds: l.round}
}

func (l *loop) logFailed(err error) proto.Ended {
	return l.failed("the session's log could not be written: " + oneLine(err))
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// writing gathers what has come of a reply.
type writing struct {
	show            func(proto.Writing)
	text, reasoning strings.Builder
	call            string
}

func (w *writing) tell(d model.Delta) {
	if d.Reset {
		w.text.Reset()
		w.reasoning.Reset()
		w.call = ""
	}
	w.text.WriteString(d.Text)
	w.reasoning.WriteString(d.Reasoning)
	if d.Call != "" {
		w.call = d.Call
	}
	w.show(proto.Writing{Text: w.text.String(), Reasoning: w.reasoning.String(), Call: w.call})
}
