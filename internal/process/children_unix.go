//go:build linux || darwin

package process

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// start carries out one order. There is one at a time: the mark that a child
// inherits is set on the init itself for the time of the fork. It says whether it
// is for the caller to reap.
func (in *inside) start(o startOrder) (reap bool) {
	in.starts.Lock()
	defer in.starts.Unlock()
	in.mu.Lock()
	if in.ending {
		in.mu.Unlock()
		_ = unix.Close(o.pipe)
		return false
	}
	in.starting = true
	in.mu.Unlock()
	attr := &syscall.ProcAttr{
		Dir: o.dir, Env: o.env, Sys: &syscall.SysProcAttr{Setsid: true},
		Files: []uintptr{in.stdin.Fd(), uintptr(o.pipe), uintptr(o.pipe)},
	}
	var pid int
	err := in.table.marked(o.id, func() (err error) {
		pid, err = syscall.ForkExec(o.argv[0], o.argv, attr)
		return err
	})
	_ = unix.Close(o.pipe)

	in.mu.Lock()
	in.starting = false
	delete(in.pending, o.id)
	in.changed.Broadcast()
	in.handled++
	if err == nil {
		in.noteRoot(o.id, pid)
	}
	end, over := in.early[pid]
	clear(in.early)
	if err == nil && !over {
		in.live[pid] = o.id
		in.none = false
		in.changed.Broadcast()
		reap, in.reaping = !in.reaping, true
	}
	empty := in.emptyNow()
	in.mu.Unlock()

	if err != nil {
		errno, what := diagnose(err, o)
		in.send(newFrame(msgFailed).num(o.id).num(uint64(errno)).num(uint64(what)))
		if empty != 0 {
			in.send(newFrame(msgEmpty).num(empty))
		}
		return false
	}
	in.send(newFrame(msgStarted).num(o.id).num(uint64(pid)))
	if over {
		in.send(newFrame(msgExited).num(o.id).num(uint64(end.code)).num(uint64(end.sig)).num(empty))
	}
	return reap
}

// diagnose finds out which of the things a start needs was not there.
func diagnose(err error, o startOrder) (syscall.Errno, int) {
	errno := syscall.EINVAL
	errors.As(err, &errno)
	if errno != syscall.ENOENT && errno != syscall.ENOTDIR && errno != syscall.EACCES && errno != syscall.ELOOP {
		return errno, failedExec
	}
	dir, err := os.Stat(o.dir)
	switch {
	case err != nil:
		errors.As(err, &errno)
		return errno, failedDir
	case !dir.IsDir():
		return syscall.ENOTDIR, failedDir
	case unix.Access(o.dir, unix.X_OK) != nil:
		return syscall.EACCES, failedDir
	}
	if _, err := os.Stat(o.argv[0]); err == nil && errno == syscall.ENOENT {
		return errno, failedInterp
	}
	return errno, failedExec
}

// reap takes the exit status of every child, adopted ones too, until there is none.
func (in *inside) reap() {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.ECHILD:
			if in.childless() {
				return
			}
		case err == nil && (ws.Exited() || ws.Signaled()):
			in.ended(pid, ws)
		}
	}
}

// childless notes that no child is left. It is false when one was started in
// between; else whoever starts the next one reaps it.
func (in *inside) childless() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.live) > 0 {
		return false
	}
	if !in.none {
		in.none = true
		in.changed.Broadcast()
		if empty := in.emptyNow(); empty != 0 {
			in.send(newFrame(msgEmpty).num(empty))
		}
	}
	in.reaping = false
	return true
}

// emptyNow is what the host is told about nothing being left: 0 when that is
// not so, or not certain. Callers hold mu.
func (in *inside) emptyNow() uint64 {
	if !in.none || in.starting || len(in.live) > 0 || in.table.orphans() {
		return 0
	}
	return in.handled + 1
}

// ended handles one exit.
func (in *inside) ended(pid int, ws unix.WaitStatus) {
	code, sig := ws.ExitStatus(), 0
	if ws.Signaled() {
		code, sig = 0, int(ws.Signal())
	}
	// Whether that was the last child goes into the same message: it saves one.
	last := noChildren()
	in.mu.Lock()
	defer in.mu.Unlock()
	id, ours := in.live[pid]
	delete(in.live, pid)
	if !ours {
		if in.starting {
			// It may be the one that is just being started, and have left something behind.
			in.early[pid] = early{code, sig}
			in.none = last
		}
		return
	}
	if last && len(in.live) == 0 {
		in.none = true
		in.changed.Broadcast()
	}
	in.send(newFrame(msgExited).num(id).num(uint64(code)).num(uint64(sig)).num(in.emptyNow()))
}
