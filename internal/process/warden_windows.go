package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Warden starts commands directly, each in a job object that the system ends
// with the last handle to it: however this program ends, so do they.
type Warden struct {
	limits Limits
	wg     sync.WaitGroup
	gone   chan struct{}

	mu     sync.Mutex
	jobs   map[*Job]jobSys // whose job object is open
	last   uint64
	closed bool
}

type jobSys struct {
	object windows.Handle
	proc   *os.Process
}

// Open prepares for commands. Nothing is launched here, so that only the limits
// of l count.
func Open(_ context.Context, l Launch) (*Warden, error) {
	return &Warden{limits: l.Limits.orDefaults(), gone: make(chan struct{}), jobs: map[*Job]jobSys{}}, nil
}

// Serve has nothing to serve on this system.
func Serve(*os.File) int {
	fmt.Fprintln(os.Stderr, "this system runs commands without an init")
	return 1
}

// ReadFirst has nothing to read on this system.
func ReadFirst(*os.File) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Start runs a command. It returns when the program is running, or with a
// [*StartError] that says why it is not, or with [ErrGone].
func (w *Warden) Start(c Command) (*Job, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("a command without a program")
	}
	log, err := openLog(c.Log, c.LateLog, w.limits.KeepFree)
	if err != nil {
		return nil, err
	}
	j, err := w.start(c, log)
	if err != nil {
		log.drop() // nothing is in it
	}
	return j, err
}

func (w *Warden) start(c Command, log *logFile) (*Job, error) {
	r, wr, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make a pipe for the output: %w", err)
	}
	defer func() { _ = wr.Close() }()
	j := &Job{w: w, call: c.Call, began: time.Now(), done: make(chan struct{})}
	j.out = &pump{pipe: r, log: log, filter: c.Filter, over: make(chan struct{})}
	j.out.full = func() { w.wg.Go(func() { j.Kill(LogFull) }) }
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = r.Close()
		return nil, ErrGone
	}
	w.last++
	j.id = w.last
	sys, err := j.spawn(c, wr)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	w.jobs[j] = sys
	_ = wr.Close()
	j.out.begin(&w.wg)
	if c.Timeout > 0 {
		j.timer = time.AfterFunc(c.Timeout, func() { j.Kill(TimedOut) })
	}
	w.wg.Go(func() { j.wait(sys.proc) })
	return j, nil
}

// spawn starts the program stopped, puts it into its job object and lets it go:
// it cannot start anything outside.
func (j *Job) spawn(c Command, out *os.File) (sys jobSys, err error) {
	if sys.object, err = jobObject(true); err != nil {
		return sys, fmt.Errorf("cannot make a job object: %w", err)
	}
	defer func() {
		if err != nil {
			_ = windows.CloseHandle(sys.object)
		}
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return sys, err
	}
	defer func() { _ = null.Close() }()
	env := make([]string, 0, len(c.Env)+1)
	for _, s := range c.Env {
		if !strings.HasPrefix(s, "JIG_CALL=") {
			env = append(env, s)
		}
	}
	attr := &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP}
	attr.CmdLine, _ = rawCommandLine(c.Argv)
	sys.proc, err = os.StartProcess(c.Argv[0], c.Argv, &os.ProcAttr{
		Dir: c.Dir, Env: append(env, fmt.Sprintf("JIG_CALL=%s.%d.%d", j.call, os.Getpid(), j.id)),
		Files: []*os.File{null, out, out}, Sys: attr,
	})
	if err != nil {
		if _, e := os.Stat(c.Dir); c.Dir != "" && e != nil {
			return sys, &StartError{Path: "working directory " + c.Dir, Err: errors.Unwrap(e)}
		}
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return sys, &StartError{Path: c.Argv[0], Err: err}
	}
	j.pid = sys.proc.Pid
	assigned := errors.ErrUnsupported
	if e := sys.proc.WithHandle(func(h uintptr) {
		assigned = windows.AssignProcessToJobObject(sys.object, windows.Handle(h))
	}); e != nil {
		assigned = e
	}
	if assigned == nil {
		assigned = resume(j.pid)
	}
	if assigned != nil {
		_ = sys.proc.Kill()
		_, _ = sys.proc.Wait()
		return sys, &StartError{Path: c.Argv[0], Err: assigned}
	}
	return sys, nil
}

// jobObject makes one, bound to the life of this program or not.
func jobObject(bound bool) (windows.Handle, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	if bound {
		err = bind(h, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	}
	if err != nil {
		_ = windows.CloseHandle(h)
		return 0, err
	}
	return h, nil
}

func bind(h windows.Handle, flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// resume lets the only thread of a process that was started stopped run.
func resume(pid int) error {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(snap) }()
	e := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snap, &e); err == nil; err = windows.Thread32Next(snap, &e) {
		if int(e.OwnerProcessID) != pid {
			continue
		}
		h, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, e.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(h)
		_ = windows.CloseHandle(h)
		return err
	}
	return err
}

// wait takes the exit status.
func (j *Job) wait(proc *os.Process) {
	s, err := proc.Wait()
	code := 1
	if err == nil {
		code = s.ExitCode()
	}
	j.exit(code, 0, err != nil)
	j.out.settle()
	j.settle()
}

// endTree ends everything in the job object. There is no TERM on this system
// that a program without a window or a console would get.
func (w *Warden) endTree(j *Job) {
	w.mu.Lock()
	if sys, ok := w.jobs[j]; ok {
		_ = windows.TerminateJobObject(sys.object, 128+uint32(syscall.SIGKILL))
	}
	w.mu.Unlock()
	j.swept()
}

func (w *Warden) hostPid(j *Job) int { return j.pid }

// Gone is closed when the warden has ended.
func (w *Warden) Gone() <-chan struct{} { return w.gone }

// members lists the processes in a job object.
func members(h windows.Handle) []int {
	var list struct {
		assigned, n uint32
		pids        [mostMembers]uintptr
	}
	err := windows.QueryInformationJobObject(h, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil
	}
	var out []int
	for _, p := range list.pids[:min(list.n, mostMembers)] {
		out = append(out, int(p))
	}
	return out
}

const mostMembers = 256

// Empty reports whether no process is left inside, not even one that a command
// has left behind.
func (w *Warden) Empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for j, sys := range w.jobs {
		if len(members(sys.object)) > 0 {
			return false
		}
		if j.State().Ended {
			_ = windows.CloseHandle(sys.object)
			delete(w.jobs, j)
		}
	}
	return true
}

// Close ends everything inside and waits for it. Jobs that still run count as
// cancelled.
func (w *Warden) Close() error {
	_, err := w.shut(false)
	return err
}

// Leave is the orderly exit: it ends the jobs that run. What a command that is
// over has left behind, as Start-Process and start /b do, goes on and is listed.
func (w *Warden) Leave() (spared []Left, err error) { return w.shut(true) }

func (w *Warden) shut(spare bool) (left []Left, err error) {
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	for j, sys := range w.jobs {
		over := j.State().Ended
		if !over {
			j.mu.Lock()
			if s := &j.state; !j.exited && !s.TimedOut && !s.LogFull {
				s.Cancelled = true
			}
			j.mu.Unlock()
		}
		if spare && over && bind(sys.object, 0) == nil {
			for _, pid := range members(sys.object) {
				left = append(left, Left{Pid: pid, HostPid: pid, Call: j.call})
			}
		} else {
			_ = windows.TerminateJobObject(sys.object, 128+uint32(syscall.SIGKILL))
		}
		if over {
			j.out.abandon()
		}
		_ = windows.CloseHandle(sys.object)
		delete(w.jobs, j)
	}
	w.mu.Unlock()
	w.wg.Wait()
	if first {
		close(w.gone)
	}
	return left, nil
}
