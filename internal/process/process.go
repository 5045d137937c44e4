// Package process starts, bounds, watches and ends process trees, and keeps the
// ends of what they print.
//
// Commands are not children of this program but of an init: one small process
// per session that [Open] starts, wherever the given [Launch] puts it, and that
// runs [Serve]. The init exists for one reason: whatever happens to this
// program, the init sees its socket close and ends everything it started. It
// takes commands and descriptors over that socket, reaps, and ends the whole
// tree of one command, including children that left its session. On Windows
// there is no init; a job object does the same work behind the same names.
//
// A command's standard input is empty. Its standard output and error are one
// pipe, which this program empties into a log file and two bounded ends until
// the last writer is gone, however long the command itself has been over.
//
// The package knows no sandbox (what an init runs in is the caller's choice),
// no shell and no tool: it words no results and applies no caps of its own
// beyond what bounds memory.
package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Launch says how an init is started. Its descriptor 3 is the control socket,
// descriptor 0 is empty, 1 and 2 are collected for error messages.
type Launch struct {
	Path string   // the program, an absolute path
	Args []string // the whole argument vector; Args[0] is the program's name
	Env  []string // the whole environment; nil means empty, never this program's own
	Attr *syscall.SysProcAttr
	// First, unless empty, is the first message on the control socket. The program
	// takes it with [ReadFirst] before it calls [Serve].
	First []byte
	// Files are inherited by the program, from descriptor 4 on. Unix only.
	Files  []*os.File
	Limits Limits
}

// Limits are a warden's settings. Zero values mean the defaults.
type Limits struct {
	Grace    time.Duration // between TERM and KILL; default 500 ms
	Idle     time.Duration // a warden without processes ends after this; default 1 minute, negative never
	KeepFree int64         // bytes a log must leave free on its file system; default 1 GiB, negative none
}

const (
	defaultGrace    = 500 * time.Millisecond
	defaultIdle     = time.Minute
	defaultKeepFree = 1 << 30
)

func (l Limits) orDefaults() Limits {
	if l.Grace <= 0 {
		l.Grace = defaultGrace
	}
	if l.Idle == 0 {
		l.Idle = defaultIdle
	}
	if l.KeepFree == 0 {
		l.KeepFree = defaultKeepFree
	}
	return l
}

// Command is what is to run.
type Command struct {
	Argv []string // Argv[0] is a path
	Env  []string // the whole environment; JIG_CALL is added
	Dir  string   // an absolute path; empty means this program's working directory
	// Log names a file that gets the raw output, or is empty. It is created and must
	// not exist: a name that a command could have planted is not followed.
	Log string
	// LateLog makes the file only when more than 64 KiB are printed. Until then it is
	// in memory, for whoever calls [Job.KeepLog].
	LateLog bool
	Timeout time.Duration // 0: none
	Call    string        // the call this belongs to; begins the value of JIG_CALL
	Filter  Filter        // nil: the ends are raw
}

// Filter rewrites the stream before its ends are kept. The log is not
// affected. Its methods are never called at the same time.
type Filter interface {
	// Push takes the next bytes and gives those that are settled. The result is used
	// before the next call and may share memory with p.
	Push(p []byte) []byte
	// Rest gives what has been pushed and is not settled, as it stands now. It must
	// be bounded.
	Rest() []byte
}

// Reason is why a job was ended by this program.
type Reason uint8

// The reasons a job can be ended for.
const (
	Cancelled Reason = iota + 1
	TimedOut
	LogFull
)

// State is what became of a job. Until the job is done only Took means anything.
type State struct {
	Ended  bool
	Exit   int            // the exit code; 128 + the number of the signal that ended it
	Signal syscall.Signal // 0: it exited by itself
	// At most one of these is true. Each means the job was still running when it was
	// ended for that reason.
	Cancelled, TimedOut, LogFull bool
	// Lost: the init ended before the exit status was known. Exit is 137.
	Lost bool
	// LogErr is why the log is not complete, if it is not.
	LogErr error
	Took   time.Duration // from start to exit, or until now
}

// Left is a process that goes on after [Warden.Leave].
type Left struct {
	Pid     int    // as the commands see it
	HostPid int    // as the machine sees it; 0: unknown
	Call    string // of the command that started it; empty: unknown
	Command string // its command line, shortened
}

// ErrGone is returned by [Warden.Start] when the warden has ended (it was idle,
// closed, or its init died): nothing was started, and a new warden is needed.
var ErrGone = errors.New("the process that runs commands has ended")

// errLost is for a command of which nobody knows whether it was started, so that
// it is not for the caller to try again.
var errLost = errors.New("the process that runs commands ended while it was to start this one")

// StartError is why a command did not start. It matches its system error with
// [errors.Is].
type StartError struct {
	Path   string // the program, or the working directory where that was the reason
	Reason string // more than the system error says, or empty
	Err    error
}

func (e *StartError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("%s: %v (%s)", e.Path, e.Err, e.Reason)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

// Unwrap gives the system error.
func (e *StartError) Unwrap() error { return e.Err }
