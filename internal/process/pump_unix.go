//go:build linux || darwin

package process

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// pumpChunk is what one read takes.
	pumpChunk = 256 << 10
	// pipeSize is what we ask a pipe to hold once a read has brought as much as pipeFull: most
	// commands print little. Whatever it holds, no more than pipeMost can be in it when a command exits.
	pipeSize = 256 << 10
	pipeFull = 32 << 10
	pipeMost = 1 << 20
)

// pumpSys lends buffers only while there is something to read: a silent job
// costs none.
type pumpSys struct {
	buffers *sync.Pool
	wide    bool // more room was asked for
}

// begin empties the pipe on a goroutine of group until the last writer is gone.
func (p *pump) begin(group *sync.WaitGroup, over func()) {
	group.Go(func() {
		defer over()
		defer close(p.over)
		defer p.finish()
		rc, err := p.pipe.SyscallConn()
		if err == nil {
			_ = rc.Read(func(fd uintptr) bool {
				for !p.stop.Load() {
					switch _, err := p.step(int(fd)); {
					case errors.Is(err, unix.EAGAIN):
						return false
					case err != nil:
						return true
					}
				}
				return true
			})
		}
		if p.stop.Load() {
			return // whoever stopped it goes on with pipe and log
		}
		p.mu.Lock()
		p.log.close()
		p.mu.Unlock()
		_ = p.pipe.Close()
	})
}

// finish waits for what is still being filtered.
func (p *pump) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait()
}

var errDrained = errors.New("the last writer is gone")

// step reads once.
func (p *pump) step(fd int) (int, error) {
	buf := p.sys.buffers.Get().(*[]byte)
	free := func() { p.sys.buffers.Put(buf) }
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		n, err := unix.Read(fd, *buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			free()
			return 0, err
		case n == 0:
			free()
			return 0, errDrained
		}
		if n >= pipeFull && !p.sys.wide {
			p.sys.wide = true
			enlarge(fd)
		}
		p.take((*buf)[:n], free)
		return n, nil
	}
}

// halt stops reading and leaves pipe and log open. It reports false when there
// was nothing left to read anyway.
func (p *pump) halt() bool {
	p.stop.Store(true)
	_ = p.pipe.SetReadDeadline(time.Now())
	<-p.over
	rc, err := p.pipe.SyscallConn()
	return err == nil && rc.Control(func(uintptr) {}) == nil
}

// settle reads what the command left in the pipe when it exited, and then calls
// then. All of it is there, for a write is in the pipe before its writer can
// exit, and it is no more than a pipe holds: so this ends although a child goes
// on writing, and nothing has to be waited for. What takes longer than one read
// is done on a goroutine of group.
func (p *pump) settle(group *sync.WaitGroup, then func()) {
	rc, err := p.pipe.SyscallConn()
	if err != nil {
		then()
		return
	}
	if p.mu.TryLock() {
		empty := true
		_ = rc.Control(func(fd uintptr) {
			var fds [1]unix.PollFd
			fds[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
			n, err := unix.Poll(fds[:], 0)
			empty = err == nil && (n == 0 || fds[0].Revents&unix.POLLIN == 0)
		})
		p.mu.Unlock()
		if empty {
			then()
			return
		}
	}
	group.Go(func() {
		defer then()
		defer p.finish()
		_ = rc.Control(func(fd uintptr) {
			for read := 0; read < pipeMost; {
				n, err := p.step(int(fd))
				if err != nil {
					return
				}
				read += n
			}
		})
	})
}
