package print

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

// View draws a run for somebody who watches: what the model says, its calls, their diffs and the
// first lines of their results.
type View struct {
	w     io.Writer
	paint paint
	calls []*drawn // opened and not drawn yet, in call order
	begun bool     // something was drawn

	answer string // of the turn that runs
	driven bool   // by a goal: its answer is not the run's, unless the goal is complete
}

// drawn is a call on its way to being drawn.
type drawn struct {
	opened proto.Opened
	closed *proto.Closed
}

// NewView draws on w.
func NewView(w io.Writer, color bool) *View {
	return &View{w: w, paint: paint(color)}
}

// Show draws one event. Facts of a kind it has no picture for leave nothing.
func (v *View) Show(e proto.Event) error {
	switch f := e.Fact.(type) {
	case proto.Said:
		return v.said(f)
	case proto.Goal:
		v.driven = f.Active() || v.driven && !f.None()
		v.begun = true
		_, err := fmt.Fprintf(v.w, "\n%s %s\n", v.paint.dim("◎"), clip(Clean(oneRow(goalRow(f))), wide))
		return err
	case proto.Ended:
		text := v.answer
		v.answer = ""
		if v.driven && text != "" {
			return v.words(text)
		}
	case proto.Opened:
		v.calls = append(v.calls, &drawn{opened: f})
	case proto.Closed:
		for _, c := range v.calls {
			if c.opened.Call == f.Call {
				c.closed = &f
			}
		}
		return v.flush()
	}
	return nil
}

// flush draws the calls that have ended. Calls that ran together are drawn in the order in which
// they were made, whichever ended first.
func (v *View) flush() error {
	for len(v.calls) > 0 && v.calls[0].closed != nil {
		c := v.calls[0]
		v.calls = v.calls[1:]
		if err := v.closed(c.opened, *c.closed); err != nil {
			return err
		}
	}
	return nil
}

// said shows what the model says beside its calls; an answer without calls is the run's own output,
// or that of one of a goal's turns.
func (v *View) said(f proto.Said) error {
	text := strings.TrimSpace(f.Message.Blocks.Text())
	if f.Message.Role != msg.Assistant {
		return nil
	}
	// What was said before jobs reported is not the answer after all, and was for the same reader.
	if before := v.answer; before != "" {
		v.answer = ""
		if err := v.words(before); err != nil {
			return err
		}
	}
	if len(f.Message.Blocks.Calls()) == 0 {
		v.answer = text
		return nil
	}
	if text == "" {
		return nil
	}
	return v.words(text)
}

func (v *View) words(text string) error {
	v.begun = true
	_, err := fmt.Fprintf(v.w, "\n%s %s\n", v.paint.dim("◆"), Clean(text))
	return err
}

func goalRow(g proto.Goal) string {
	row := "goal " + string(g.Status) + ": " + g.Objective
	if g.Status == proto.GoalBlocked {
		row = "goal blocked: " + g.Why
	}
	return row
}

func (v *View) closed(o proto.Opened, f proto.Closed) error {
	v.begun = true
	head := v.paint.call(Clean(oneRow(o.Plan.Title)))
	card := f.Result.Card
	if card != nil && card.Kind == tool.CardDiff {
		head += v.paint.dim(fmt.Sprintf(" · +%d -%d", card.Added, card.Removed))
	}
	if _, err := fmt.Fprintf(v.w, "\n%s\n", head); err != nil {
		return err
	}
	if card != nil && card.Kind == tool.CardDiff {
		_, err := io.WriteString(v.w, v.diff(card.Text))
		return err
	}
	text := f.Result.Blocks.Text()
	if card != nil && card.Kind == tool.CardText && card.Text != "" {
		text = card.Text // what the tool says to people
	}
	_, err := io.WriteString(v.w, v.result(text, f.Result.Failed))
	return err
}

// shown is how many rows of a result are drawn, and how many characters of each.
const shown, wide = 3, 120

func (v *View) result(text string, failed bool) string {
	rows := strings.Split(strings.TrimRight(Clean(text), "\n"), "\n")
	more := 0
	if len(rows) > shown {
		more = len(rows) - (shown - 1)
		rows = rows[:shown-1]
	}
	var b strings.Builder
	lead := "  ⎿ "
	for _, row := range rows {
		row = clip(row, wide)
		if failed {
			row = v.paint.red(row)
		}
		b.WriteString(v.paint.dim(lead) + row + "\n")
		lead = "    "
	}
	if more > 0 {
		b.WriteString(v.paint.dim(fmt.Sprintf("    … +%d lines", more)) + "\n")
	}
	return b.String()
}

func (v *View) diff(hunks string) string {
	var b strings.Builder
	for _, row := range strings.Split(strings.TrimRight(Clean(hunks), "\n"), "\n") {
		row = clip(row, wide)
		switch {
		case strings.HasPrefix(row, "@@"):
			row = v.paint.dim(row)
		case strings.HasPrefix(row, "+"):
			row = v.paint.green(row)
		case strings.HasPrefix(row, "-"):
			row = v.paint.red(row)
		}
		b.WriteString("    " + row + "\n")
	}
	return b.String()
}

func oneRow(s string) string { return strings.Join(strings.Fields(s), " ") }

func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// paint colours, or does not.
type paint bool

func (p paint) with(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) dim(s string) string   { return p.with("2", s) }
func (p paint) red(s string) string   { return p.with("31", s) }
func (p paint) green(s string) string { return p.with("32", s) }

// call sets a call's title: dim brackets, the tool's name bold cyan, the rest cyan.
func (p paint) call(title string) string {
	inner, ok := strings.CutPrefix(title, "[")
	if !ok || !strings.HasSuffix(inner, "]") {
		return p.with("36", title)
	}
	name, rest, _ := strings.Cut(strings.TrimSuffix(inner, "]"), " ")
	if rest != "" {
		rest = " " + rest
	}
	return p.dim("[") + p.with("1;36", name) + p.with("36", rest) + p.dim("]")
}
