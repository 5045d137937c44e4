package code

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"jig/internal/tool"
)

// toolset is every tool of the set, in the order the model sees them.
func toolset() []definition {
	return []definition{glob, grep, listDir, readFile, editFile, writeFile}
}

// definition is one tool: what is said of it, and how a call of it is prepared.
type definition struct {
	name, doc string
	params    tool.Params
	writes    bool            // it changes files: never together with others, asks, is left out of a read-only set
	failures  []*tool.Failure // its own ones; those of arguments and paths come on top
	prepare   func(*Set, tool.Args) (step, error)
}

// step is a prepared call before it is wrapped up in the plan that all tools of the set share.
type step struct {
	subject string // what the title names
	would   string // for a writer: what would happen, in one line
	card    func() *tool.Card
	run     func(context.Context) (tool.Result, error)
}

// Config is what the set can be told.
type Config struct {
	AutoWrite bool   `yaml:"auto_write" json:"auto_write"` // the writers do not ask
	ReadOnly  bool   `yaml:"read_only" json:"read_only"`   // the writers are left out
	Home      string `yaml:"-" json:"-"`                   // what ~ stands for; empty: unknown, and ~ is refused
	// Own are files that this process has open in a way of its own, by absolute path. They are not opened.
	Own []string `yaml:"-" json:"-"`
}

// Decode reads the configuration with the caller's decoder, which gets a struct with yaml and json
// tags, and puts this set's words before its error. Nothing given is the zero Config, so a caller
// need not call it then.
func Decode(decode func(into any) error) (Config, error) {
	var c Config
	if err := decode(&c); err != nil {
		return Config{}, fmt.Errorf("config must be a mapping (auto_write, read_only): %w", err)
	}
	return c, nil
}

// Set is the toolset of one session: it remembers which files the session has read. Its methods may
// be called at the same time.
type Set struct {
	goos    string
	root    string
	cfg     Config
	tools   []definition
	specs   []tool.Spec
	ledger  ledger
	readers chan struct{} // places for calls that run; each may hold a large file in memory
	writing sync.Mutex    // one writer at a time, also where directories cannot be locked
}

var _ tool.Owner = (*Set)(nil)

// New makes the set for the project at root, an absolute path. The error is a sentence for the
// person who wrote the configuration.
func New(root string, cfg Config) (*Set, error) {
	if cfg.ReadOnly && cfg.AutoWrite {
		return nil, errors.New("read_only and auto_write contradict each other: auto_write approves writes the set does not offer")
	}
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("the project root must be an absolute path, got %q", root)
	}
	return newSet(runtime.GOOS, filepath.Clean(root), cfg), nil
}

// abreast is how many calls of the set run at the same time.
const abreast = 8

func newSet(goos, root string, cfg Config) *Set {
	s := &Set{goos: goos, root: root, cfg: cfg, readers: make(chan struct{}, abreast)}
	for _, d := range toolset() {
		if !d.writes || !cfg.ReadOnly {
			s.tools = append(s.tools, d)
			s.specs = append(s.specs, s.spec(d))
		}
	}
	return s
}

// outputCap is the most bytes of result text that a call returns.
const outputCap = 64 << 10

func (s *Set) spec(d definition) tool.Spec {
	sp := tool.Spec{Name: d.name, Doc: strings.TrimSpace(d.doc), Input: d.params.Schema(), Show: tool.Group, Together: "always", Cap: outputCap}
	if d.writes {
		sp.Show, sp.Together = tool.Expanded, "never"
		if !s.cfg.AutoWrite {
			sp.Asks = []string{d.name}
		}
	}
	for _, f := range tool.ArgumentFailures {
		if f != tool.Missing || d.needs() {
			sp.Failures = append(sp.Failures, f)
		}
	}
	sp.Failures = append(sp.Failures, pathFailures...)
	sp.Failures = append(sp.Failures, d.failures...)
	return sp
}

func (d definition) needs() bool {
	for _, p := range d.params {
		if p.Required {
			return true
		}
	}
	return false
}

// Specs says what the tools are.
func (s *Set) Specs() []tool.Spec { return s.specs }

// Prepare decodes and checks a call, as far as that can be done without an effect, and says what it
// would do. Everything that depends on the disk is checked again when the call runs.
func (s *Set) Prepare(ctx context.Context, call tool.Call) (tool.Prepared, error) {
	for _, d := range s.tools {
		if d.name == call.Name {
			return s.prepare(ctx, d, call)
		}
	}
	return tool.Prepared{}, fmt.Errorf("code: no tool %q in this set", call.Name)
}

func (s *Set) prepare(ctx context.Context, d definition, call tool.Call) (tool.Prepared, error) {
	args, err := d.params.Decode(call.Args)
	if err != nil {
		return tool.Prepared{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Prepared{}, err
	}
	st, err := d.prepare(s, args)
	if err != nil {
		return tool.Prepared{}, err
	}
	p := tool.Prepared{
		Plan: tool.Plan{Title: "[" + d.name + " " + clip(st.subject, titleWidth) + "]", Together: !d.writes},
		Run: func(ctx context.Context, _ func(tool.Card)) (tool.Result, error) {
			select {
			case s.readers <- struct{}{}:
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
			defer func() { <-s.readers }()
			if err := ctx.Err(); err != nil {
				return tool.Result{}, err
			}
			return st.run(ctx)
		},
	}
	if d.writes && !s.cfg.AutoWrite {
		p.Ask = &tool.Question{
			Scope: d.name, Text: st.would, Covers: "every " + d.name + " call",
			Refusal: d.name + " was not executed: it requires interactive approval, which is unavailable in this non-interactive run. " +
				"Set the toolset's auto-approve option (tools.code.auto_write / tools.shell.auto_run) to permit it here.",
			Card: st.card(),
		}
	}
	return p, nil
}

// titleWidth is the most bytes of a subject in a title.
const titleWidth = 200
