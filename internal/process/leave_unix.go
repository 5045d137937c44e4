//go:build linux || darwin

package process

import (
	"time"
)

// mostLeft bounds the list of processes that go on.
const mostLeft = 256

// Leave is the orderly exit: it ends every process but those that detached
// themselves (by a session of their own, or by ignoring SIGHUP, which is what
// setsid and nohup do) and what these have started. They go on in the same
// confinement; the init stays with them, empties their output into the log, and
// ends with the last of them. Leave lists them; without any it is [Warden.Close].
func (w *Warden) Leave() (spared []Left, err error) {
	left := make(chan []Left, 1)
	w.mu.Lock()
	first := w.left == nil && !w.over
	if first {
		w.left = left
	}
	w.closed = true
	w.stayAwake()
	w.mu.Unlock()
	if !first {
		return nil, w.Close()
	}
	w.cancelAll()
	f, _ := newFrame(msgLeave).done()
	if w.send(f) != nil {
		return nil, w.Close()
	}
	limit := time.NewTimer(w.limits.Grace + 2*sweepLimit)
	defer limit.Stop()
	select {
	case spared = <-left:
	case <-w.gone:
	case <-limit.C:
	}
	if len(spared) == 0 {
		return nil, w.Close()
	}
	for i := range spared {
		spared[i].HostPid = w.hostPidOf(spared[i].Pid)
	}
	w.handOver()
	w.mu.Lock()
	w.leaving = true
	w.mu.Unlock()
	f, _ = newFrame(msgFarewell).done()
	if err := w.send(f); err != nil {
		return nil, w.Close()
	}
	_ = w.stopOrders()
	_ = w.conn.SetReadDeadline(time.Now()) // the reader's end
	<-w.gone
	w.wg.Wait()
	return spared, nil
}

// handOver gives the init every pipe that may still be written to.
func (w *Warden) handOver() {
	w.mu.Lock()
	var rest []*pump
	for p := range w.pumps {
		rest = append(rest, p)
	}
	w.mu.Unlock()
	for _, p := range rest {
		if !p.halt() {
			continue
		}
		p.mu.Lock()
		fds := []int{int(p.pipe.Fd())}
		if p.log != nil && p.log.err == nil && p.log.file != nil {
			fds = append(fds, int(p.log.file.Fd()))
		}
		f, _ := newFrame(msgDrain).num(uint64(w.limits.KeepFree)).done()
		_ = w.send(f, fds...) // when it fails the init is gone, and so are the writers
		p.log.close()
		p.mu.Unlock()
		_ = p.pipe.Close()
	}
}

// tellLeft takes the init's list of what goes on.
func (w *Warden) tellLeft(r *body) {
	n := min(r.num(), mostLeft)
	list := make([]Left, 0, n)
	for range n {
		list = append(list, Left{Pid: int(r.num()), Call: r.str(), Command: r.str()})
	}
	w.mu.Lock()
	c := w.left
	w.mu.Unlock()
	if c != nil {
		select {
		case c <- list:
		default:
		}
	}
}
