package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

// Room is how much a conversation may hold, and what becomes of one that is too long.
type Room struct {
	Window int // tokens that the model takes in; 0 is not known
	// Ask lets a person be asked before the older part is summed up.
	Ask bool
	// Archive keeps a text where the session's tools can read it and gives the path, "" when it cannot
	// be kept. nil keeps nothing.
	Archive func(text string) string
	// Vain is told of answers to requests for a summary of which none came; nil is not.
	Vain func(answers int, used msg.Usage)
	// Summaries are those of the turns before this one that go on by themselves as one; nil is none.
	Summaries *Summaries
}

// Why there is no summary.
var (
	errNoGain   = errors.New("what would be left of it is too long already")
	errDeclined = errors.New("a person did not want it summed up")
)

// logError is a fact that could not be stored.
type logError struct{ err error }

func (e *logError) Error() string { return "the session's log could not be written: " + oneLine(e.err) }

// tries is how often a summary is asked for at most: a model that gives no usable one twice would
// only cost more.
const tries = 2

// inARow is how many rounds in a row may begin with a summary. A conversation that one round fills
// again cannot be helped by the next one.
const inARow = 3

// Summaries are what turns that follow one another by themselves know of their summaries. The zero
// Summaries are none.
type Summaries struct {
	before int // rounds of the turns that have ended
	round  int // before which the last one was made, 0 is none
	row    int // how many rounds in a row began with one
}

// Compact sums up a conversation, all but a short tail, as a person asked for it. guidance says what
// the summary should keep, "" leaves it to the model. An error says why nothing has changed.
func Compact(ctx context.Context, d Desk, st session.State, t Turn, guidance string) error {
	const keep = 2_000
	l := &loop{desk: d, turn: t}
	m := l.measure(st)
	cut, ok := m.divide(st.Messages, keep, false)
	if !ok {
		return errors.New("there is not enough in the session yet to be summed up")
	}
	err := l.sumUp(ctx, st, m, cut, guidance, false)
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted; nothing was changed")
	}
	return err
}

// makeRoom sums up the older part of a conversation that comes near the end of its window. It gives
// the end of a turn that cannot go on.
func (l *loop) makeRoom(ctx context.Context, st session.State) *proto.Ended {
	if l.fits(st) {
		return nil
	}
	m := l.measure(st)
	if m.total <= m.limit {
		return nil
	}
	cut, ok := m.divide(st.Messages, min(m.window/keepShare, mostKeep), true)
	if !ok || l.turn.Room.Ask && st.Uncompacted {
		return nil // the provider has the last word on whether it fits
	}
	err := l.automatic(ctx, st, m, cut, l.round+1)
	var unsaid *logError
	switch {
	case err == nil, errors.Is(err, errDeclined) && ctx.Err() == nil:
		return nil
	case ctx.Err() != nil:
		end := l.interrupted()
		return &end
	case errors.As(err, &unsaid):
		end := l.failed(unsaid.Error())
		return &end
	}
	end := l.failed("the conversation has come near the end of the model's context window, and its older part was not summed up: " + advised(err))
	limited(&end, err)
	return &end
}

// stream makes a round's request. Where the provider finds the conversation too long, its older part is
// summed up and the request made once more.
func (l *loop) stream(ctx context.Context, st session.State, tell func(model.Delta)) (model.Reply, error) {
	r := l.request(st.Messages)
	reply, err := l.patient().Stream(ctx, r, tell)
	if !isOverflow(err) || ctx.Err() != nil {
		return reply, err
	}
	said := err
	m := l.measure(st).overflowed(r.MaxOutput)
	if cut, ok := m.divide(st.Messages, min(m.window/keepShare, mostKeep), true); ok {
		err = l.automatic(ctx, st, m, cut, l.round)
	} else {
		err = errNoGain
	}
	var unsaid *logError
	switch {
	case ctx.Err() != nil:
		return model.Reply{}, ctx.Err()
	case errors.As(err, &unsaid):
		return model.Reply{}, unsaid
	case errors.Is(err, errNoGain):
		return model.Reply{}, tooLong(said, "; a summary would not help, since the system prompt, the tools and the last message are too long by themselves: shorten them or use a model with a larger context window")
	case err != nil:
		return model.Reply{}, tooLong(said, ", and it was not summed up: "+advised(err))
	}
	tell(model.Delta{Reset: true})
	r.Messages = l.state().Messages // as it was logged
	reply, err = l.patient().Stream(ctx, r, tell)
	if isOverflow(err) && ctx.Err() == nil {
		return reply, tooLong(err, ", also after its older part was summed up; "+advice)
	}
	return reply, err
}

func isOverflow(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Kind == model.KindOverflow
}

// tooLong says what the provider said, and what came of it.
func tooLong(err error, more string) error {
	var e *model.Error
	errors.As(err, &e)
	out := *e
	out.Text = happened(e) + more
	return &out
}

// advised is why there is no summary, and what to do about it.
func advised(err error) string {
	var e *model.Error
	switch {
	case !errors.As(err, &e):
		return oneLine(err) + "; " + advice
	case e.Kind == model.KindOverflow:
		return happened(e) + "; " + advice
	}
	return oneLine(e) // the provider's own trouble, with its own advice
}

// automatic sums up what nobody asked to be, unless a person does not want it. round is the one that it
// makes room for.
func (l *loop) automatic(ctx context.Context, st session.State, m measure, cut, round int) error {
	c := l.summaries
	switch round += c.before; {
	case c.round == 0 || c.round < round-1:
		c.row = 1
	case c.round == round-1:
		c.row++
	}
	if c.row > inARow {
		return fmt.Errorf("each of the last %d rounds has filled it again", inARow)
	}
	if l.turn.Room.Ask && !l.asked(ctx, m) {
		return errDeclined
	}
	c.round = round
	return l.sumUp(ctx, st, m, cut, "", true)
}

// asked puts the question to a person.
func (l *loop) asked(ctx context.Context, m measure) bool {
	ok, _ := l.desk.Ask(ctx, proto.CallCompaction, tool.Question{
		Scope:  proto.CallCompaction,
		Text:   fmt.Sprintf("sum up the older part of the conversation: it has about %d tokens, and the model takes %d", m.total, m.window),
		Covers: "summing up this session whenever it gets too long",
	})
	return ok
}

// sumUp asks for a summary of what stands before cut and puts it there. automatic ones must also leave
// room.
func (l *loop) sumUp(ctx context.Context, st session.State, m measure, cut int, guidance string, automatic bool) error {
	older := sum(m.each[:cut])
	most := older - 1
	if automatic {
		most = min(most, m.aim()-(m.total-older))
	}
	l.desk.Show(proto.KeyCompacting, proto.Compacting{Since: time.Now(), Tokens: m.total})
	defer l.desk.Show(proto.KeyCompacting, nil)
	text, got, err := l.summary(ctx, st.Messages[:cut], m, most, guidance)
	if err != nil {
		if l.turn.Room.Vain != nil && got.n > 0 {
			l.turn.Room.Vain(got.n, got.usage)
		}
		return err
	}
	archive := ""
	if l.turn.Room.Archive != nil && len(l.turn.Tools.Names()) > 0 {
		archive = l.turn.Room.Archive(transcript(st.Messages[:cut]))
	}
	stands := standsFor(text, archive, st)
	f := proto.Compacted{Through: st.At[cut-1], Summary: stands, Archive: archive, Before: m.total,
		After: m.total - older + tokens(model.Size(stands.Blocks))}
	if got.usage != (msg.Usage{}) {
		f.Usage = &got.usage
	}
	if got.n > 1 {
		f.Asked = got.n
	}
	if err := l.desk.Say(f); err != nil {
		return &logError{err}
	}
	return nil
}

// answers are how many a model gave, and what they took.
type answers struct {
	n     int
	usage msg.Usage
}

// add counts what came of a request, if anything did.
func (a *answers) add(r model.Reply, err error) {
	if err == nil || r.Usage != (msg.Usage{}) || len(r.Blocks) > 0 {
		a.n++
		a.usage = a.usage.Add(r.Usage)
	}
}

// summary asks for a summary that has no more than most tokens, twice if need be. The first request
// begins as all requests of the session do, so that the provider has most of it in its cache; where
// that would not fit, and the second time, long results are shortened.
func (l *loop) summary(ctx context.Context, older []msg.Message, m measure, most int, guidance string) (text string, all answers, err error) {
	const longest = 2_000
	words := max(min(most/2, longest)*3/4/10*10, 100)
	window := m.window
	if window == 0 {
		window = m.total + leastReserve
	}
	reserve := reserveOf(window, 0)
	first := tokens(l.request(nil).Size())
	short := first+sum(m.each[:len(older)]) > window-reserve/2
	for try := range tries {
		sent := older
		if short {
			sent = shortened(older, try > 0, (window-reserve-first)/(1+try))
		}
		r := l.request(append(sent[:len(sent):len(sent)], wanted(words, guidance, try > 0 && !isOverflow(err))))
		if short {
			r.MaxOutput = max(reserve, leastReserve)
		}
		var reply model.Reply
		reply, err = l.patient().Stream(ctx, r, nil)
		all.add(reply, err)
		switch {
		case ctx.Err() != nil:
			return "", all, ctx.Err()
		case err == nil:
			if text, err = usable(reply, most); err == nil {
				return text, all, nil
			}
		case !isOverflow(err):
			return "", all, err
		}
		short = true
	}
	return "", all, err
}

// usable is the text of a summary, or why it is none.
func usable(r model.Reply, most int) (string, error) {
	text := strings.TrimSpace(r.Blocks.Text())
	// What is around the summary counts as well, and names a file.
	n := tokens(len(text)) + tokens(model.Size(standsFor("", strings.Repeat("x", 80), session.State{}).Blocks))
	switch {
	case len(r.Blocks.Calls()) > 0 || r.Stop == model.StopCalls:
		return "", errors.New("the model called a tool in place of a summary")
	case r.Stop == model.StopLength:
		return "", errors.New("the model's summary was cut at its output limit")
	case r.Stop == model.StopRefusal:
		return "", errors.New("the model declined to write a summary" + quoted(text))
	case text == "":
		return "", errors.New("the model's summary was empty")
	case n > most:
		return "", fmt.Errorf("the model's summary was too long (about %d tokens, and %d would help)", n, max(most, 0))
	}
	return text, nil
}
