package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"jig/internal/agent"
	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/msg"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/tool"
)

// maxLine bounds one line of jig call -, in bytes.
const maxLine = 64 << 20

func callCommand(w World) *cobra.Command {
	o, yes := Options{}, false
	c := &cobra.Command{
		Use:   "call TOOL JSON",
		Short: "run one tool as a model would",
		Long: "Runs one tool exactly as a model would and prints exactly what the model would read. An error the model\n" +
			"would read is printed too, with exit code 1. jig call - reads one {\"tool\":…,\"args\":…} a line and runs them\n" +
			"one after the other in one process, so that a file read by one call may be edited by the next. Without --agent\n" +
			"the tools are those of the agent named default, or of every toolset when there is none.",
		Args: takes(1, 2, "a tool and its arguments as JSON, or - alone"),
		RunE: func(c *cobra.Command, args []string) error {
			if (args[0] == "-") != (len(args) == 1) {
				return usagef("jig call takes a tool and its arguments as JSON, such as jig call grep '{\"pattern\":\"TODO\"}', or - alone")
			}
			calls, err := openCalls(w, o, yes)
			if err != nil {
				return err
			}
			defer calls.close()
			if args[0] == "-" {
				return calls.lines(c.Context())
			}
			return calls.one(c.Context(), args[0], args[1])
		},
	}
	c.Flags().StringVarP(&o.Agent, "agent", "a", "", "use this `agent`'s tools and settings")
	c.Flags().BoolVar(&yes, "yes", false, "allow what a model's call would have to ask for")
	configFlags(c, &o)
	return c
}

// openCalls makes the tools of an agent, without its model.
func openCalls(w World, o Options, yes bool) (*calls, error) {
	if modelStarted(w) {
		return nil, refusedHere("jig call")
	}
	s, cfg, err := load(w, o)
	if err != nil {
		return nil, err
	}
	a, err := toolsOf(cfg, o.Agent)
	if err != nil {
		return nil, err
	}
	owners, warnings := ownersOf(a, newPlace(w, s, cfg), &host.Goals{})
	for _, x := range warnings {
		w.warn("%s", x)
	}
	table, err := agent.Bind(owners...)
	if err != nil {
		return nil, err
	}
	c := &calls{w: w, desk: callDesk{yes}, table: table, places: placesOf(owners), changed: make(chan struct{}, 1)}
	c.places.Connect(c.post, c.show)
	return c, nil
}

// toolsOf is the agent of that name, or default, or one that has every toolset.
func toolsOf(cfg *config.Config, name string) (config.Agent, error) {
	if name == "" {
		if a, err := cfg.Agent("default"); err == nil {
			return a, nil
		}
		all := config.Agent{Tools: config.Tools{Declared: true}}
		for _, s := range toolsets {
			all.Tools.On = append(all.Tools.On, config.Tool{Name: s.name})
		}
		return all, nil
	}
	a, err := cfg.Agent(name)
	if err != nil {
		return a, usagef("%v", err)
	}
	return a, nil
}

// calls is a row of calls made by hand.
type calls struct {
	w     World
	desk  agent.Desk
	table agent.Table
	n     int

	places  places
	mu      sync.Mutex
	notices []tool.Notice
	jobs    []proto.Job
	changed chan struct{}
}

// post and show are how jobs report.
func (c *calls) post(n tool.Notice) {
	c.mu.Lock()
	c.notices = append(c.notices, n)
	c.mu.Unlock()
	c.nudge()
}

func (c *calls) show(key string, value any) {
	if key != proto.KeyJobs {
		return
	}
	c.mu.Lock()
	c.jobs, _ = value.([]proto.Job)
	c.mu.Unlock()
	c.nudge()
}

func (c *calls) nudge() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// settle waits for the jobs that calls left running and prints what a model would read of each.
func (c *calls) settle(ctx context.Context) error {
	for {
		c.mu.Lock()
		notices, running := c.notices, len(c.jobs)
		c.notices = nil
		c.mu.Unlock()
		for _, n := range notices {
			if err := c.print(n.Blocks.Text()); err != nil {
				return err
			}
		}
		if running == 0 {
			return nil
		}
		select {
		case <-c.changed:
		case <-ctx.Done():
			return &ended{exitInterrupted}
		}
	}
}

// close ends what a single call left running, and says so.
func (c *calls) close() {
	c.mu.Lock()
	running := c.jobs
	c.mu.Unlock()
	for _, j := range running {
		c.w.warn("%s (%s) ends with this call; jig call - waits for jobs", j.ID, print.Clean(j.Label))
	}
	if note := c.places.Close(); note != "" {
		c.w.warn("%s", print.Clean(note))
	}
}

// lines runs one call a line. All of them run, whatever the ones before came to; a line that is no call
// is told at once.
func (c *calls) lines(ctx context.Context) error {
	in := bufio.NewReader(c.w.In)
	var failed error
	for row := 1; ctx.Err() == nil; row++ {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("standard input, line %d: %w", row, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if e := c.line(ctx, row, line); e != nil {
				var end *ended
				var bad *usageError
				switch {
				case errors.As(e, &bad):
					fmt.Fprintf(c.w.Err, "jig: %s\n", print.Clean(e.Error()))
					e = &ended{exitUsage}
				case !errors.As(e, &end):
					return e
				}
				if exitCode(e) > exitCode(failed) {
					failed = e
				}
			}
		}
		if err != nil {
			if e := c.settle(ctx); e != nil {
				return e
			}
			return failed
		}
	}
	return &ended{exitInterrupted}
}

func (c *calls) line(ctx context.Context, row int, line []byte) error {
	var in struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || d.More() || in.Tool == "" {
		return usagef(`standard input, line %d: want {"tool":"NAME","args":{…}}`, row)
	}
	return c.one(ctx, in.Tool, string(in.Args))
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d MB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// one runs a call and prints its result.
func (c *calls) one(ctx context.Context, name, args string) error {
	c.n++
	results, err := agent.RunCalls(ctx, c.desk, c.table, []msg.Call{{ID: fmt.Sprintf("call%05d", c.n), Name: name, Args: args}})
	if err != nil {
		return err
	}
	if err := c.print(results[0].Blocks.Text()); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &ended{exitInterrupted}
	case results[0].Failed:
		return &ended{exitFailed}
	}
	return nil
}

func (c *calls) print(text string) error {
	if c.w.OutTerm {
		text = print.Clean(text)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if _, err := io.WriteString(c.w.Out, text); err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return nil
}

// callDesk is who asks for a call made by hand: there is no log, and nobody to ask but the --yes
// that was said beforehand.
type callDesk struct{ yes bool }

func (callDesk) Say(...proto.Fact) error { return nil }
func (callDesk) Show(string, any)        {}
func (callDesk) Scope(ctx context.Context) (context.Context, func()) {
	return context.WithCancel(ctx)
}
func (d callDesk) Ask(_ context.Context, _ string, q tool.Question) (bool, string) {
	return d.yes, q.Refusal
}
