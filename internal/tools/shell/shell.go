package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"jig/internal/process"
	"jig/internal/sandbox"
	"jig/internal/tool"
)

// Options is everything the set works with. All of it is decided once, when the session starts: a
// sandbox that appears or disappears later has no effect.
type Options struct {
	Config Config
	OS     string // as in runtime.GOOS, which is the default
	Root   string // the project root, absolute
	Cwd    string // where the program was started: what relative write: paths are meant from
	Home   string // the user's home directory; "" is unknown
	Temp   string // the run's directory for temporary files
	Cache  string // jig's own cache directory
	// Binary is the running program's real path, which starts the init and is what may leave the
	// sandbox; "" is unknown.
	Binary string
	Pid    int      // of this process: its folder of logs
	Env    []string // the environment this process was started with
	Extra  []string // what the environment's configuration sets, over everything else
	Keys   []string // names of variables that hold provider keys, whatever they are called
	// Child is asked when a jig is started outside the sandbox. It gives the variables that this jig
	// gets, and what is to be done once it has ended. nil gives it nothing.
	Child func() (vars []string, ended func(), err error)
	// Tier is the regime the probe found. Config.Sandbox "off" makes it None.
	Tier  sandbox.Tier
	Bwrap string // where bubblewrap is; "" is nowhere

	// What follows has a default and is set by tests.

	Machine Machine        // how an interpreter is found
	Yield   time.Duration  // how long a call waits for its command; default 20 s
	MaxJobs int            // how many jobs may run at a time; default 16
	Limits  process.Limits // of the init
}

const (
	defaultYield   = 20 * time.Second
	defaultMaxJobs = 16
)

// The scopes of the questions it asks.
const (
	ScopeInside  = Name + ":inside"  // commands as the set runs them
	ScopeOutside = Name + ":outside" // commands that leave the sandbox the others run in
)

// Shell is the toolset of one session. Its methods may be called at the same time.
type Shell struct {
	opts            Options
	tier            sandbox.Tier
	vars            variables     // the environment as it was found
	inside, outside variables     // what commands get
	write           []string      // the places commands may write to
	temp            *sandbox.Temp // for TMPDIR
	settled         sandbox.Policy
	self            os.FileInfo // the running program; nil: nothing may leave the sandbox
	interp          interpreter
	spec            tool.Spec
	params          tool.Params
	rooms           rooms
	logs            *logs
	jobs            *jobs
	placeholders    *sandbox.Placeholders // in a shared git directory; nil: none
}

var _ tool.Owner = (*Shell)(nil)

// New makes the set. The error is a sentence for the person who wrote the configuration.
func New(o Options) (*Shell, error) {
	if err := o.Config.check(); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(o.Root) {
		return nil, fmt.Errorf("the project root must be an absolute path, got %q", o.Root)
	}
	extra, err := writePaths(o.Config.Write, o.Home, o.Cwd)
	if err != nil {
		return nil, err
	}
	if o.OS == "" {
		o.OS = runtime.GOOS
	}
	if o.Yield <= 0 {
		o.Yield = defaultYield
	}
	if o.MaxJobs <= 0 {
		o.MaxJobs = defaultMaxJobs
	}
	s := &Shell{opts: o, tier: o.Tier, vars: variables{o.Env, o.OS == "windows"}}
	if o.Config.Off() || s.tier == "" {
		s.tier = sandbox.None
	}
	if s.interp, err = s.machine().find(); err != nil {
		return nil, err
	}
	s.opts.Temp = sandbox.TempDir(o.Temp, append([]string{o.Root}, extra...)...)
	places := sandbox.Places{Root: o.Root, Temp: s.opts.Temp, Cache: o.Cache, Write: extra}
	if s.tier == sandbox.None {
		places.Cache = "" // nothing is to be made for a sandbox that is not there
	}
	s.write = sandbox.WriteRoots(places)
	s.temp = sandbox.NewTemp(s.opts.Temp, s.write...)
	s.settled = sandbox.Settle(sandbox.Policy{
		Root: o.Root, Write: s.write, Network: o.Config.Network, Home: o.Home, Bwrap: o.Bwrap,
	})
	if o.Binary != "" {
		s.self, _ = os.Stat(o.Binary)
	}
	if s.tier == sandbox.None || s.interp.dialect.name != "posix" || sandbox.Writable(s.policy(), o.Binary) {
		s.self = nil // there is nothing to leave, or no telling what would be started outside
	}
	s.inside, s.outside = s.environments()
	s.logs = newLogs(s.opts.Temp, o.Pid)
	s.jobs = newJobs(o.MaxJobs)
	s.placeholders = sandbox.Hold(s.tier, s.settled)
	s.rooms = rooms{inside: s.room(s.tier), outside: s.room(sandbox.None)}
	s.params = params(s.interp)
	s.spec = s.specify()
	return s, nil
}

func (s *Shell) machine() Machine {
	m := s.opts.Machine
	if m.OS == "" {
		m.OS = s.opts.OS
	}
	if m.Getenv == nil {
		m.Getenv = s.vars.get
	}
	if m.Exists == nil {
		m.Exists = executable
	}
	if m.Look == nil {
		m.Look = s.look
	}
	return m
}

// look finds a program by its path or on PATH. Entries of PATH that are not absolute are left out:
// what a project puts there must not become its interpreter.
func (s *Shell) look(name string) string {
	endings := []string{""}
	if s.opts.OS == "windows" && !strings.Contains(filepath.Base(name), ".") {
		endings = []string{".exe", ".com"}
	}
	for _, end := range endings {
		if filepath.IsAbs(name) {
			if executable(name + end) {
				return name + end
			}
			continue
		}
		if strings.ContainsAny(name, `/\`) {
			continue
		}
		if path := findOnPath(name+end, s.vars.get("PATH"), ""); path != "" {
			return path
		}
	}
	return ""
}

// policy is what sandboxed commands may do. What its names stand for was settled when the session
// began: a command can make any name in a writable place, and the root's .git, say something else.
func (s *Shell) policy() sandbox.Policy { return s.settled }

// Interpreter is the short name of what reads the commands, such as bash; "(none)" when there is
// nothing that does.
func (s *Shell) Interpreter() string {
	if s.interp.path == "" {
		return "(none)"
	}
	return stem(s.interp.path)
}

// Specs says what the tool is.
func (s *Shell) Specs() []tool.Spec { return []tool.Spec{s.spec} }

func (s *Shell) specify() tool.Spec {
	sp := tool.Spec{
		Name: Name, Show: tool.Group, Together: "always", Cap: maxBytes + 4<<10,
		Doc: s.describe(), Input: s.params.Schema(),
		Failures: append(append([]*tool.Failure{}, tool.ArgumentFailures...), badTimeout, tooManyJobs, failedToRun),
	}
	switch {
	case s.opts.Config.AutoRun:
	case s.tier == sandbox.None:
		sp.Asks = []string{ScopeInside}
	case s.self != nil:
		sp.Asks, sp.Together = []string{ScopeOutside}, "always, but a jig command that is asked about runs alone"
	}
	return sp
}

var (
	badTimeout  = tool.Fails("timeout must be a positive number of seconds")
	tooManyJobs = tool.Fails("too many background jobs running ({n}); wait for one to finish")
	failedToRun = tool.Fails("failed to run: {error}")
)

// call is a decoded call.
type call struct {
	id, command, dir, label string
	timeout                 time.Duration
	background              bool
	outside                 *leaving
	ended                   func() // what is to be done once its command has ended; never nil
}

// Prepare decodes and checks a call and says what it would do.
func (s *Shell) Prepare(ctx context.Context, c tool.Call) (tool.Prepared, error) {
	if c.Name != Name {
		return tool.Prepared{}, fmt.Errorf("shell: no tool %q in this set", c.Name)
	}
	k, err := s.decode(c)
	if err != nil {
		return tool.Prepared{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Prepared{}, err
	}
	if k.background && s.jobs.full() {
		return tool.Prepared{}, tooManyJobs.With("n", fmt.Sprint(s.opts.MaxJobs))
	}
	p := tool.Prepared{Plan: tool.Plan{Title: title(k.label, k.background, k.outside != nil), Together: true}}
	p.Ask = s.question(k)
	if p.Ask != nil && k.outside != nil {
		p.Together = false
	}
	var once sync.Once
	p.Run = func(ctx context.Context, tell func(tool.Card)) (r tool.Result, err error) {
		err = fmt.Errorf("shell: %s was run twice", c.ID)
		once.Do(func() { r, err = s.run(ctx, k, tell) })
		return r, err
	}
	return p, nil
}

func (s *Shell) decode(c tool.Call) (call, error) {
	raw, seconds := takeTimeout(c.Args)
	a, err := s.params.Decode(raw)
	if err != nil {
		return call{}, err
	}
	k := call{id: c.ID, command: a.String("command"), dir: s.opts.Root, background: a.Bool("background"), ended: func() {}}
	if strings.TrimSpace(k.command) == "" {
		return call{}, tool.Missing.With("name", "command")
	}
	if k.timeout, err = timeout(seconds); err != nil {
		return call{}, err
	}
	shown := k.command
	if cwd := a.String("cwd"); cwd != "" {
		k.dir = s.directory(cwd)
		shown = s.interp.enter(cwd, strings.TrimSpace(shown))
	}
	k.label = label(shown)
	if l, ok := s.leaves(k.command, k.dir); ok {
		k.outside = &l
	}
	return k, nil
}

// directory is the working directory that was asked for.
func (s *Shell) directory(cwd string) string {
	if s.opts.Home != "" && (cwd == "~" || strings.HasPrefix(cwd, "~/")) {
		return filepath.Join(s.opts.Home, cwd[1:])
	}
	if filepath.IsAbs(cwd) {
		return cwd
	}
	return filepath.Join(s.opts.Root, cwd)
}

// question is what a person is asked before the call runs, nil for nothing.
func (s *Shell) question(k call) *tool.Question {
	if s.opts.Config.AutoRun || s.tier != sandbox.None && k.outside == nil {
		return nil
	}
	q := &tool.Question{
		Scope: ScopeInside, Text: Name + ": run " + k.label, Covers: "every shell command, each with your full permissions",
		Refusal: Name + " was not executed: it requires interactive approval, which is unavailable in this non-interactive run. " +
			"Set the toolset's auto-approve option (tools.code.auto_write / tools.shell.auto_run) to permit it here.",
		Card: &tool.Card{Kind: tool.CardText, Title: k.dir, Text: k.command},
	}
	if k.outside != nil {
		q.Scope, q.Covers = ScopeOutside, "every jig command outside the sandbox; other shell commands stay inside"
		q.Text += " " + outsideMark
		q.Card.Title = k.outside.dir
	}
	return q
}

// takeTimeout takes the timeout out of the arguments: what is no positive number is refused in one
// sentence, whatever type it has.
func takeTimeout(args json.RawMessage) (rest, seconds json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil || fields["timeout"] == nil {
		return args, nil
	}
	return withoutField(args, "timeout"), fields["timeout"]
}
