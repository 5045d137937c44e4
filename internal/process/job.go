package process

import (
	"sync"
	"syscall"
	"time"
)

// Job is one command from its start on. It lives as long as anybody holds it,
// whatever becomes of the call that asked for it.
type Job struct {
	w     *Warden
	id    uint64 // never 0
	call  string
	mark  string // its value of JIG_CALL
	pid   int
	began time.Time
	done  chan struct{}
	out   *pump

	mu       sync.Mutex
	state    State
	timer    *time.Timer
	exited   bool // the status in state is final
	settled  bool // what it wrote has been read
	sweeping bool // its tree is being ended
	finished bool // done is closed
}

// Pid is the process number as the commands see it.
func (j *Job) Pid() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.pid
}

// HostPid is the process number as the machine sees it; 0 when it is not known,
// which it need not be once the process is gone.
func (j *Job) HostPid() int { return j.w.hostPid(j) }

// Call is the call the command was started for.
func (j *Job) Call() string { return j.call }

// Done is closed when the command has exited, its status is known and all it
// wrote itself has been read. Children of it that still run, or still hold its
// output open, do not keep it from being done; but when the job was ended
// through [Job.Kill] or its timeout, its whole tree is gone by then.
func (j *Job) Done() <-chan struct{} { return j.done }

// State is what became of the job.
func (j *Job) State() State {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.state
	s.Ended = j.finished
	if !j.exited {
		s.Took = time.Since(j.began)
	}
	s.LogErr = j.out.logErr()
	return s
}

// Output is what has been printed until now, also by children that go on.
func (j *Job) Output() Output {
	o := j.out.output()
	select {
	case <-j.done:
	default:
		o = o.withoutPartialRune()
	}
	return o
}

// KeepLog gives the log of a job a lasting name, that of a file which does not
// exist, and makes a file of it if it is none yet.
func (j *Job) KeepLog(name string) error { return j.out.keepLog(name) }

// DropLog removes the log. What is printed from now on is not logged.
func (j *Job) DropLog() { j.out.dropLog() }

// Kill ends the job's whole tree: TERM, a grace, then KILL for whoever is left.
// It returns at once; Done follows. For a job that is done it ends what is left
// of its tree and changes nothing else.
func (j *Job) Kill(why Reason) {
	j.mu.Lock()
	if !j.exited && !j.state.Cancelled && !j.state.TimedOut && !j.state.LogFull {
		j.state.Cancelled = why == Cancelled
		j.state.TimedOut = why == TimedOut
		j.state.LogFull = why == LogFull
	}
	sweeping := j.sweeping
	j.sweeping = true
	j.mu.Unlock()
	if !sweeping { // one is enough: it goes on until nobody is left
		j.w.endTree(j)
	}
}

// exit records the status. It says whether this was the first to do so.
func (j *Job) exit(code int, sig syscall.Signal, lost bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.exited {
		return false
	}
	j.exited = true
	j.state.Exit, j.state.Signal, j.state.Lost = code, sig, lost
	if sig != 0 {
		j.state.Exit = 128 + int(sig)
	}
	if !j.began.IsZero() {
		j.state.Took = time.Since(j.began)
	}
	if j.timer != nil {
		j.timer.Stop()
	}
	return true
}

// settle notes that all the command wrote has been read.
func (j *Job) settle() {
	j.mu.Lock()
	j.settled = true
	j.finish()
	j.mu.Unlock()
}

// swept notes that the end of its tree is over.
func (j *Job) swept() {
	j.mu.Lock()
	j.sweeping = false
	j.finish()
	j.mu.Unlock()
}

// finish closes done when nothing is left to wait for. Callers hold mu.
func (j *Job) finish() {
	if j.exited && j.settled && !j.sweeping && !j.finished {
		j.finished = true
		close(j.done)
	}
}
