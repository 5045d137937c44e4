package process

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	recvFlags = unix.MSG_CMSG_CLOEXEC
	sendFlags = unix.MSG_NOSIGNAL
)

// makePipe gives the ends of a pipe, the one to read from first.
func makePipe() (p [2]int, err error) {
	err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p, err
}

// enlarge lets a pipe hold more; a user who has many may not.
func enlarge(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) }

// becomeInit adopts whoever loses its parent, and closes this process's
// memory, descriptors and environment to commands of the same user.
func becomeInit() error {
	setName() // while that file is still our own
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot hide memory from commands: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot adopt orphans: %w", err)
	}
	return nil
}

// setName names the main thread, which is the name that others see. The file does so from any
// thread, but is closed to a process that may write nowhere.
func setName() {
	if unix.Gettid() == os.Getpid() {
		name := append([]byte(InitName), 0)
		if unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0) == nil {
			return
		}
	}
	f, err := os.OpenFile("/proc/self/comm", os.O_WRONLY, 0)
	if err == nil {
		_, _ = f.WriteString(InitName)
		_ = f.Close()
	}
}

// closeInherited closes the descriptors that came through execve, which are
// those without the close-on-exec flag: somebody may wait for the other end of
// one, or for a lock on it. The flag on all the rest is only a second lock.
func closeInherited(keep int) {
	names, err := os.ReadDir("/proc/self/fd")
	last := 1 << 10
	if err == nil {
		last = 0
		for _, n := range names {
			if fd, err := strconv.Atoi(n.Name()); err == nil {
				last = max(last, fd)
			}
		}
	}
	for fd := 3; fd <= last; fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); fd != keep && err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
}

// greet waits until the init is ready. Its message carries the sender's number,
// put there by the kernel as this side sees it.
func (w *Warden) greet(q *queue) error {
	if err := passCredentials(w.conn, 1); err != nil {
		return err
	}
	oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	for {
		n, on, _, _, err := w.conn.ReadMsgUnix(q.room(512), oob)
		if err != nil {
			return err
		}
		q.added(n)
		if msgs, err := unix.ParseSocketControlMessage(oob[:on]); err == nil && len(msgs) == 1 {
			if cred, err := unix.ParseUnixCredentials(&msgs[0]); err == nil {
				w.hostpid = int(cred.Pid)
			}
		}
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
		return passCredentials(w.conn, 0)
	}
}

func passCredentials(c *net.UnixConn, on int) error {
	rc, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	if err := rc.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, on)
	}); err != nil {
		return err
	}
	return set
}

// wake continues an init that was stopped.
func (w *Warden) wake() {
	if w.hostpid > 1 {
		_ = unix.Kill(w.hostpid, unix.SIGCONT)
	}
}

func (w *Warden) hostPid(j *Job) int { return w.hostPidOf(j.Pid()) }

// hostPidOf translates a number. Where the init has another number outside
// than inside, so have its commands; they are then found by the number they
// have in the innermost namespace, among the init's descendants.
func (w *Warden) hostPidOf(pid int) int {
	if pid == 0 || w.hostpid == 0 || w.hostpid == w.pid {
		return pid
	}
	want := strconv.Itoa(pid)
	for _, p := range descendants(w.hostpid, nil) {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(p) + "/status")
		for line := range strings.Lines(string(b)) {
			if list, ok := strings.CutPrefix(line, "NSpid:"); ok {
				if f := strings.Fields(list); len(f) > 1 && f[len(f)-1] == want {
					return p
				}
			}
		}
	}
	return 0
}
