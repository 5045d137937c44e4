//go:build linux || darwin

package process

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// read takes what the init says until it says nothing more.
func (w *Warden) read(ready chan<- error) {
	defer close(w.gone)
	var q queue
	err := w.greet(&q)
	ready <- err
	for err == nil {
		err = w.dispatch(&q)
		if err != nil {
			break
		}
		var n int
		n, err = w.conn.Read(q.room(4 << 10))
		q.added(n)
	}
	w.end()
}

// dispatch handles every whole message in q.
func (w *Warden) dispatch(q *queue) error {
	for {
		kind, b, ok, err := q.next()
		if err != nil || !ok {
			return err
		}
		r := &body{b: b}
		w.handle(kind, r)
		if r.bad {
			return errFrame
		}
	}
}

func (w *Warden) handle(kind byte, r *body) {
	switch kind {
	case msgStarted:
		id, pid := r.num(), r.num()
		w.reply(id, reply{pid: int(pid)})
	case msgFailed:
		id, errno, what := r.num(), r.num(), r.num()
		w.reply(id, reply{errno: syscall.Errno(errno), what: what})
	case msgExited:
		id, code, sig, empty := r.num(), r.num(), r.num(), r.num()
		j := w.job(id)
		if j != nil && j.exit(int(code), syscall.Signal(sig), false) {
			j.out.settle(&w.wg, j.settle)
		}
		w.nothingLeft(empty)
		w.release(j)
	case msgEmpty:
		w.nothingLeft(r.num())
	case msgSwept:
		id, alive := r.num(), r.num()
		if j := w.job(id); j != nil {
			if alive > 0 && j.exit(0, syscall.SIGKILL, false) {
				j.settle() // it cannot be ended now; nobody is to wait for that
			}
			j.swept()
			w.release(j)
		}
	case msgLeft:
		w.tellLeft(r)
	}
}

func (w *Warden) reply(id uint64, r reply) {
	w.mu.Lock()
	c := w.starting[id]
	delete(w.starting, id)
	w.mu.Unlock()
	if c != nil {
		c <- r
	}
}

func (w *Warden) job(id uint64) *Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs[id]
}

// release takes a job about which nothing more is to come out of the table.
func (w *Warden) release(j *Job) {
	if j == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.exited && !j.sweeping {
		delete(w.jobs, j.id)
	}
}

// nothingLeft notes the init's word that it has no process: starts is one more
// than the number of commands it had been asked to start by then, or 0.
func (w *Warden) nothingLeft(starts uint64) {
	if starts == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.empty = starts
	w.restIfEmpty()
}

// Empty reports whether no process is left inside, not even one that a command
// has left behind.
func (w *Warden) Empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.empty == w.last+1
}

// Gone is closed when the warden has ended, also by itself after its idle time.
func (w *Warden) Gone() <-chan struct{} { return w.gone }

// restIfEmpty starts the clock that ends an idle warden. The decision is made
// on this side, between two starts, so that no command is sent to an init that
// is about to go. Callers hold mu.
func (w *Warden) restIfEmpty() {
	if w.limits.Idle < 0 || w.closed || w.empty != w.last+1 {
		return
	}
	if w.idle == nil {
		w.idle = time.AfterFunc(w.limits.Idle, w.expire)
		return
	}
	w.idle.Reset(w.limits.Idle)
}

func (w *Warden) expire() {
	w.mu.Lock()
	expired := !w.closed && w.empty == w.last+1
	w.closed = w.closed || expired
	w.stayAwake()
	w.mu.Unlock()
	if expired {
		_ = w.stopOrders()
	}
}

// endTree asks the init to end a job's tree, and makes sure of an answer.
func (w *Warden) endTree(j *Job) {
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		j.swept()
		return
	}
	w.jobs[j.id] = j
	w.stayAwake()
	w.mu.Unlock()
	f, _ := newFrame(msgKill).num(j.id).num(uint64(j.Pid())).str(j.mark).done()
	if err := w.send(f); err != nil {
		if !errors.Is(err, ErrGone) {
			w.abandon() // it cannot be told
		}
		return // the reader settles every job in the table
	}
	time.AfterFunc(w.limits.Grace+insistAfter, func() { w.insist(j, 0) })
}

// insistAfter is how long, after the grace, an init may take to end a tree
// before it is looked after. One that is only busy must not lose all its jobs.
const insistAfter = 2 * time.Second

// insist is for an init that does not do its work, which without a sandbox any
// command can bring about with a signal.
func (w *Warden) insist(j *Job, times int) {
	j.mu.Lock()
	waiting := j.sweeping
	j.mu.Unlock()
	switch {
	case !waiting:
	case times < 15:
		w.wake()
		killMarked(w.hostpid, w.number, j.id) // among them one that hangs in execve, and the init with it
		time.AfterFunc(insistAfter, func() { w.insist(j, times+1) })
	default:
		w.abandon()
	}
}

// abandon ends the init itself.
func (w *Warden) abandon() {
	w.wake()
	_ = w.proc.Kill()
	w.hangUp()
}

// end settles everything when the init is gone.
func (w *Warden) end() {
	w.mu.Lock()
	orderly, leaving := w.closed, w.leaving
	w.closed, w.ended = true, true
	for _, t := range []*time.Timer{w.idle, w.awake} {
		if t != nil {
			t.Stop()
		}
	}
	w.mu.Unlock()
	w.hangUp()
	if leaving {
		_ = w.proc.Release()
		_ = w.errors.SetReadDeadline(time.Now())
	} else {
		// The last words are in the pipe by now. Somebody else may hold it open.
		_ = w.errors.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		kill := time.AfterFunc(w.limits.Grace+sweepLimit, func() { _ = w.proc.Kill() })
		_, _ = w.proc.Wait()
		kill.Stop()
		if !orderly {
			endMarked(w.number)
		}
	}
	w.mu.Lock()
	jobs := make([]*Job, 0, len(w.jobs))
	for id, j := range w.jobs {
		jobs = append(jobs, j)
		delete(w.jobs, id)
	}
	for id, c := range w.starting {
		close(c)
		delete(w.starting, id)
	}
	w.empty = w.last + 1
	w.over = true
	w.mu.Unlock()
	for _, j := range jobs {
		if j.exit(0, syscall.SIGKILL, true) {
			j.out.settle(&w.wg, j.settle)
		}
		j.swept()
	}
	w.endPumps()
}

// endPumps waits for the pumps, all of whose writers should be gone, and stops
// those that are still held by a process nobody can end.
func (w *Warden) endPumps() {
	w.mu.Lock()
	var rest []*pump
	for p := range w.pumps {
		rest = append(rest, p)
	}
	w.mu.Unlock()
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	for _, p := range rest {
		select {
		case <-p.over:
			continue
		case <-limit.C:
			limit.Reset(0)
		}
		if p.halt() {
			p.mu.Lock()
			p.log.close()
			p.mu.Unlock()
			_ = p.pipe.Close()
		}
	}
}

// Close ends everything inside, as the end of this program would, and waits for
// it. Jobs that still run count as cancelled.
func (w *Warden) Close() error {
	w.mu.Lock()
	w.closed = true
	w.stayAwake()
	w.mu.Unlock()
	w.cancelAll()
	if err := w.stopOrders(); err != nil && !errors.Is(err, os.ErrClosed) {
		w.hangUp() // it is gone already, or will be for this
	}
	limit := time.AfterFunc(w.limits.Grace+2*sweepLimit, w.abandon)
	<-w.gone
	limit.Stop()
	w.wg.Wait()
	return nil
}

// cancelAll notes for every job that runs that it is this program that ends it.
func (w *Warden) cancelAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.jobs {
		j.mu.Lock()
		if s := &j.state; !j.exited && !s.TimedOut && !s.LogFull {
			s.Cancelled = true
		}
		j.mu.Unlock()
	}
}
