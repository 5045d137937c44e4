package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"jig/internal/agent"
	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/money"
	"jig/internal/proto"
)

// Options is a command line, read. Every command takes what it needs of it.
type Options struct {
	Agent      string   // "" is default
	Commands   []string // what else could stand where Agent does
	Persona    string   // ID or ID:EFFORT
	Message    string
	HasMessage bool // -m was given
	Model      string
	System     string
	HasSystem  bool // -s was given
	Config     string
	MaxTurns   int
	Format     string
	Trust      bool
	MaxWait    time.Duration
	MaxCost    *money.Amount // more than 0; nil is no limit
	Debug      bool
	Record     string // a file; "" records nothing
	NoSave     bool
	Project    bool   // of this project alone
	Goal       string // an objective; "" is none
	HasGoal    bool   // --goal was given
}

// plan is what a session would be, before anything of it runs.
type plan struct {
	name     string // the agent's
	agent    config.Agent
	resolved config.Resolved
	turn     agent.Turn
	began    proto.Began
	places   places
	warnings []string
	budget   *budget
	goals    *host.Goals
	temp     string // the folder for what may be removed
}

// load makes one configuration of what was found and is believed.
func (s *survey) load(w World) (*config.Config, []config.Warning, error) {
	cfg, warnings, err := config.Load(config.Input{Sources: s.sources, Env: s.env})
	if cfg != nil && s.doubt(w, cfg) {
		return config.Load(config.Input{Sources: s.sources, Env: s.env})
	}
	return cfg, warnings, err
}

// load reads the configuration, says what was left out, and gives the errors.
func load(w World, o Options) (*survey, *config.Config, error) {
	s, err := look(w, o.Config, o.Trust)
	if err != nil {
		return nil, nil, err
	}
	cfg, warnings, err := s.load(w)
	if s.noPlaces != nil {
		nothing := ""
		if o.headless() && !o.NoSave {
			nothing = ", and no session is kept"
		}
		w.warn("%v; the user's own configuration is left out%s", s.noPlaces, nothing)
	}
	for _, text := range s.warnings {
		w.warn("%s", text)
	}
	for _, l := range s.untrusted() {
		if o.Config == "" || hasPersona(l) {
			w.warn("%s", l.say())
		}
	}
	for _, x := range warnings {
		w.warn("%s", x)
	}
	return s, cfg, err
}

func hasPersona(l level) bool {
	for _, f := range l.files {
		if f.Kind == config.PersonaFile {
			return true
		}
	}
	return false
}

// choose finds the agent and the model a command line means.
func choose(s *survey, cfg *config.Config, o Options) (*plan, error) {
	p := &plan{name: "default"}
	id, effort, _ := strings.Cut(o.Persona, ":")
	if o.Agent != "" {
		p.name = o.Agent
	}
	if id != "" {
		p.name = id
	}
	var err error
	p.agent, err = cfg.Agent(p.name)
	switch {
	case err != nil && o.Agent == "" && id == "" && o.Model != "":
		p.agent = config.Agent{} // a model named by hand needs no agent: a plain chat
	case err != nil && o.Agent == "" && id == "" && len(s.sources) == 0:
		return nil, errNothing
	case err != nil && o.Agent == "" && id == "":
		return nil, usagef("there is no agent named default: name one (%s), or add agents.default to a config file", names(cfg))
	case err != nil && strings.ContainsAny(o.Agent, " \n"):
		return nil, usagef("unknown agent %q; to send a message: jig -m TEXT", config.Shown(o.Agent))
	case err != nil && o.Agent != "" && o.Commands != nil:
		return nil, noSuch(o, cfg)
	case err != nil:
		return nil, usagef("%v", err)
	}
	ref := o.Model
	if ref == "" {
		refs := p.agent.ModelRefs()
		if len(refs) == 0 {
			return nil, usagef("no model chosen: set agents.%s.model in a config file, or pass -M provider:id", p.name)
		}
		ref = refs[0]
	}
	if p.resolved, err = cfg.ResolveModel(ref); err != nil {
		return nil, noModel(p.name, cfg, o, err)
	}
	return p, p.effort(effort)
}

// errNothing is what a first headless start is told. It never looks for servers or keys by itself.
var errNothing = errors.New(`no configuration found, so there is no model to ask
  to see jig work without a key:  jig demo
  to use a model:  jig config init, or  OPENAI_API_KEY=… jig -M openai:MODEL -m "…"`)

// noSuch is for a word that is neither a command nor an agent.
func noSuch(o Options, cfg *config.Config) error {
	return usagef("unknown agent or command %q%s (jig --help lists the commands, jig list the agents)",
		config.Shown(o.Agent), didYouMean(o.Agent, append(sortedKeys(cfg.Agents), o.Commands...)))
}

// noModel tells where a model was named that cannot be had. On the command line a name that does not
// exist is a mistake in the command line.
func noModel(agent string, cfg *config.Config, o Options, err error) error {
	if o.Model == "" {
		return fmt.Errorf("agents.%s.model: %w", agent, err)
	}
	provider, id, _ := strings.Cut(o.Model, ":")
	if _, entry := cfg.Models[o.Model]; entry || id != "" && id != "*" && contains(cfg.ProviderNames(), provider) {
		return fmt.Errorf("-M %s: %w", config.Shown(o.Model), err)
	}
	return usagef("-M: %v", err)
}

func names(cfg *config.Config) string {
	if len(cfg.Agents) == 0 {
		return "none is configured"
	}
	return "agents: " + strings.Join(sortedKeys(cfg.Agents), ", ")
}

// effort takes the reasoning level: the command line's, the agent's, the model's.
func (p *plan) effort(level string) error {
	switch {
	case level != "":
		levels := config.ReasoningLevels()
		if len(p.agent.AllowedReasoningLevels) > 0 {
			levels = p.agent.AllowedReasoningLevels
		}
		if !contains(levels, level) {
			return usagef("--persona: unknown reasoning level %q (want %s)%s", level, strings.Join(levels, ", "), didYouMean(level, levels))
		}
		p.turn.Send.Reasoning = level
	case p.agent.Reasoning != "":
		p.turn.Send.Reasoning = p.agent.Reasoning
	default:
		p.turn.Send.Reasoning = p.resolved.Reasoning
	}
	return nil
}

// prepare makes everything but the model's client.
func prepare(w World, s *survey, cfg *config.Config, o Options) (*plan, error) {
	p, err := choose(s, cfg, o)
	if err != nil {
		return nil, err
	}
	instructions, err := p.instructions(o)
	if err != nil {
		return nil, err
	}
	if p.agent.ContextWindow > 0 {
		p.resolved.ContextWindow = p.agent.ContextWindow
	}
	if p.budget, err = newBudget(w, s, o, p.resolved); err != nil {
		return nil, err
	}
	at := newPlace(w, s, cfg)
	at.budget = p.budget
	p.goals, p.temp = &host.Goals{}, at.temp
	owners, warnings := ownersOf(p.agent, at, p.goals)
	p.places = placesOf(owners)
	if !p.agent.Tools.Declared && len(warnings) > 1 {
		warnings = []string{fmt.Sprintf("%s: a persona that names no tools has all of the default ones; %d of them are not in this build (ignored)", p.agent.Pos, len(warnings))}
	}
	p.warnings = append(p.later(), warnings...)
	if p.turn.Tools, err = agent.Bind(owners...); err != nil {
		return nil, err
	}
	send := &p.turn.Send
	send.Provider, send.Model = p.resolved.ProviderName, p.resolved.ID
	send.Temperature, send.TopP = first(p.agent.Temperature, p.resolved.Temperature), first(p.agent.TopP, p.resolved.TopP)
	harness := !p.agent.PlainChat()
	send.System = host.Prompt(harness, surroundings(w, s, o), instructions)
	p.turn.Limits.Rounds = o.MaxTurns
	p.turn.Retry = patience(w, o)
	p.began = proto.Began{Agent: p.name, Provider: send.Provider, Model: send.Model, Ref: p.resolved.Name, Root: s.root, Tools: p.turn.Tools.Names(),
		System: send.System, Reasoning: send.Reasoning, Nested: modelStarted(w)}
	if real := realRoot(s.root); real != s.root {
		p.began.Real = real
	}
	if w.Cwd != s.root {
		p.began.Cwd = w.Cwd
	}
	p.began.Config, p.began.ConfigSum = s.flagFile()
	if harness {
		p.began.Date = today(w)
	}
	return p, nil
}

// later warns of what the agent's own settings ask for and this build does not have yet. Keys that
// only matter for something else that is missing, such as notify, say nothing of their own.
func (p *plan) later() []string {
	a := p.agent
	var out []string
	for _, x := range []struct {
		key   string
		asked bool
	}{
		{"mode", a.Mode == config.AgentMode || a.Mode == config.Bot},
		{"mcp_servers", len(a.MCPServers.List) > 0},
		{"skills", a.Skills.All || len(a.Skills.List) > 0},
		{"subagents", len(a.Subagents.Defined) > 0},
		{"environment", a.Environment != "" && a.Environment != "local"},
	} {
		if x.asked {
			out = append(out, fmt.Sprintf("%s: agents.%s.%s: not in this build (ignored)", a.At(x.key), p.name, x.key))
		}
	}
	return out
}

func surroundings(w World, s *survey, o Options) host.Surroundings {
	out := host.Surroundings{Root: s.root, Platform: fmt.Sprintf("%s (%s)", w.GOOS, w.GOARCH), Date: today(w), Binary: w.Binary}
	for _, src := range s.sources {
		switch {
		case src.Kind != config.ConfigFile || replaced(src, o):
		case src.Level == config.Project && src.Trusted:
			out.ProjectConfig = src.Path
		case src.Level == config.User:
			out.UserConfig = src.Path
		}
	}
	return out
}

// today is the day as models are told it.
func today(w World) string { return w.Now().Format("2006-01-02") }

// instructions are the agent's own prompt: -s, system, or what stands in system_file.
func (p *plan) instructions(o Options) (string, error) {
	switch {
	case o.HasSystem:
		return o.System, nil
	case p.agent.System != "" || p.agent.SystemFile == "":
		return p.agent.System, nil
	}
	data, err := readSmall(p.agent.SystemFile, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("no such file")
	}
	if err != nil {
		return "", fmt.Errorf("%s: agents.%s.system_file: %s cannot be read: %w", p.agent.At("system_file"), p.name, config.Shown(filepath.Clean(p.agent.SystemFile)), cause(err))
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// setup is the plan as the host takes it.
func (p *plan) setup(m model.Model, alone bool) host.Setup {
	p.turn.Model = p.budget.meter(m)
	p.turn.Room = agent.Room{Window: p.budget.model.Window, Ask: p.agent.Mode != config.AgentMode && p.agent.Mode != config.Bot}
	return host.Setup{Began: p.began, Alone: alone, Place: p.places, Cost: p.budget.said, Goals: p.goals, Archive: p.temp,
		Turn: func(context.Context) (agent.Turn, error) { return p.turn, nil }}
}
