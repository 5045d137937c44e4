package process

import (
	"sync"
	"time"
)

const pumpChunk = 64 << 10

// drainQuiet and drainMost bound the wait for what a command wrote just before
// it exited: pipes here cannot be read without waiting.
const (
	drainQuiet = 10 * time.Millisecond
	drainMost  = 50 * time.Millisecond
)

type pumpSys struct{ reads uint64 }

// begin empties the pipe on a goroutine of group until the last writer is gone.
func (p *pump) begin(group *sync.WaitGroup) {
	group.Go(func() {
		defer close(p.over)
		buf := make([]byte, pumpChunk)
		for {
			n, err := p.pipe.Read(buf)
			p.mu.Lock()
			p.sys.reads++
			if n > 0 {
				p.take(buf[:n], nil)
			}
			p.mu.Unlock()
			if err != nil {
				break
			}
		}
		p.mu.Lock()
		p.log.close()
		p.mu.Unlock()
		_ = p.pipe.Close()
	})
}

// settle waits until the pipe is at its end, or quiet for a moment.
func (p *pump) settle() {
	reads := func() uint64 {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.sys.reads
	}
	for start, last := time.Now(), reads(); time.Since(start) < drainMost; {
		select {
		case <-p.over:
			return
		case <-time.After(drainQuiet):
		}
		now := reads()
		if now == last {
			return
		}
		last = now
	}
}

// abandon stops reading from processes that go on without us.
func (p *pump) abandon() { _ = p.pipe.Close() }
