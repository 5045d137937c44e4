//go:build linux || darwin

package process

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// InitName is what the init calls itself, so that one of another session can be
// told from a process that detached itself.
const InitName = "jig-warden"

// ReadFirst takes [Launch.First] from the control socket, and not a byte more.
// It is empty when the launch had none, and must then not be called.
func ReadFirst(control *os.File) ([]byte, error) {
	kind, b, _, err := readFrame(int(control.Fd()))
	if err == nil && kind != msgFirst {
		err = errFrame
	}
	return b, err
}

// readFrame reads exactly one message, and the descriptors that came with it.
func readFrame(fd int) (kind byte, b []byte, fds []int, err error) {
	var h [frameHeader]byte
	if fds, err = readFull(fd, h[:]); err != nil {
		return 0, nil, nil, err
	}
	kind, size, err := header(h[:])
	if err != nil {
		return 0, nil, nil, err
	}
	b = make([]byte, size)
	_, err = readFull(fd, b)
	return kind, b, fds, err
}

func readFull(fd int, b []byte) (fds []int, err error) {
	oob := make([]byte, unix.CmsgSpace(4))
	for len(b) > 0 {
		n, more, err := receive(fd, b, oob)
		fds = append(fds, more...)
		switch {
		case err != nil:
			return fds, err
		case n == 0:
			return fds, io.ErrUnexpectedEOF
		}
		b = b[n:]
	}
	return fds, nil
}

// inside is the init: what runs where the commands run.
type inside struct {
	fd     int // where orders come from, blocking
	word   int // where the host listens, blocking
	stdin  *os.File
	grace  time.Duration
	table  *table
	over   chan bool  // the host is gone; true: it took its leave
	starts sync.Mutex // one start at a time

	mu       sync.Mutex
	changed  *sync.Cond      // any of these has changed
	live     map[int]uint64  // direct children by pid
	roots    map[uint64]int  // direct children by command, also ended ones
	pending  map[uint64]bool // commands that are not started yet
	early    map[int]early   // children that were reaped before their start was noted
	starting bool
	reaping  bool   // somebody waits for children
	handled  uint64 // starts
	draining int    // pipes that are emptied in the host's place
	none     bool   // no child is left, not even an adopted one
	ending   bool

	sendMu  sync.Mutex
	queued  []byte // what the host has not taken yet
	sending *sync.Cond
	broken  bool
}

type early struct{ code, sig int }

// Serve is the init's whole life: it takes commands from the control socket
// until that closes, ends everything that is left, and returns the exit code.
// The process must have confined itself before. Serve takes the process over:
// its signals, its descriptors (all but 0 to 2 and control are closed where they
// were inherited) and, on Linux, its children.
func Serve(control *os.File) int {
	defer runtime.KeepAlive(control)
	in := &inside{
		fd: int(control.Fd()), over: make(chan bool, 1), live: map[int]uint64{}, early: map[int]early{}, pending: map[uint64]bool{}, roots: map[uint64]int{}, none: true,
	}
	in.changed, in.sending = sync.NewCond(&in.mu), sync.NewCond(&in.sendMu)
	if err := in.prepare(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot run commands here: %v\n", err)
		return 1
	}
	// These end with the process: each may be in a system call that nothing ends.
	go in.flush()
	in.reaping = true
	go in.reap()
	in.send(newFrame(msgReady).num(uint64(os.Getpid())))
	go in.listen(&reading{oob: make([]byte, unix.CmsgSpace(8*4))})
	if <-in.over {
		in.stay()
	} else {
		in.finish()
	}
	return 0
}

// prepare makes the process fit to be an init, and reads its settings.
func (in *inside) prepare() error {
	// Caught, not ignored: what is ignored stays ignored in every command, and a
	// program that was itself started with nohup would make all of them detached.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM,
		syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := unix.SetNonblock(in.fd, false); err != nil {
		return err
	}
	unix.CloseOnExec(in.fd)
	closeInherited(in.fd)
	os.Clearenv()
	_ = os.Chdir("/")
	if err := becomeInit(); err != nil {
		return err
	}
	var err error
	if in.stdin, err = os.Open(os.DevNull); err != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		_ = w.Close() // a pipe without a writer is as empty
		in.stdin = r
	}
	for {
		kind, b, fds, err := readFrame(in.fd)
		if err != nil {
			return err
		}
		if kind == msgSetup {
			if len(fds) == 0 {
				return errFrame
			}
			in.word = fds[0]
			r := body{b: b}
			in.grace = time.Duration(r.num()) * time.Millisecond
			in.table = newTable(os.Getpid(), r.num())
			warmUp()
			return nil
		}
	}
}

// mostLooks is how many looks at the process list may run at a time. Each can
// occupy a thread.
const mostLooks = 4

// warmUp makes the runtime create the threads it will need. Later the system
// may refuse one, because commands have used up what a user may have, and the
// runtime does not survive that.
func warmUp() {
	var here, all sync.WaitGroup
	enough := make(chan struct{})
	for range 12 + mostLooks {
		here.Add(1)
		all.Go(func() {
			runtime.LockOSThread() // so that each holds a thread until all do
			defer runtime.UnlockOSThread()
			here.Done()
			<-enough
		})
	}
	here.Wait()
	close(enough)
	all.Wait()
}

// reading is where the control socket has been read to.
type reading struct {
	q        queue
	fds      []int // that came and have not been used
	oob      []byte
	farewell bool
}

// listen handles messages until the host is gone; then it says whether it took
// its leave. Whoever reads an order carries it out, and waits for its child where
// nobody waits yet, and another goroutine reads on: handing the order or the child
// over instead would cost every command the waking of a thread, and not reading
// meanwhile would miss the end of the host.
func (in *inside) listen(r *reading) {
	for {
		for {
			kind, b, ok, err := r.q.next()
			if err != nil {
				in.over <- false
				return
			}
			if !ok {
				break
			}
			if kind != msgStart {
				in.handle(kind, b, r)
				continue
			}
			o, err := readStart(b)
			if err != nil || len(r.fds) == 0 {
				in.over <- false
				return
			}
			o.pipe, r.fds = r.fds[0], r.fds[1:]
			in.mu.Lock()
			in.pending[o.id] = true
			in.mu.Unlock()
			go in.listen(r)
			if in.start(o) {
				in.reap()
			}
			return
		}
		n, more, err := receive(in.fd, r.q.room(32<<10), r.oob)
		if err != nil || n == 0 {
			in.over <- r.farewell
			return
		}
		r.fds = append(r.fds, more...)
		r.q.added(n)
	}
}

func (in *inside) handle(kind byte, b []byte, r *reading) {
	switch kind {
	case msgKill:
		r := body{b: b}
		id, root, mark := r.num(), int(r.num()), r.str()
		go in.kill(id, root, mark) // answers; ends with the process
	case msgLeave:
		go in.leave() // likewise
	case msgDrain:
		in.drain(r.fds, int64((&body{b: b}).num()))
		r.fds = nil
	case msgFarewell:
		r.farewell = true
	}
}

// receive reads bytes and the descriptors that came with them.
func receive(fd int, b, oob []byte) (n int, fds []int, err error) {
	var on int
	for {
		n, on, _, _, err = unix.Recvmsg(fd, b, oob, recvFlags)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil || on == 0 {
		return n, nil, err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:on])
	if err != nil {
		return n, nil, err
	}
	for i := range msgs {
		if got, err := unix.ParseUnixRights(&msgs[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	return n, fds, nil
}

// send says something to the host without ever waiting for it: a host that was
// stopped must not keep children from being reaped, or a dead one from being
// noticed. What is queued is bounded by the commands the host asked for.
func (in *inside) send(f frame) {
	b, err := f.done()
	if err != nil {
		return
	}
	in.sendMu.Lock()
	defer in.sendMu.Unlock()
	if in.broken {
		return
	}
	if len(in.queued) == 0 {
		n, err := unix.SendmsgN(in.word, b, nil, nil, unix.MSG_DONTWAIT|sendFlags)
		switch {
		case err == nil:
			b = b[n:]
		case err != unix.EAGAIN && err != unix.EINTR && err != unix.ENOBUFS:
			in.broken = true
			return
		}
	}
	if len(b) > 0 {
		in.queued = append(in.queued, b...)
		in.sending.Broadcast()
	}
}

// flush writes what was queued.
func (in *inside) flush() {
	in.sendMu.Lock()
	defer in.sendMu.Unlock()
	for {
		for len(in.queued) == 0 {
			in.sending.Wait()
		}
		b := in.queued
		in.sendMu.Unlock()
		n, err := unix.SendmsgN(in.word, b, nil, nil, sendFlags)
		in.sendMu.Lock()
		if err != nil && err != unix.EINTR {
			in.broken, in.queued = true, nil
		} else if in.queued = in.queued[max(n, 0):]; len(in.queued) == 0 {
			in.queued = nil
		}
		in.sending.Broadcast()
	}
}
