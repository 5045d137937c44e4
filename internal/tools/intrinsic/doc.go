// Package intrinsic is the tools that no configuration chooses: jig_docs, which reads the manual, and
// the goal tools. It keeps no goal itself: whoever runs the session does, and is reached through a
// Keeper. It starts nothing and touches no file.
package intrinsic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jig/internal/tool"
)

// definition is one tool: what is said of it, and how a call of it is prepared.
type definition struct {
	name, doc string
	params    tool.Params
	changes   bool            // it changes something: never together with others
	failures  []*tool.Failure // its own ones; those of arguments come on top
	prepare   func(tool.Args) (step, error)
}

// Has reports whether a tool is one of these. None of them does any work.
func Has(name string) bool {
	return slices.Contains([]string{"jig_docs", "get_goal", "create_goal", "update_goal"}, name)
}

// step is a call that was checked.
type step struct {
	subject string // what the title names, "" for nothing
	run     func() (tool.Result, error)
}

// owner offers a few definitions.
type owner struct {
	tools []definition
	specs []tool.Spec
}

func newOwner(tools ...definition) tool.Owner {
	o := &owner{tools: tools}
	for _, d := range tools {
		o.specs = append(o.specs, d.spec())
	}
	return o
}

// outputCap is the most bytes of a result.
const outputCap = 64 << 10

func (d definition) spec() tool.Spec {
	s := tool.Spec{Name: d.name, Doc: strings.TrimSpace(d.doc), Input: d.params.Schema(), Show: tool.Group, Together: "always", Cap: outputCap}
	if d.changes {
		s.Together = "never"
	}
	s.Failures = append(s.Failures, argumentFailures(d.params)...)
	s.Failures = append(s.Failures, d.failures...)
	return s
}

// argumentFailures are those that a call's arguments can come to.
func argumentFailures(ps tool.Params) (out []*tool.Failure) {
	if len(ps) == 0 {
		return []*tool.Failure{tool.NotObject, tool.Unknown}
	}
	for _, f := range tool.ArgumentFailures {
		if f != tool.Missing || slices.ContainsFunc(ps, func(p tool.Param) bool { return p.Required }) {
			out = append(out, f)
		}
	}
	return out
}

// Specs says what the tools are.
func (o *owner) Specs() []tool.Spec { return o.specs }

// Prepare decodes and checks a call. What depends on the goal is checked when the call runs.
func (o *owner) Prepare(_ context.Context, c tool.Call) (tool.Prepared, error) {
	for _, d := range o.tools {
		if d.name == c.Name {
			return d.ready(c)
		}
	}
	return tool.Prepared{}, fmt.Errorf("intrinsic: no tool %q in this set", c.Name)
}

func (d definition) ready(c tool.Call) (tool.Prepared, error) {
	args, err := d.params.Decode(c.Args)
	if err != nil {
		return tool.Prepared{}, err
	}
	st, err := d.prepare(args)
	if err != nil {
		return tool.Prepared{}, err
	}
	title := d.name
	if st.subject != "" {
		title += " " + clip(oneLine(st.subject))
	}
	return tool.Prepared{
		Plan: tool.Plan{Title: "[" + title + "]", Together: !d.changes},
		Run: func(ctx context.Context, _ func(tool.Card)) (tool.Result, error) {
			if err := ctx.Err(); err != nil {
				return tool.Result{}, err
			}
			return st.run()
		},
	}, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip keeps foreign words to a length that fits into a title or a sentence.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
