package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"jig/internal/process"
	"jig/internal/tool"
)

// waitedFor begins the result of a call that would have become a job had there been room.
const waitedFor = "(%d background jobs were running, so this call was waited for to its end.)\n"

func (s *Shell) run(ctx context.Context, k call, tell func(tool.Card)) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	c, err := s.compose(k)
	if err == nil && k.outside != nil && s.opts.Child != nil {
		var vars []string
		if vars, k.ended, err = s.opts.Child(); err == nil {
			c.Env = variables{list: c.Env}.with(vars...).list
		}
	}
	if err != nil {
		return tool.Result{}, failedToRun.With("error", err.Error())
	}
	if k.background {
		return s.background(ctx, k, c)
	}
	return s.foreground(ctx, k, c, tell)
}

// compose says what is to be started.
func (s *Shell) compose(k call) (process.Command, error) {
	c := process.Command{Dir: k.dir, Timeout: k.timeout, Call: k.id}
	if k.outside != nil {
		l, ok := s.leaves(k.command, k.dir)
		if !ok {
			return c, errors.New("the program of this command is not the running jig any more")
		}
		c.Argv, c.Dir, c.Env = l.argv, l.dir, s.environment(l.dir, true)
		return c, nil
	}
	c.Env = s.environment(k.dir, false)
	in, err := s.interpreter()
	if err != nil {
		return c, err
	}
	if strings.IndexByte(k.command, 0) >= 0 {
		return c, errors.New("the command holds a NUL byte")
	}
	if most := longestCommand(s.opts.OS, in); len(k.command) > most {
		return c, fmt.Errorf("the command has %d bytes, and this system takes no more than %d in one: put long text into a file with write_file, and long scripts, too", len(k.command), most)
	}
	c.Argv = append(append([]string{in.path}, in.arguments...), k.command)
	return c, nil
}

// longestCommand is what the system passes to a program as one argument.
func longestCommand(goos string, in interpreter) int {
	switch {
	case goos == "windows" && in.dialect.name == "cmd":
		return 8000
	case goos == "windows":
		return 32000
	}
	return 128<<10 - 1 // Linux; others take more
}

// interpreter is the one the description names, found again when it is not where it was. One that
// reads another dialect does not count: the model was told what to write.
func (s *Shell) interpreter() (interpreter, error) {
	m := s.machine()
	if s.interp.path != "" && m.Exists(s.interp.path) {
		return s.interp, nil
	}
	in, err := m.find()
	switch {
	case err != nil:
		return in, err
	case in.why != "":
		return in, errors.New(in.why)
	case in.dialect.name != s.interp.dialect.name:
		return in, fmt.Errorf("%s is not there any more", s.interp.name)
	}
	return in, nil
}

func (s *Shell) place(k call) *room {
	if k.outside != nil {
		return s.rooms.outside
	}
	return s.rooms.inside
}

// start runs a command with a log, or without one where it cannot be made.
func (s *Shell) start(ctx context.Context, k call, c process.Command, log *logFile) (*process.Job, error) {
	c.Log, c.LateLog, c.Filter = log.real, !k.background, &cleaner{}
	j, err := s.place(k).start(ctx, c)
	if log.unmade(err) {
		c.Log, c.Filter = "", &cleaner{}
		j, err = s.place(k).start(ctx, c)
	}
	switch {
	case err == nil, errors.Is(err, fs.ErrExist):
		return j, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, failedToRun.With("error", err.Error())
}

func (s *Shell) foreground(ctx context.Context, k call, c process.Command, tell func(tool.Card)) (tool.Result, error) {
	log := s.logs.call()
	j, err := s.start(ctx, k, c, &log)
	if err != nil {
		k.ended()
		return tool.Result{}, err
	}
	began := time.Now().Add(-j.State().Took)
	yield := time.NewTimer(s.opts.Yield - time.Since(began))
	defer yield.Stop()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	before := ""
	for {
		select {
		case <-j.Done():
			return s.done(k, j, before), nil
		case <-ctx.Done():
			j.Kill(process.Cancelled)
			<-j.Done()
			return s.done(k, j, before), nil
		case <-yield.C:
			if ctx.Err() != nil || ended(j) {
				continue
			}
			if s.jobs.reserve() {
				return s.yield(k, j, log, began), nil
			}
			before = fmt.Sprintf(waitedFor, s.opts.MaxJobs)
		case <-second.C:
			if tell != nil {
				tell(tool.Card{Kind: tool.CardText, Title: k.label, Text: elapsed(time.Since(began))})
			}
		}
	}
}

func ended(j *process.Job) bool {
	select {
	case <-j.Done():
		return true
	default:
		return false
	}
}

func (s *Shell) done(k call, j *process.Job, before string) tool.Result {
	k.ended()
	j.DropLog()
	text, failed := outcome(j.State(), capped(j.Output()), k.timeout)
	r := tool.Text(before + text)
	r.Failed = failed
	return r
}

// keepLog gives a new job its id and its log the name that goes with it.
func (s *Shell) keepLog(run *process.Job, log logFile) (int, logFile) {
	log.unmade(run.State().LogErr)
	for {
		id := s.jobs.nextID()
		if log.why != nil {
			return id, log
		}
		to := s.logs.job(id)
		err := to.why
		if err == nil {
			err = run.KeepLog(to.real)
		}
		if errors.Is(err, fs.ErrExist) {
			continue // a log of another session of this process
		}
		if _, missing := os.Lstat(log.real); err == nil || missing != nil {
			if err != nil && !to.unmade(err) {
				to.why = err
			}
			return id, to
		}
		return id, log // where an open file cannot be renamed it keeps the name it has
	}
}

// yield makes a job of a command whose call stops waiting.
func (s *Shell) yield(k call, run *process.Job, log logFile, began time.Time) tool.Result {
	id, log := s.keepLog(run, log)
	out := capped(run.Output())
	j := s.keep(k, run, id, log, began)
	r := tool.Text(s.interp.yielded(j, s.opts.Yield, out))
	r.Job, r.Label = j.ID, j.Label
	r.Card = &tool.Card{Kind: tool.CardText, Text: strings.TrimRight(fmt.Sprintf("still running after %s → background job %s\n%s", s.opts.Yield, j.ID, out), "\n")}
	return r
}

func (s *Shell) background(ctx context.Context, k call, c process.Command) (tool.Result, error) {
	if !s.jobs.reserve() {
		k.ended()
		return tool.Result{}, tooManyJobs.With("n", fmt.Sprint(s.opts.MaxJobs))
	}
	for {
		id := s.jobs.nextID()
		log := s.logs.job(id)
		run, err := s.start(ctx, k, c, &log)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue // a log of another session of this process
		case err != nil:
			k.ended()
			s.jobs.giveBack(id)
			s.jobs.release()
			return tool.Result{}, err
		}
		j := s.keep(k, run, id, log, time.Now().Add(-run.State().Took))
		r := tool.Text(s.interp.started(j))
		r.Job, r.Label = j.ID, j.Label
		return r, nil
	}
}
