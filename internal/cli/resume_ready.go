package cli

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"

	"jig/internal/config"
	"jig/internal/print"
	"jig/internal/proto"
)

// ready makes all that a session goes on with but the session.
func ready(w World, o resumeOptions, b proto.Began) (launch, error) {
	here, run := w, o.Options
	var err error
	if w.Cwd, err = folderOf(b); err != nil {
		return launch{}, err
	}
	run.HasMessage = true
	if run.Config == "" {
		if run.Config, err = sameConfig(b); err != nil {
			return launch{}, err
		}
	}
	s, cfg, err := load(w, run)
	if err == nil {
		err = believe(w, here, o.Options, s, cfg, b)
	}
	if err == nil {
		run, err = asBefore(w, cfg, run, b)
	}
	if err != nil {
		return launch{}, err
	}
	p, err := prepare(w, s, cfg, run)
	if err != nil {
		return launch{}, fmt.Errorf("the session cannot go on as it was: %w", err)
	}
	if p.name == b.Agent {
		p.keep(w, o.Options, b)
	}
	return launch{w, run, s, cfg, p, &print.Report{}}, goalNeedsTools(run, p)
}

// asBefore fills in the agent and the model where the command line names none.
func asBefore(w World, cfg *config.Config, run Options, b proto.Began) (Options, error) {
	if run.Persona != "" {
		return run, nil
	}
	run.Agent = agentOf(cfg, b)
	if run.Model != "" {
		return run, nil
	}
	var err error
	run.Model, err = modelOf(w, cfg, b)
	return run, err
}

// agentOf is the session's agent. A plain chat that was begun without any is no agent either.
func agentOf(cfg *config.Config, b proto.Began) string {
	if _, err := cfg.Agent(b.Agent); err != nil && b.Agent == "default" && len(b.Tools) == 0 {
		return ""
	}
	return b.Agent
}

// modelOf names the session's model. The models: entry that named it counts, with its settings, as long
// as it still does.
func modelOf(w World, cfg *config.Config, b proto.Began) (string, error) {
	plain := b.Provider + ":" + b.Model
	is := func(ref string) error {
		r, err := cfg.ResolveModel(ref)
		if err == nil && (r.ProviderName != b.Provider || r.ID != b.Model) {
			err = fmt.Errorf("the models: entry of that name is another model now")
		}
		return err
	}
	if b.Ref != "" && is(b.Ref) == nil {
		return b.Ref, nil
	}
	if err := is(plain); err != nil {
		return "", usagef("the session's model %s cannot be had any more: %v; put it back into the configuration, or go on with another: -M MODEL", config.Shown(plain), err)
	}
	if b.Ref != "" {
		w.warn("the models: entry %s no longer is %s, with which the session goes on; -M changes the model", config.Shown(b.Ref), config.Shown(plain))
	}
	return plain, nil
}

// keep makes what every request begins with the same, byte for byte, as it was, and says where it
// cannot be. What tools there are is the configuration's to say, and never the log's.
func (p *plan) keep(w World, o Options, b proto.Began) {
	p.turn.Send.System, p.began.System, p.began.Date = b.System, b.System, b.Date
	if o.Persona == "" && o.Model == "" {
		p.turn.Send.Reasoning, p.began.Reasoning = b.Reasoning, b.Reasoning
	}
	var changes []string
	if some := without(p.began.Tools, b.Tools); len(some) > 0 {
		changes = append(changes, "new: "+strings.Join(some, ", "))
	}
	if some := without(b.Tools, p.began.Tools); len(some) > 0 {
		changes = append(changes, "gone: "+strings.Join(some, ", "))
	}
	if changes != nil {
		w.warn("the session's tools are those of the configuration now (%s)", strings.Join(changes, "; "))
	}
}

// without is what of some is not among others.
func without(some, others []string) (out []string) {
	for _, x := range some {
		if !slices.Contains(others, x) {
			out = append(out, x)
		}
	}
	return out
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
