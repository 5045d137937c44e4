//go:build linux || darwin

package process

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Warden is this program's side of one init.
type Warden struct {
	limits  Limits
	number  uint64        // tells the marks of this warden from another's
	conn    *net.UnixConn // what the init says
	orders  *os.File      // what it is told; blocking, see [Warden.push]
	proc    *os.Process
	said    *said
	errors  *os.File // where said comes from
	pid     int      // of the init, as it sees itself
	hostpid int
	buffers sync.Pool // for pumps
	wg      sync.WaitGroup
	gone    chan struct{} // closed when the init is gone and every job knows

	sendMu    sync.Mutex
	sendLimit time.Duration

	mu       sync.Mutex
	jobs     map[uint64]*Job // started or starting, until done
	pumps    map[*pump]bool
	starting map[uint64]chan reply
	last     uint64 // number of the last start
	empty    uint64 // the init had nothing left after this many starts, + 1
	idle     *time.Timer
	awake    *time.Timer // nil: nobody waits for anything
	ended    bool        // the init is gone, or about to be waited for: its pid is not to be used
	closed   bool        // nothing more is started
	over     bool        // the init is gone, and all jobs have been told
	leaving  bool
	left     chan []Left
}

type reply struct {
	pid   int
	errno syscall.Errno
	what  uint64
}

// said keeps what the init says of its end. Where the runtime gives up, the first words are why and a
// trace of everything else follows.
type said struct {
	mu sync.Mutex
	b  []byte
}

func (s *said) Write(p []byte) (int, error) {
	const most = 4 << 10
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b = append(s.b, p[:min(len(p), most-len(s.b))]...)
	return len(p), nil
}

// String gives it in one line, without a trace.
func (s *said) String() string {
	const longest = 300
	s.mu.Lock()
	defer s.mu.Unlock()
	text := "\n" + strings.ToValidUTF8(string(s.b), "\uFFFD")
	for _, trace := range []string{"\ngoroutine ", "\nruntime stack:", "\nSIG"} {
		text, _, _ = strings.Cut(text, trace)
	}
	return string(FirstBytes([]byte(strings.Join(strings.Fields(text), " ")), longest))
}

// Open starts an init and waits until it is ready for commands. When it does
// not get that far the error says what it printed. ctx bounds the waiting only.
func Open(ctx context.Context, l Launch) (*Warden, error) {
	w := &Warden{
		limits: l.Limits.orDefaults(), said: &said{}, gone: make(chan struct{}),
		jobs: map[uint64]*Job{}, pumps: map[*pump]bool{}, starting: map[uint64]chan reply{},
		empty: 1, sendLimit: sendLimit,
	}
	w.buffers.New = func() any { b := make([]byte, pumpChunk); return &b }
	if err := w.launch(l); err != nil {
		return nil, err
	}
	ready := make(chan error, 1)
	w.wg.Go(func() { w.read(ready) })
	select {
	case err := <-ready:
		if err == nil {
			w.mu.Lock()
			w.restIfEmpty()
			w.mu.Unlock()
			return w, nil
		}
		<-w.gone
		w.wg.Wait()
		if text := w.said.String(); text != "" {
			return nil, fmt.Errorf("%s did not become ready: %s", l.Path, text)
		}
		return nil, fmt.Errorf("%s did not become ready: %w", l.Path, err)
	case <-ctx.Done():
		_ = w.proc.Kill()
		w.hangUp()
		w.wg.Wait()
		return nil, fmt.Errorf("%s did not become ready: %w", l.Path, context.Cause(ctx))
	}
}

// launch starts the init's program and says the first words to it.
func (w *Warden) launch(l Launch) error {
	first, err := append(newFrame(msgFirst), l.First...).done()
	if err != nil {
		return err
	}
	orders, control, err := socketpair()
	if err != nil {
		return fmt.Errorf("cannot make a control socket: %w", err)
	}
	defer func() { _ = control.Close() }()
	w.orders = orders
	var said *os.File
	if w.conn, said, err = listener(); err != nil {
		_ = orders.Close()
		return err
	}
	defer func() { _ = said.Close() }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		w.hangUp()
		return err
	}
	defer func() { _ = null.Close() }()
	errR, errW, err := os.Pipe()
	if err != nil {
		w.hangUp()
		return err
	}
	attr := &syscall.SysProcAttr{}
	if l.Attr != nil {
		copied := *l.Attr
		attr = &copied
	}
	attr.Setsid = true // no signal of our terminal is meant for it
	env := l.Env
	if env == nil {
		env = []string{} // nil would mean our own, with every key in it
	}
	w.proc, err = os.StartProcess(l.Path, l.Args, &os.ProcAttr{
		Dir: "/", Env: env, Files: append([]*os.File{null, errW, errW, control}, l.Files...), Sys: attr,
	})
	_ = errW.Close()
	if err != nil {
		_ = errR.Close()
		w.hangUp()
		return err
	}
	w.wg.Go(func() {
		_, _ = io.Copy(w.said, errR)
		_ = errR.Close()
	})
	w.errors = errR
	w.number = numberOf(w.proc.Pid)
	if len(l.First) > 0 {
		_ = w.send(first) // should it fail, the init is ending and the reader says why
	}
	f, _ := newFrame(msgSetup).num(uint64(w.limits.Grace.Milliseconds())).num(w.number).done()
	_ = w.send(f, int(said.Fd())) // likewise
	return nil
}

func randomNumber() uint64 {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	return binary.LittleEndian.Uint64(seed[:])
}

// listener makes the socket that the init speaks through. It is another one than that of the orders:
// whoever takes a message from a socket wakes everybody who waits at its other end, and each side would
// be woken for nothing with each command.
func listener() (*net.UnixConn, *os.File, error) {
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a control socket: %w", err)
	}
	defer func() { _ = ours.Close() }() // the connection has its own copy
	conn, err := net.FileConn(ours)
	if err != nil {
		_ = theirs.Close()
		return nil, nil, fmt.Errorf("cannot use the control socket: %w", err)
	}
	return conn.(*net.UnixConn), theirs, nil
}

// hangUp closes both sockets.
func (w *Warden) hangUp() {
	_ = w.orders.Close()
	_ = w.conn.Close()
}

// stopOrders tells the init that no more orders come.
func (w *Warden) stopOrders() error {
	var err error
	if e := withDescriptor(w.orders, func(fd int) { err = unix.Shutdown(fd, unix.SHUT_WR) }); e != nil {
		return e
	}
	return err
}

// withDescriptor lets use have a file's descriptor as it is, which [os.File.Fd] may not leave it.
func withDescriptor(f *os.File, use func(fd int)) error {
	rc, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return rc.Control(func(fd uintptr) { use(int(fd)) })
}

func socketpair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return os.NewFile(uintptr(p[0]), "control"), os.NewFile(uintptr(p[1]), "control"), nil
}

// sendLimit bounds how long an init may take to read what it is told. It reads
// whatever else it does, unless something stops it again and again.
const sendLimit = 10 * time.Second

// send writes one message, and descriptors with its first byte. An init that does
// not take it in time is ended, and so is one that has got a part of it: what
// follows half a message would be read as its other half. It is [ErrGone] then.
// Any other error means that nothing was sent and the init is as it was.
func (w *Warden) send(f []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	w.sendMu.Lock()
	defer w.sendMu.Unlock()
	whole := len(f)
	for limit := time.Now().Add(w.sendLimit); len(f) > 0; {
		n, err := w.push(f, oob)
		if f = f[n:]; n > 0 {
			oob = nil
		}
		late := errors.Is(err, unix.EAGAIN)
		switch {
		case len(f) == 0:
		case err != nil && !late && len(f) == whole && passing(err):
			return err
		case err != nil && !late, time.Now().After(limit): // also when it reads a little now and then
			w.abandon()
			return ErrGone
		case late:
			w.wake() // a command may have stopped it
		}
	}
	return nil
}

// push writes what the init has room for, and waits a while where it has none: EAGAIN is the answer
// then. It does so without the runtime's poller, which would be woken whenever the init reads.
func (w *Warden) push(f, oob []byte) (n int, err error) {
	e := withDescriptor(w.orders, func(fd int) {
		for again := true; again; {
			again = false
			n, err = unix.SendmsgN(fd, f, oob, nil, unix.MSG_DONTWAIT|sendFlags)
			switch err {
			case unix.EINTR:
				again = true
			case unix.EAGAIN:
				ready, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(wakeAfter.Milliseconds()))
				again = ready > 0
			}
		}
	})
	return max(n, 0), errors.Join(e, err)
}

// passing reports whether the system refused only for now: a user may have no
// more than so many descriptors on their way, and commands can have them all.
func passing(err error) bool {
	return errors.Is(err, unix.ETOOMANYREFS) || errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENOMEM)
}

// stayAwake sees to it, as long as anything is awaited from the init, that it is
// not stopped: where it is in reach of the commands any of them can do that, and
// nothing would be heard of any of them again. To ask whether it is would cost
// more than to continue it. Callers hold mu.
func (w *Warden) stayAwake() {
	if w.awake == nil && !w.ended {
		w.awake = time.AfterFunc(wakeAfter, w.keepAwake)
	}
}

func (w *Warden) keepAwake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.awake == nil || w.ended || len(w.jobs) == 0 && !w.closed {
		w.awake = nil
		return
	}
	w.wake()
	w.awake.Reset(wakeAfter)
}
