package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	recvFlags = 0
	sendFlags = 0
)

// makePipe gives the ends of a pipe, the one to read from first.
func makePipe() (p [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err = unix.Pipe(p[:]); err == nil {
		unix.CloseOnExec(p[0])
		unix.CloseOnExec(p[1])
	}
	return p, err
}

func enlarge(int) {}

// becomeInit has nothing to do: this system has no adoption of orphans, which
// are found by their session and their mark instead, and shows no process's
// memory to another.
func becomeInit() error { return nil }

// closeInherited closes the descriptors that came through execve, which are
// those without the close-on-exec flag.
func closeInherited(keep int) {
	last := 1 << 10
	if d, err := os.Open("/dev/fd"); err == nil {
		if names, err := d.Readdirnames(-1); err == nil {
			last = max(last, len(names)+16)
		}
		_ = d.Close()
	}
	for fd := 3; fd <= last; fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); fd != keep && err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// greet waits until the init is ready.
func (w *Warden) greet(q *queue) error {
	for {
		n, err := w.conn.Read(q.room(512))
		if err != nil {
			return err
		}
		q.added(n)
		kind, b, ok, err := q.next()
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		r := body{b: b}
		if w.pid = int(r.num()); kind != msgReady || r.bad {
			return errFrame
		}
		w.hostpid = w.pid
		return nil
	}
}

func (w *Warden) wake() { _ = w.proc.Signal(unix.SIGCONT) }

// There is one numbering of processes on this system.
func (w *Warden) hostPid(j *Job) int    { return j.Pid() }
func (w *Warden) hostPidOf(pid int) int { return pid }

// noChildren cannot be asked here without reaping; the next wait tells.
func noChildren() bool { return false }
