package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/store"
)

// maxMessage bounds a message from standard input, in bytes. A model's window ends long before.
const maxMessage = 16 << 20

// run is jig run: one message and its answer, since there is no screen yet.
func run(ctx context.Context, w World, o Options) error {
	if o.Debug {
		return debug(w, o)
	}
	if !o.headless() {
		return interactive(ctx, w, o)
	}
	before := print.FailedBefore("", o.Model, "")
	err := headless(ctx, w, o, &before)
	var e *ended
	var u *usageError
	if err == nil || errors.As(err, &e) || errors.As(err, &u) || o.Format == string(print.Text) {
		return err
	}
	// Whoever reads reports gets one of every run that failed, also of one that had no session yet.
	report := before
	report.Error = strings.Join(strings.Fields(err.Error()), " ")
	if errors.Is(err, context.Canceled) {
		report.Error = "interrupted"
	}
	if e := report.Write(print.Options{Format: print.Format(o.Format), Out: w.Out}); e != nil {
		return e
	}
	return err
}

// interactive is the start of a session with a person. What it asks holds for later runs.
func interactive(ctx context.Context, w World, o Options) error {
	if !w.InTerm || !w.OutTerm {
		if err := unknown(w, o); err != nil {
			return err
		}
		return usagef("an interactive session needs a terminal; use -m TEXT, or -m - for piped input")
	}
	s, err := look(w, o.Config, o.Trust)
	if err != nil {
		return err
	}
	w.In = answers(w)
	if err := askTrust(w, s); err != nil {
		return err
	}
	if err := unknown(w, o); err != nil {
		return err
	}
	if s, err = look(w, o.Config, o.Trust); err != nil { // what is trusted by now counts
		return err
	}
	if isFirst(w, s, o) {
		if err := firstStart(ctx, w, s); err != nil {
			return err
		}
	}
	return usagef(`this build has no screen yet: use jig run -m "…", or jig demo to see it work`)
}

// unknown says that there is no agent of the name that was given. A mistyped command is taken for an
// agent, and to be told about terminals would not help. What a broken configuration holds is not
// known, so nothing is said then.
func unknown(w World, o Options) error {
	s, err := look(w, o.Config, o.Trust)
	if err != nil || o.Agent == "" && o.Persona == "" {
		return err
	}
	cfg, _, err := config.Load(config.Input{Sources: s.sources, Env: s.env})
	if err == nil {
		_, err = choose(s, cfg, o)
	}
	var u *usageError
	if errors.As(err, &u) {
		return err
	}
	return nil
}

// headless is one message and its answer. known is told what is known of the run before it has a
// session.
func headless(ctx context.Context, w World, o Options, known *print.Report) error {
	if o.NoSave && modelStarted(w) { // what it cost would be in no usage
		return refusedHere("--no-save")
	}
	text, err := message(w, o.Message)
	if err != nil {
		return err
	}
	keep := startSaving(w, o)
	defer keep.end(w)
	s, cfg, err := load(w, o)
	if err != nil {
		return err
	}
	p, err := prepare(w, s, cfg, o)
	if err != nil {
		return err
	}
	if err := goalNeedsTools(o, p); err != nil {
		return err
	}
	first := proto.Command(proto.Submit{Text: text})
	if o.HasGoal {
		first = proto.SetGoal{Objective: o.Goal, Text: text}
	}
	id, log := keep.begin(p)
	defer context.AfterFunc(ctx, keep.hurry)()
	defer w.hint(id, o)
	return launch{w, o, s, cfg, p, known}.run(ctx, &opening{id: id, log: log, db: keep.db, commands: []proto.Command{first}, turn: true})
}

// launch is a headless run with all that is known before its session opens.
type launch struct {
	w     World
	o     Options
	s     *survey
	cfg   *config.Config
	p     *plan
	known *print.Report
}

// opening is the session that is to be run: a new one, or one that goes on.
type opening struct {
	id       string
	log      session.Store // nil keeps nothing
	db       func() (*store.DB, error)
	old      []proto.Fact
	commands []proto.Command
	turn     bool // the last one begins a turn

	// begin fills in the session once all else is known to work, nil where it is there already.
	begin     func(*opening) error
	untouched bool // nothing of what it was told was done
}

// run opens the session, tells it what it is to do, and writes what comes back.
func (l launch) run(ctx context.Context, at *opening) error {
	w, o, p := l.w, l.o, l.p
	l.known.Provider, l.known.Model = p.resolved.ProviderName, p.resolved.ID
	for _, x := range p.warnings {
		w.warn("%s", x)
	}
	m, err := openModel(w, p.resolved)
	if err != nil {
		return err
	}
	if err := p.budget.open(); err != nil {
		return err
	}
	defer p.budget.close(w, o)
	recorder, err := recordTo(w, l.s, l.cfg, p, o)
	if err != nil {
		return err
	}
	defer closeRecording(w, recorder, o)
	at.untouched = true
	if at.begin != nil {
		if err := at.begin(at); err != nil {
			return err
		}
	}
	beside, log := transcribe(w, at.id, at.log, at.db)
	defer beside.end(w)
	h := host.New()
	defer closeHost(w, h)
	setup := p.setup(m, true)
	setup.MaxWait = o.MaxWait
	setup.ID, setup.Log, setup.Old = at.id, log, at.old
	setup.Today = func() string { return today(w) }
	setup.Mask = masks(l.cfg, p)
	tapes(w, l.s, l.cfg, p, m, recorder, &setup)
	id, err := h.Open(setup)
	if err != nil {
		return err
	}
	before := h.Facts(id)
	defer func() { at.untouched = h.Facts(id) == before }()
	for len(at.commands) > 1 || len(at.commands) == 1 && !at.turn {
		if err := h.Do(ctx, id, at.commands[0]); err != nil {
			return err
		}
		at.commands = at.commands[1:]
	}
	if !at.turn {
		l.summedUp(h, id, uint64(len(at.old)))
		return nil
	}
	opened := h.Facts(id)
	report, err := print.Run(ctx, h, id, "", print.Options{Begin: at.commands[0], After: uint64(len(at.old)), Opened: opened, Session: at.id,
		Provider: p.began.Provider, Model: p.began.Model, Format: print.Format(o.Format), Out: w.Out, Err: w.Err,
		Watch: w.ErrTerm && o.Format == string(print.Text), Color: w.color(w.ErrTerm), Clean: w.OutTerm})
	if err != nil {
		return err
	}
	return outcome(w, report)
}

// summedUp tells a person what became of a session that was summed up, where no turn follows that would.
func (l launch) summedUp(h *host.Host, id string, after uint64) {
	known, cancel := context.WithCancel(context.Background())
	cancel() // nothing more is waited for
	for e := range h.Watch(known, id, after) {
		if f, ok := e.Fact.(proto.Compacted); ok {
			fmt.Fprintf(l.w.Err, "jig: %s\n", print.Shortened(f))
		}
	}
}

// closeHost ends what runs and says what goes on all the same.
func closeHost(w World, h *host.Host) {
	for _, note := range h.Close() {
		w.warn("%s", print.Clean(note))
	}
}

// outcome tells a person how a run that did not go well ended, and gives the exit code.
func outcome(w World, r print.Report) error {
	switch r.Why {
	case proto.Done:
		if r.Reply == "" {
			w.warn("the model ended without an answer")
		}
		if r.Note != "" {
			w.warn("%s", print.Clean(r.Note))
		}
		return nil
	case proto.Interrupted:
		fmt.Fprintln(w.Err, "jig: interrupted")
		return &ended{exitInterrupted}
	}
	fmt.Fprintf(w.Err, "jig: %s\n", print.Clean(r.Error))
	return &ended{exitFailed}
}

// message is what -m says, or standard input for "-".
func message(w World, m string) (string, error) {
	if m != "-" {
		return m, nil
	}
	data, err := io.ReadAll(io.LimitReader(w.In, maxMessage+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("standard input cannot be read: %w", err)
	case len(data) > maxMessage:
		return "", usagef("the message on standard input is larger than %d MB", maxMessage>>20)
	case strings.TrimSpace(string(data)) == "":
		return "", usagef("-m -: standard input is empty; the message must not be")
	}
	return string(data), nil
}
