package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jig/internal/config"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/store"
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
		Args: takes(0, 1, "one session at most"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Session = args[0]
			}
			o.HasMessage, o.HasCompact, o.HasGoal = c.Flags().Changed("message"), c.Flags().Changed("compact"), c.Flags().Changed("goal")
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
	f.StringVar(&o.Compact, "compact", "", "first sum up the older part of the conversation; --compact=`TEXT` says what to keep")
	f.Lookup("compact").NoOptDefVal = " "
	f.StringVarP(&o.Model, "model", "M", "", "go on with this `model`: provider:id, or the name of a models: entry")
	f.StringVar(&o.Persona, "persona", "", "go on as this persona or agent: `ID` or ID:EFFORT")
	headlessFlags(c, &o.Options)
	configFlags(c, &o.Options)
	return c
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
	if modelStarted(w) && (o.Rewind > 0 || o.HasCompact) {
		return refusedHere("changing a session")
	}
	db, id, err := open(ctx, w, o)
	if err != nil {
		return err
	}
	defer closeStore(w, db)
	defer context.AfterFunc(ctx, db.Hurry)()
	if isFile(o.Session) && !o.asks() { // it was only to be brought here
		_, err := fmt.Fprintln(w.Out, id)
		return err
	}
	if o.Fork {
		if id, err = fork(db, id); err != nil {
			return err
		}
	}
	log, facts, err := db.Take(id)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the lock goes with the process in any case
	return goOn(ctx, w, o, log, facts, text)
}

// open finds the session that a command line means.
func open(ctx context.Context, w World, o resumeOptions) (*store.DB, string, error) {
	if isFile(o.Session) {
		return takeIn(w, o)
	}
	db, err := openStore(w)
	if err != nil {
		return nil, "", err
	}
	id, err := chosen(ctx, w, db, o)
	if err != nil {
		_ = db.Close()
		return nil, "", err
	}
	return db, id, nil
}

// asks says that something is to be done with the session.
func (o resumeOptions) asks() bool { return o.HasMessage || o.Retry || o.Rewind > 0 || o.HasCompact }

// fork makes a copy of a session and gives its id.
func fork(db *store.DB, id string) (string, error) {
	copied := store.NewID()
	return copied, db.Copy(id, copied, 0)
}

// goOn starts what was asked for on a session's facts.
func goOn(ctx context.Context, w World, o resumeOptions, log *store.Session, facts []proto.Fact, text string) error {
	st := session.Fold(facts)
	commands, back, err := o.commands(facts, text)
	if err != nil {
		return err
	}
	if o.Rewind > 0 && len(commands) == 1 {
		return rewindAlone(w, log, facts, commands[0].(proto.Rewind), back)
	}
	if len(commands) == 0 {
		return usagef(`this build has no screen yet: say something with -m "…", or use --retry, --rewind N or --compact`)
	}
	if o.Goes && st.Goal.None() {
		return noGoal(log.ID())
	}
	here := w
	if w.Cwd, err = folderOf(st.Began); err != nil {
		return err
	}
	run := o.Options
	run.HasMessage = true
	if run.Persona == "" {
		run.Agent = st.Began.Agent
	}
	if run.Model == "" && run.Persona == "" {
		run.Model = st.Began.Ref
	}
	if run.Config == "" {
		if run.Config, err = sameConfig(st.Began); err != nil {
			return err
		}
	}
	s, cfg, err := load(w, run)
	if err == nil {
		err = believe(w, here, o.Options, s, cfg, st.Began)
	}
	if err != nil {
		return err
	}
	p, err := prepareOld(w, s, cfg, run, st)
	if err != nil {
		return err
	}
	if err := goalNeedsTools(run, p); err != nil {
		return err
	}
	if back != "" {
		fmt.Fprintf(w.Err, "jig: went back to before: %s\n", print.Clean(firstLine(back)))
	}
	defer w.hint(log.ID(), run)
	return launch{w, run, s, cfg, p, &print.Report{}}.run(ctx, opening{id: log.ID(), log: log, db: log.DB, old: facts, commands: commands, turn: o.headless() || o.Retry || o.Goes})
}

// rewindAlone needs no model and no configuration. The message is printed, to be said again in other
// words.
func rewindAlone(w World, log *store.Session, facts []proto.Fact, c proto.Rewind, back string) error {
	line := session.NewLine(log, facts...)
	if err := line.Say(append(session.Resume(line.State()), proto.Rewound(c))...); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w.Out, back)
	return err
}

// sameConfig is the file that stood in the place of the configuration, if it still says the same. It
// may have been written by a model's command since, and what it says was believed.
func sameConfig(b proto.Began) (string, error) {
	if b.Config == "" {
		return "", nil
	}
	data, err := readSmall(b.Config, maxFile)
	if err != nil {
		return "", fmt.Errorf("the session was begun with -c %s, which cannot be read: %w", config.Shown(b.Config), cause(err))
	}
	if sumOf(data) != b.ConfigSum {
		return "", changedConfig(b)
	}
	return b.Config, nil
}

func changedConfig(b proto.Began) error {
	return usagef("the session was begun with -c %s, which has changed since: look at it and give -c again", config.Shown(b.Config))
}

func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// flagFile is the file given with -c, and the checksum of what it holds.
func (s *survey) flagFile() (path, sum string) {
	for _, x := range s.sources {
		if x.Level == config.Flag {
			return x.Path, sumOf(x.Data)
		}
	}
	return "", ""
}

// commands are what the session is told, nil when that is nothing. back is the message that a rewind
// takes away.
func (o resumeOptions) commands(facts []proto.Fact, text string) (out []proto.Command, back string, err error) {
	if o.Rewind > 0 {
		said := session.Spoken(facts)
		if o.Rewind > len(said) {
			return nil, "", usagef("--rewind %d: only %d messages of yours stand in the session", o.Rewind, len(said))
		}
		m := said[len(said)-o.Rewind]
		out, back = append(out, proto.Rewind{Before: m.Seq}), m.Text
	}
	if o.HasCompact {
		out = append(out, proto.Compact{Guidance: strings.TrimSpace(o.Compact)})
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

// folderOf is where a session's tools act.
func folderOf(b proto.Began) (string, error) {
	dir := b.Cwd
	if dir == "" {
		dir = b.Root
	}
	st, err := os.Stat(dir)
	if err != nil || !st.IsDir() {
		return "", fmt.Errorf("the session's folder %s is gone: put it back, or take the session elsewhere with jig export --to FILE.jsonl and jig resume FILE.jsonl there", config.Shown(dir))
	}
	return dir, nil
}

// prepareOld is prepare for a session that goes on: what every request begins with stays the same, byte
// for byte, unless another persona was asked for.
func prepareOld(w World, s *survey, cfg *config.Config, o Options, st session.State) (*plan, error) {
	p, err := prepare(w, s, cfg, o)
	if err != nil {
		return nil, fmt.Errorf("the session cannot go on as it was: %w", err)
	}
	if p.name == st.Began.Agent {
		p.turn.Send.System, p.began.System, p.began.Date = st.Began.System, st.Began.System, st.Began.Date
		if o.Persona == "" && o.Model == st.Began.Ref {
			p.turn.Send.Reasoning, p.began.Reasoning = st.Began.Reasoning, st.Began.Reasoning
		}
	}
	return p, nil
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
