package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jig/internal/host"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/session"
)

// resumeOptions are what a session goes on with.
type resumeOptions struct {
	Options
	Session    string // an id's beginning, or a file; "" is chosen by a person
	Last       bool   // the newest of this project
	Rewind     int    // messages of a person to go back
	Retry      bool
	Fork       bool
	Compact    string // guidance
	HasCompact bool
	Goes       bool // a blocked goal goes on
}

func resumeCommand(w World) *cobra.Command {
	o := resumeOptions{}
	c := &cobra.Command{
		Use:   "resume [session]",
		Short: "go on with a session",
		Long: "Goes on with a session of jig list sessions, or of a file that jig export wrote. It keeps its agent, model and\n" +
			"tools; flags change them from here on. A few letters of its id are enough.",
		Args: cobra.ArbitraryArgs, // counted once it is known which of them is the guidance
		RunE: func(c *cobra.Command, args []string) error {
			o.HasMessage, o.HasCompact, o.HasGoal = c.Flags().Changed("message"), c.Flags().Changed("compact"), c.Flags().Changed("goal")
			args = o.guidance(args)
			if err := takes(0, 1, "one session at most")(c, args); err != nil {
				return err
			}
			if len(args) == 1 {
				o.Session = args[0]
			}
			if err := o.check(c.Flags()); err != nil {
				return err
			}
			return resume(c.Context(), w, o)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&o.Message, "message", "m", "", "say this `text` and end with the answer (- reads standard input)")
	f.StringVar(&o.Goal, "goal", "", goalUsage)
	f.BoolVar(&o.Last, "last", false, "the newest session of this project")
	f.IntVar(&o.Rewind, "rewind", 0, "first go back to before the `N`th last message of yours, and print that message")
	f.BoolVar(&o.Retry, "retry", false, "run the last turn again from where it broke off")
	f.BoolVar(&o.Fork, "fork", false, "go on in a copy, and leave the session as it is")
	f.Var(guidanceFlag{&o.Compact}, "compact", "first sum up the older part of the conversation; `[TEXT]`, after the session, says what to keep")
	f.Lookup("compact").NoOptDefVal = guidanceFlag{}.bare()
	f.StringVarP(&o.Model, "model", "M", "", "go on with this `model`: provider:id, or the name of a models: entry")
	f.StringVar(&o.Persona, "persona", "", "go on as this persona or agent: `ID` or ID:EFFORT")
	headlessFlags(c, &o.Options)
	configFlags(c, &o.Options)
	return c
}

// guidanceFlag is a flag that may stand alone, or with a text behind an equals sign.
type guidanceFlag struct{ to *string }

// bare is what pflag gives to a flag that stands alone, and how it knows that one may.
func (guidanceFlag) bare() string   { return "true" }
func (guidanceFlag) String() string { return "" }

// Type makes the help leave out what a flag that stands alone stands for.
func (guidanceFlag) Type() string { return "bool" }

func (f guidanceFlag) Set(s string) error {
	if s == f.bare() {
		s = ""
	}
	*f.to = strings.TrimSpace(s)
	return nil
}

// guidance takes the text for --compact from the arguments, where it stands behind the session.
func (o *resumeOptions) guidance(args []string) []string {
	session := 1
	if o.Last {
		session = 0
	}
	if o.HasCompact && o.Compact == "" && len(args) == session+1 {
		o.Compact = strings.TrimSpace(args[session])
		return args[:session]
	}
	return args
}

// check refuses what cannot be meant together.
func (o resumeOptions) check(f *pflag.FlagSet) error {
	switch {
	case o.Rewind < 0 || f.Changed("rewind") && o.Rewind == 0:
		return usagef("--rewind must be 1 or more, got %d", o.Rewind)
	case o.Retry && o.HasGoal:
		return usagef("--retry and --goal cannot both be given: a goal begins a turn of its own")
	case o.Retry && o.HasMessage:
		return usagef("--retry and -m cannot both be given: a message begins a turn of its own")
	case o.Retry && o.Rewind > 0:
		return usagef("--rewind and --retry cannot both be given: what is rewound is gone; say it again with -m")
	case o.Last && o.Session != "":
		return usagef("a session (%s) and --last cannot both be given", o.Session)
	}
	inner := o.Options
	if o.Retry || o.Goes { // it ends by itself, as a message does
		inner.HasMessage, inner.Message = true, "again"
	}
	return inner.check(f)
}

func resume(ctx context.Context, w World, o resumeOptions) error {
	text := ""
	if o.HasMessage {
		var err error
		if text, err = message(w, o.Message); err != nil {
			return err
		}
	}
	switch {
	case !modelStarted(w):
	case o.Rewind > 0 || o.HasCompact:
		return refusedHere("changing a session")
	case isFile(o.Session):
		return refusedHere("taking in a session from a file")
	}
	f, err := find(ctx, w, o)
	if err != nil {
		return err
	}
	defer f.close(w)
	if isFile(o.Session) && !o.asks() { // it was only to be brought here
		if err := f.make(w); err != nil {
			return err
		}
		f.tell(w)
		_, err := fmt.Fprintln(w.Out, f.id)
		return err
	}
	return goOn(ctx, w, o, f, text)
}

// asks says that something is to be done with the session.
func (o resumeOptions) asks() bool {
	return o.HasMessage || o.HasGoal || o.Goes || o.Retry || o.Rewind > 0 || o.HasCompact
}

// goOn starts what was asked for on a session's facts. A session is copied or brought here last, once
// all else is known to work: what is refused leaves none behind.
func goOn(ctx context.Context, w World, o resumeOptions, f *found, text string) error {
	st := session.Fold(f.facts)
	if err := allowed(w, st.Began); err != nil {
		return err
	}
	commands, back, err := o.commands(f.facts, text)
	if err != nil {
		return err
	}
	if o.Rewind > 0 && len(commands) == 1 {
		return rewindAlone(w, f, commands[0].(proto.Rewind), back)
	}
	if len(commands) == 0 {
		return usagef(`this build has no screen yet: say something with -m "…", or use --retry, --rewind N or --compact`)
	}
	if o.Goes && st.Goal.None() {
		return noGoal(f.name())
	}
	if o.Retry { // a summary that comes first would be paid for nothing
		if err := host.MayTryAgain(append(slices.Clone(f.facts), session.Resume(st)...)); err != nil {
			return err
		}
	}
	l, err := ready(w, o, st.Began)
	if err != nil {
		return err
	}
	if back != "" {
		fmt.Fprintf(w.Err, "jig: went back to before: %s\n", print.Clean(firstLine(back)))
	}
	at := &opening{commands: commands, turn: o.headless() || o.Retry || o.Goes, begin: func(at *opening) error {
		if err := f.make(w); err != nil {
			return err
		}
		at.id, at.log, at.db, at.old = f.id, f.log, f.log.DB, f.facts
		return nil
	}}
	err = l.run(ctx, at)
	if err != nil && at.untouched && f.drop(w) {
		return err
	}
	f.tell(w)
	w.hint(f.id, l.o)
	return err
}

// allowed refuses a model's command a session that such a command did not begin here itself: with
// another it would go on in another place or with another configuration, or put words into the mouth
// of a person.
func allowed(w World, b proto.Began) error {
	if modelStarted(w) && (!b.Nested || b.Config != "" || b.Root != projectRoot(w)) {
		return refusedHere("going on with a session of a person or of another project")
	}
	return nil
}

// rewindAlone needs no model and no configuration. The message is printed, to be said again in other
// words.
func rewindAlone(w World, f *found, c proto.Rewind, back string) error {
	if err := f.make(w); err != nil {
		return err
	}
	f.tell(w)
	line := session.NewLine(f.log, f.facts...)
	if err := line.Say(append(session.Resume(line.State()), proto.Rewound(c))...); err != nil {
		return err
	}
	if w.OutTerm {
		back = print.Clean(back)
	}
	_, err := fmt.Fprintln(w.Out, back)
	return err
}

// commands are what the session is told, nil when that is nothing. back is the message that a rewind
// takes away.
func (o resumeOptions) commands(facts []proto.Fact, text string) (out []proto.Command, back string, err error) {
	if o.Rewind > 0 {
		said := session.Spoken(facts)
		if o.Rewind > len(said) {
			return nil, "", usagef("--rewind %d: %s", o.Rewind, standing(len(said)))
		}
		m := said[len(said)-o.Rewind]
		out, back = append(out, proto.Rewind{Before: m.Seq}), m.Text
	}
	if o.HasCompact {
		out = append(out, proto.Compact{Guidance: o.Compact})
	}
	switch {
	case o.Goes:
		out = append(out, proto.ResumeGoal{})
	case o.HasGoal:
		out = append(out, proto.SetGoal{Objective: o.Goal, Text: text})
	case o.HasMessage:
		out = append(out, proto.Submit{Text: text})
	case o.Retry:
		out = append(out, proto.TryAgain{})
	}
	return out, back, nil
}

// standing says how many messages of a person there are.
func standing(n int) string {
	switch n {
	case 0:
		return "no message of yours stands in the session"
	case 1:
		return "only 1 message of yours stands in the session"
	}
	return fmt.Sprintf("only %d messages of yours stand in the session", n)
}

// isFile says that a session was named by a file and not by its id, in which there are letters and
// digits alone.
func isFile(name string) bool { return strings.ContainsAny(name, `./\`) }

func firstLine(s string) string {
	line, more, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if more != "" {
		line += " …"
	}
	return line
}
