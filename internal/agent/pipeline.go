package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"jig/internal/msg"
	"jig/internal/nearest"
	"jig/internal/proto"
	"jig/internal/tool"
)

// What the model reads of a call that did not get as far as its tool, or did not come back from it.
var (
	NoTool    = tool.Fails("there is no tool {name}; {hint}")
	Malformed = tool.Fails("the arguments of {name} are not valid JSON ({error}); nothing was run — send the call again with one complete JSON object")
	Cut       = tool.Fails("the reply was cut at the output limit before this {name} call was complete; nothing was run — make smaller calls, for example write a long file in several parts")
	Refused   = tool.Fails("the reply that this {name} call stood in was declined by the model or its provider; nothing was run — do without what was declined, or ask the user")
	Cancelled = tool.Fails("{name} was cancelled")
	NotRun    = tool.Fails("{name} was not run: the calls were cancelled before its turn came")
	Declined  = tool.Fails("{name} was not run: the user declined this call — do not try it again unless they ask for it")
	Masked    = tool.Fails("the arguments of {name} hold the text that stands in the place of a key jig keeps to itself, and would put it where the key is; nothing was run — leave that part as it is and change what is around it, or ask the user")
	Broken    = tool.Fails("{name} failed because of a fault inside jig, not because of its arguments; what it had done until then may stand — try another way, or tell the user")
)

// malformed are the failures that say that a call itself was no good.
var malformed = append([]*tool.Failure{NoTool, Malformed, Cut}, tool.ArgumentFailures...)

// abreast is how many calls of a reply run at the same time. A model decides how many it makes; what
// one of them needs much of its tool must share out itself.
const abreast = 64

// backstop bounds a result whose tool gives no Cap, in bytes.
const backstop = 256 << 10

// pipeline is the calls of one reply on their way. Each call writes only at its own place.
type pipeline struct {
	desk      Desk
	table     Table
	reply     *proto.Said // that the calls stand in; goes into the log with the first of them
	results   []tool.Result
	malformed []bool  // the call itself was no good, whatever it was for
	errs      []error // what the log said to each Closed
}

func newPipeline(d Desk, t Table, n int) *pipeline {
	return &pipeline{desk: d, table: t, results: make([]tool.Result, n), malformed: make([]bool, n), errs: make([]error, n)}
}

// RunCalls takes every call of one reply to exactly one result, in call order, whatever happens: a
// tool that is unknown, arguments that are malformed, a refusal, a panic, a cancellation. The calls
// must be in the log already, so that none has an effect nobody knows of. An error means that the
// log failed.
func RunCalls(ctx context.Context, d Desk, t Table, calls []msg.Call) ([]tool.Result, error) {
	p := newPipeline(d, t, len(calls))
	err := p.runAll(ctx, calls)
	return p.results, err
}

// runAll is find, prepare, wait, ask, run, cap and close, for each call.
//
// A call is prepared when its turn comes, not all at the start: reading a file and editing it in
// one reply must work, and the edit is only allowed once the read has run. Neighbours that may
// overlap and ask nothing run together; any other call waits for those before it.
func (p *pipeline) runAll(ctx context.Context, calls []msg.Call) error {
	ctx, done := p.desk.Scope(ctx)
	defer done()
	var batch sync.WaitGroup
	defer batch.Wait()
	room := make(chan struct{}, abreast)
	overtaken := false // something runs that the next preparation may not have seen the end of
	for i, c := range calls {
		ready, err := p.prepare(ctx, c)
		alone := err != nil || !ready.Together || ready.Ask != nil
		if alone && overtaken {
			batch.Wait()
			overtaken = false
			ready, err = p.prepare(ctx, c)
		}
		if e := p.open(c, ready.Plan); e != nil {
			return e
		}
		if err == nil && ready.Ask != nil {
			err = p.ask(ctx, c, *ready.Ask)
		}
		if err != nil {
			p.fail(ctx, i, c, err)
			continue
		}
		if alone || i == len(calls)-1 { // nothing comes after the last that could run beside it
			p.run(ctx, i, c, &ready)
			continue
		}
		overtaken = true
		room <- struct{}{}
		batch.Go(func() {
			defer func() { <-room }()
			p.run(ctx, i, c, &ready)
		})
	}
	batch.Wait()
	return errors.Join(p.errs...)
}

// leave closes calls that must not run because of the reply they stand in.
func (p *pipeline) leave(ctx context.Context, calls []msg.Call, why *tool.Failure) error {
	for i, c := range calls {
		if err := p.open(c, tool.Plan{}); err != nil {
			return err
		}
		p.fail(ctx, i, c, why.With("name", c.Name))
	}
	return errors.Join(p.errs...)
}

// open logs a call before it runs: the first together with the reply, which costs half of what it
// costs one after the other.
func (p *pipeline) open(c msg.Call, plan tool.Plan) error {
	if plan.Title == "" {
		plan.Title = "[" + c.Name + "]"
	}
	f := proto.Opened{Call: c.ID, Tool: c.Name, Show: p.table.by[c.Name].spec.Show, Plan: plan}
	if p.reply == nil {
		return p.desk.Say(f)
	}
	said := *p.reply
	p.reply = nil
	defer p.desk.Show(proto.KeyReply, nil)
	return p.desk.Say(said, f)
}

// ask is nil when people allow the call.
func (p *pipeline) ask(ctx context.Context, c msg.Call, q tool.Question) error {
	ok, refusal := p.desk.Ask(ctx, c.ID, q)
	switch {
	case ok:
		return nil
	case ctx.Err() != nil:
		return NotRun.With("name", c.Name)
	case refusal != "":
		return tool.Fails(refusal)
	}
	return Declined.With("name", c.Name)
}

// prepare finds the tool and lets its owner look at the call.
func (p *pipeline) prepare(ctx context.Context, c msg.Call) (ready tool.Prepared, err error) {
	defer caught(&err)
	if ctx.Err() != nil {
		return ready, NotRun.With("name", c.Name)
	}
	b, ok := p.table.by[c.Name]
	if !ok {
		return ready, NoTool.With("name", quoteName(c.Name), "hint", p.hint(c.Name))
	}
	args := c.Args
	if strings.TrimSpace(args) == "" {
		args = "{}" // what some providers send for a call without arguments
	}
	var v json.RawMessage
	if err := json.Unmarshal([]byte(args), &v); err != nil {
		return ready, Malformed.With("name", c.Name, "error", err.Error())
	}
	if tool.HoldsMask(args) {
		return ready, Masked.With("name", c.Name)
	}
	ready, err = b.owner.Prepare(ctx, tool.Call{ID: c.ID, Name: c.Name, Args: json.RawMessage(args)})
	if err == nil && ready.Run == nil {
		err = fmt.Errorf("%s was prepared without a way to run it", c.Name)
	}
	return ready, err
}

// hint helps a model that calls a tool by a name it learned elsewhere, such as functions.read_file.
func (p *pipeline) hint(name string) string {
	names := p.table.Names()
	if names == nil {
		return "this conversation has no tools"
	}
	meant := nearest.Of(name, names)
	for _, n := range names {
		if meant == "" && strings.HasSuffix(nearest.Fold(name), nearest.Fold(n)) {
			meant = n
		}
	}
	if meant != "" {
		return "did you mean " + meant + "?"
	}
	return "the tools are " + strings.Join(names, ", ")
}

// run runs one call and closes it.
func (p *pipeline) run(ctx context.Context, i int, c msg.Call, ready *tool.Prepared) {
	r, err := runCaught(ctx, ready, func(card tool.Card) { p.desk.Show(proto.KeyCall+c.ID, card) })
	p.desk.Show(proto.KeyCall+c.ID, nil)
	if err != nil {
		p.fail(ctx, i, c, err)
		return
	}
	p.close(i, c, r, nil)
}

func runCaught(ctx context.Context, ready *tool.Prepared, tell func(tool.Card)) (r tool.Result, err error) {
	defer caught(&err)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	return ready.Run(ctx, tell)
}

// fail closes a call with what the model may read of an error: its sentence if it is a Failure, a
// neutral one otherwise. What is ours goes to the log as the cause.
func (p *pipeline) fail(ctx context.Context, i int, c msg.Call, err error) {
	if s, ok := tool.Sentence(err); ok {
		p.malformed[i] = slices.ContainsFunc(malformed, func(f *tool.Failure) bool { return errors.Is(err, f) })
		p.close(i, c, failed(s), nil)
		return
	}
	if ctx.Err() != nil {
		s, _ := tool.Sentence(Cancelled.With("name", c.Name))
		p.close(i, c, failed(s), nil)
		return
	}
	s, _ := tool.Sentence(Broken.With("name", c.Name))
	p.close(i, c, failed(s), err)
}

func (p *pipeline) close(i int, c msg.Call, r tool.Result, cause error) {
	limit := p.table.by[c.Name].spec.Cap
	if limit == 0 {
		limit = backstop
	}
	r.Blocks = readable(r.Blocks, limit)
	p.results[i] = r
	f := proto.Closed{Call: c.ID, Result: r}
	if cause != nil {
		f.Cause = cause.Error()
	}
	p.errs[i] = p.desk.Say(f)
}

func failed(s string) tool.Result {
	r := tool.Text(s)
	r.Failed = true
	return r
}

// readable makes blocks safe to send: valid UTF-8, never empty, within the limit. Tools do this
// themselves, in better words; no tool that forgets may break a conversation for good.
func readable(in msg.Blocks, limit int) msg.Blocks {
	var out msg.Blocks
	for _, b := range in {
		if t, ok := b.(msg.Text); ok {
			if t.Text == "" {
				continue
			}
			t.Text = strings.ToValidUTF8(t.Text, "\uFFFD")
			if len(t.Text) > limit {
				cut := limit
				for cut > 0 && !utf8.RuneStart(t.Text[cut]) {
					cut--
				}
				t.Text = fmt.Sprintf("%s\n[output cut at %d bytes]", t.Text[:cut], limit)
			}
			b = t
		}
		out = append(out, b)
	}
	if out == nil {
		out = msg.Blocks{msg.Text{Text: "[no output]"}}
	}
	return out
}

func caught(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("panic: %v\n%s", x, debug.Stack())
	}
}

func quoteName(s string) string { return fmt.Sprintf("%q", clip(s)) }

// clip keeps a foreign name to a length that fits into a sentence.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
