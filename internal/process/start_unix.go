//go:build linux || darwin

package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startLimit bounds how long a command may take to begin. Only a file system
// that does not answer takes longer than some milliseconds.
const (
	startLimit = 30 * time.Second
	wakeAfter  = time.Second
)

// Start runs a command. It returns when the program is running, or with a
// [*StartError] that says why it is not, or with [ErrGone].
func (w *Warden) Start(c Command) (*Job, error) {
	if err := w.check(&c); err != nil {
		return nil, err
	}
	log, err := openLog(c.Log, c.LateLog, w.limits.KeepFree)
	if err != nil {
		return nil, err
	}
	return w.start(c, log)
}

func (w *Warden) check(c *Command) error {
	if len(c.Argv) == 0 {
		return errors.New("a command without a program")
	}
	if c.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		c.Dir = dir
	}
	for _, s := range slices.Concat(c.Argv, c.Env, []string{c.Dir, c.Call}) {
		if strings.IndexByte(s, 0) >= 0 {
			return &StartError{Path: c.Argv[0], Err: syscall.EINVAL, Reason: "a NUL byte in the command line, the environment or the working directory"}
		}
	}
	return nil
}

func (w *Warden) start(c Command, log *logFile) (*Job, error) {
	r, wr, err := outputPipe()
	if err != nil {
		log.drop()
		return nil, fmt.Errorf("cannot make a pipe for the output: %w", err)
	}
	defer func() { _ = wr.Close() }()
	j := &Job{w: w, call: c.Call, began: time.Now(), done: make(chan struct{})}
	j.out = &pump{pipe: r, log: log, filter: c.Filter, over: make(chan struct{})}
	j.out.sys.buffers = &w.buffers
	j.out.full = func() { w.wg.Go(func() { j.Kill(LogFull) }) }
	answer, err := w.enter(j)
	if err != nil {
		_ = r.Close()
		log.drop()
		return nil, err
	}
	// The pump runs from now on, so that whoever waits for it needs no cases. If
	// nothing is started it ends with the write end, which is ours alone.
	j.out.begin(&w.wg, func() { w.pumpOver(j.out) })
	order := startOrder{id: j.id, dir: c.Dir, mark: j.mark, argv: c.Argv, env: withMark(c.Env, j.mark)}
	f, err := order.frame()
	if err != nil {
		err = &StartError{Path: c.Argv[0], Err: syscall.E2BIG, Reason: tooBig(c)}
	} else if err = w.send(f, int(wr.Fd())); err != nil && !errors.Is(err, ErrGone) {
		err = &StartError{Path: c.Argv[0], Err: err, Reason: tooManyNow}
	}
	if err == nil {
		_ = wr.Close()
		err = w.await(j, c, answer)
	}
	if err != nil {
		w.forget(j)
		j.DropLog() // nothing is in it
		return nil, err
	}
	return j, nil
}

// enter gives the job its number and its place in the table.
func (w *Warden) enter(j *Job) (chan reply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrGone
	}
	if w.idle != nil {
		w.idle.Stop()
	}
	w.last++
	j.id = w.last
	j.mark = fmt.Sprintf("%s.%x.%d", j.call, w.number, j.id)
	answer := make(chan reply, 1)
	w.starting[j.id] = answer
	w.jobs[j.id] = j
	w.pumps[j.out] = true
	w.stayAwake()
	return answer, nil
}

// await waits for the init's answer.
func (w *Warden) await(j *Job, c Command, answer chan reply) error {
	if c.Timeout > 0 {
		t := time.AfterFunc(c.Timeout, func() { j.Kill(TimedOut) })
		j.mu.Lock()
		if j.timer = t; j.exited {
			t.Stop()
		}
		j.mu.Unlock()
	}
	guard := time.NewTimer(wakeAfter)
	defer guard.Stop()
	for range 2 {
		select {
		case r, ok := <-answer:
			return w.answered(j, c, r, ok)
		case <-guard.C:
			w.wake() // a command may have stopped the init
			guard.Reset(startLimit)
		}
	}
	j.Kill(Cancelled) // it is found by its mark although its number is not known
	guard.Reset(startLimit / 6)
	select {
	case <-answer:
	case <-guard.C:
	}
	return &StartError{Path: c.Argv[0], Err: os.ErrDeadlineExceeded, Reason: "it did not begin within " + startLimit.String()}
}

func (w *Warden) answered(j *Job, c Command, r reply, ok bool) error {
	switch {
	case !ok:
		return &StartError{Path: c.Argv[0], Err: errLost, Reason: w.said.String()}
	case r.errno == 0:
		j.mu.Lock()
		j.pid = r.pid
		j.mu.Unlock()
		return nil
	case r.what == failedDir:
		return &StartError{Path: "working directory " + c.Dir, Err: r.errno}
	case r.what == failedInterp:
		return &StartError{Path: c.Argv[0], Err: r.errno, Reason: "the file is there, but not the interpreter it names"}
	case r.errno == unix.E2BIG:
		return &StartError{Path: c.Argv[0], Err: r.errno, Reason: tooBig(c)}
	case r.errno == unix.EAGAIN || r.errno == unix.ENOMEM:
		return &StartError{Path: c.Argv[0], Err: r.errno, Reason: tooManyNow}
	}
	return &StartError{Path: c.Argv[0], Err: r.errno}
}

const tooManyNow = "the system can start no more processes now"

// tooBig says what is too big in a command that the system refuses for its size.
func tooBig(c Command) string {
	const one = 128<<10 - 1 // Linux; others have only the sum
	longest, sum := 0, 0
	for _, s := range slices.Concat(c.Argv, c.Env) {
		longest = max(longest, len(s))
		sum += len(s) + 1
	}
	if longest > one {
		return fmt.Sprintf("one argument or variable has %d bytes, %d are possible; write long text to a file", longest, one)
	}
	return fmt.Sprintf("arguments and environment have %d bytes together; write long text to a file", sum)
}

// withMark adds the mark to an environment, in place of any other.
func withMark(env []string, mark string) []string {
	out := make([]string, 0, len(env)+1)
	for _, s := range env {
		if !strings.HasPrefix(s, markName) {
			out = append(out, s)
		}
	}
	return append(out, markName+mark)
}

// markName begins the variable that marks a command's processes.
const markName = "JIG_CALL="

// forget takes a job that did not start out of the tables.
func (w *Warden) forget(j *Job) {
	j.exit(0, 0, false) // stops its clock; nobody has the job
	w.mu.Lock()
	delete(w.starting, j.id)
	w.mu.Unlock()
	w.release(j)
}

func (w *Warden) pumpOver(p *pump) {
	w.mu.Lock()
	delete(w.pumps, p)
	w.mu.Unlock()
}

// outputPipe gives a pipe whose read end this program waits on without a
// thread, and whose write end blocks, as commands expect.
func outputPipe() (r, w *os.File, err error) {
	p, err := makePipe()
	if err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	_ = unix.SetNonblock(p[0], true)
	return os.NewFile(uintptr(p[0]), "output"), os.NewFile(uintptr(p[1]), "output"), nil
}
