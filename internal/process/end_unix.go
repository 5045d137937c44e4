//go:build linux || darwin

package process

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweepLimit bounds the time spent on processes that cannot be ended, as those
// in an uninterruptible wait; lastLimit does so when nobody will come after us.
const (
	sweepLimit = 5 * time.Second
	lastLimit  = time.Minute
)

// scope says which processes are meant: those of one command, or all.
type scope struct {
	id   uint64 // of the command; 0: all that this init ever started
	root int    // pid of its direct child; 0: unknown
	mark string // its value of JIG_CALL
	// inner has the marks that those processes give if they are inits of wardens. What
	// an inner one has started belongs to it even when that warden's init is dead, and
	// with it every trace of descent.
	inner map[uint64]bool
}

// kill ends the tree of one command and says so.
func (in *inside) kill(id uint64, root int, mark string) {
	// It may not have been forked yet, and would be missed.
	in.mu.Lock()
	for in.pending[id] {
		in.changed.Wait()
	}
	in.mu.Unlock()
	alive := sweep(in.table, scope{id: id, root: root, mark: mark}, in.grace, sweepLimit, nil)
	in.send(newFrame(msgSwept).num(id).num(uint64(alive)))
}

// sweep ends the processes of s but those that spare wants to keep: TERM, a
// grace, and then KILL until nobody is left. It gives the number of those that
// are after limit.
//
// One look that finds nobody is no proof: a process can be in the middle of
// execve or be forked while the list is read. So all are stopped before the
// list is read again and its members are killed, and only three empty looks in
// a row end it.
func sweep(t *table, s scope, grace, limit time.Duration, spare func([]proc) []proc) int {
	s.inner = map[uint64]bool{}
	look := func(deep bool) []proc {
		all := t.look(s, deep)
		if spare != nil {
			all = spare(all)
		}
		return all
	}
	start := time.Now()
	t.signalAll(look(true), unix.SIGTERM, unix.SIGCONT) // a stopped one would never learn of the first
	for pause := time.Millisecond; time.Since(start) < grace; pause = min(2*pause, 20*time.Millisecond) {
		time.Sleep(pause)
		if len(look(false)) == 0 {
			break
		}
	}
	var all []proc
	for empty, deadline := 0, time.Now().Add(limit); empty < 3 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		all = look(empty == 0) // the costly look once, for it finds what it finds at any time
		if len(all) == 0 {
			empty++
			continue
		}
		empty = 0
		t.signalAll(all, unix.SIGSTOP)
		t.signalAll(append(all, look(false)...), unix.SIGKILL)
	}
	return len(all)
}

// signalAll sends signals to processes, and none to a child that has not come
// as far as execve yet. Until then the thread that forked it cannot be
// interrupted, not even by the garbage collector: a child that we stopped there
// would stop us before we could go on to kill it.
func (t *table) signalAll(all []proc, sigs ...unix.Signal) {
	t.fork.Lock()
	defer t.fork.Unlock()
	for _, p := range all {
		for _, sig := range sigs {
			t.signal(p, sig)
		}
	}
}

// finish ends everything: the host is gone, or wants it.
func (in *inside) finish() {
	in.mu.Lock()
	in.ending = true
	in.mu.Unlock()
	// A child that is being forked now would be missed by every look.
	for !in.wait(in.grace+time.Millisecond, func() bool { return !in.starting }) {
		// It hangs before its execve, and the thread that forked it hangs with it. It may
		// be killed there, though not stopped.
		for _, p := range in.table.look(scope{}, false) {
			in.table.signal(p, unix.SIGKILL)
		}
	}
	none := func() bool { return in.none }
	if os.Getpid() == 1 {
		// Everybody here is ours, and whoever is missed ends with us.
		_ = unix.Kill(-1, unix.SIGTERM)
		_ = unix.Kill(-1, unix.SIGCONT)
		if !in.wait(in.grace, none) {
			_ = unix.Kill(-1, unix.SIGKILL)
			in.wait(sweepLimit, none)
		}
	} else {
		sweep(in.table, scope{}, in.grace, lastLimit, nil)
		in.wait(50*time.Millisecond, none) // until the last is reaped
	}
	in.flushed(100 * time.Millisecond)
}

// wait waits until cond, which is asked with mu held, and no longer than limit.
func (in *inside) wait(limit time.Duration, cond func() bool) bool {
	late := false
	timer := time.AfterFunc(limit, func() {
		in.mu.Lock()
		late = true
		in.changed.Broadcast()
		in.mu.Unlock()
	})
	defer timer.Stop()
	in.mu.Lock()
	defer in.mu.Unlock()
	for !cond() && !late {
		in.changed.Wait()
	}
	return cond()
}

// flushed waits until the host has been told everything, if it still listens.
func (in *inside) flushed(limit time.Duration) {
	timer := time.AfterFunc(limit, func() {
		in.sendMu.Lock()
		in.broken = true
		in.sending.Broadcast()
		in.sendMu.Unlock()
	})
	defer timer.Stop()
	in.sendMu.Lock()
	defer in.sendMu.Unlock()
	for len(in.queued) > 0 && !in.broken {
		in.sending.Wait()
	}
}

// leave ends what has not detached itself and lists the rest.
func (in *inside) leave() {
	sweep(in.table, scope{}, in.grace, sweepLimit, func(all []proc) []proc {
		kept := in.detached(all)
		return slices.DeleteFunc(all, func(p proc) bool { return kept[p.pid] })
	})
	all := in.remaining()
	var f frame
	n := min(len(all), mostLeft)
	for _, p := range all[:n] {
		f = f.num(uint64(p.pid)).str(callOf(in.table.environ(p.pid))).str(in.table.command(p))
	}
	in.send(append(newFrame(msgLeft).num(uint64(n)), f...))
}

// remaining gives the processes that go on. The init of an inner warden has a
// session of its own and is on its way out when its program was ended; it is
// waited for, and for what it ends. Any process can look like one, so what is
// still there after that is in the list whatever it looks like.
func (in *inside) remaining() []proc {
	for deadline := time.Now().Add(in.grace + sweepLimit/2); ; time.Sleep(5 * time.Millisecond) {
		all := in.table.look(scope{}, true)
		kept := in.detached(all)
		all = slices.DeleteFunc(all, func(p proc) bool { return !kept[p.pid] })
		if time.Now().After(deadline) || !in.someEnding(all) {
			return all
		}
	}
}

// someEnding reports whether there is somebody who looks like a part of an inner
// warden and has no program above that goes on.
func (in *inside) someEnding(all []proc) bool {
	ends := func(p proc) bool { return p.name == InitName || in.table.foreign(p) }
	goesOn := map[int]bool{}
	for _, p := range all {
		goesOn[p.pid] = !ends(p)
	}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if goesOn[p.ppid] && !goesOn[p.pid] {
				goesOn[p.pid], grew = true, true
			}
		}
	}
	return slices.ContainsFunc(all, func(p proc) bool { return !goesOn[p.pid] })
}

// detached gives those of all that left their command's session or ignore
// SIGHUP, and what they have started.
func (in *inside) detached(all []proc) map[int]bool {
	kept := map[int]bool{}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, p := range all {
		if !in.commandSession(p) || in.table.ignoresHangup(p) {
			kept[p.pid] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if kept[p.ppid] && !kept[p.pid] {
				kept[p.pid], grew = true, true
			}
		}
	}
	return kept
}

// commandSession reports whether p is in the session its command began in.
// Callers hold mu.
func (in *inside) commandSession(p proc) bool {
	if id, ok := in.table.idOf(p); ok {
		return in.roots[id] == p.sid
	}
	for _, root := range in.roots {
		if root == p.sid {
			return true
		}
	}
	return false
}

// noteRoot remembers the session of a command, for as long as it may matter.
// Callers hold mu.
func (in *inside) noteRoot(id uint64, pid int) {
	const most = 4096
	if len(in.roots) >= most {
		used := map[int]bool{}
		for _, p := range in.table.look(scope{}, true) {
			used[p.sid] = true
		}
		for id, root := range in.roots {
			if !used[root] {
				delete(in.roots, id)
			}
		}
	}
	in.roots[id&^markMask] = pid
}

// hasMark looks for a command's variable in an environment.
func hasMark(environ []byte, mark string) bool {
	return mark != "" && bytes.Contains(append(append([]byte{0}, environ...), 0), []byte("\x00"+markName+mark+"\x00"))
}

// callOf finds the call in an environment.
func callOf(environ []byte) string {
	for _, s := range strings.Split(string(environ), "\x00") {
		if mark, ok := strings.CutPrefix(s, markName); ok {
			call, _, _ := splitMark(mark)
			return call
		}
	}
	return ""
}

// splitMark takes a mark apart: the call may contain dots.
func splitMark(mark string) (call, number, id string) {
	i := strings.LastIndexByte(mark, '.')
	if i < 0 {
		return mark, "", ""
	}
	k := strings.LastIndexByte(mark[:i], '.')
	if k < 0 {
		return mark, "", ""
	}
	return mark[:k], mark[k+1 : i], mark[i+1:]
}

// drain empties a pipe in the host's place: into the log that came with it as
// long as that leaves keepFree bytes, else into nothing, so that a process
// that goes on never blocks.
func (in *inside) drain(fds []int, keepFree int64) {
	if len(fds) == 0 {
		return
	}
	_ = unix.SetNonblock(fds[0], true)
	pipe := os.NewFile(uintptr(fds[0]), "output")
	var log *logFile
	if len(fds) > 1 {
		log = &logFile{file: os.NewFile(uintptr(fds[1]), "log"), keepFree: keepFree, next: logStep}
	}
	in.mu.Lock()
	in.draining++
	in.mu.Unlock()
	go func() { // ends with the process
		defer func() {
			in.mu.Lock()
			in.draining--
			in.changed.Broadcast()
			in.mu.Unlock()
		}()
		buf := make([]byte, 64<<10)
		for {
			n, err := pipe.Read(buf)
			log.write(buf[:n])
			if err == io.EOF {
				log.close()
				_ = pipe.Close()
				return
			}
			if err != nil {
				return
			}
		}
	}()
}

// stay keeps the init with those that were left, until the last is gone and what
// they wrote is in its log.
func (in *inside) stay() {
	in.outlive()
	in.wait(sweepLimit, func() bool { return in.draining == 0 }) // somebody elsewhere may hold a pipe open
}

func (in *inside) outlive() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		for !in.none {
			in.changed.Wait()
		}
		if !in.table.orphans() {
			return
		}
		in.mu.Unlock()
		time.Sleep(time.Second)
		in.mu.Lock()
	}
}
