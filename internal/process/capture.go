package process

import (
	"os"
	"sync"
	"sync/atomic"
)

// pump empties one command's pipe into its log and its bounded ends. How bytes
// are fetched is the platform's part.
type pump struct {
	pipe *os.File // read end
	sys  pumpSys
	full func()        // called once when the log ends the job
	over chan struct{} // closed when nothing is read any more: the last writer is gone, or stopped
	stop atomic.Bool

	mu     sync.Mutex
	log    *logFile
	busy   chan struct{} // closed when the piece that is being filtered has been; nil: none is
	ends   ends          // is the filter's while it is busy, as is filter
	filter Filter
}

// bulk is from what size on a piece is filtered while the next one is read: a
// flood then takes the longer of both and not their sum. For less, to start a
// goroutine is not worth it.
const bulk = 64 << 10

// take accepts the next bytes. They are given back by free; where it is nil they
// are the caller's again on return. Callers hold mu.
func (p *pump) take(b []byte, free func()) {
	if p.log.write(b) {
		p.full()
	}
	p.wait()
	if p.filter != nil && free != nil && len(b) >= bulk {
		busy := make(chan struct{})
		p.busy = busy
		go func() { // whoever needs what it makes waits for it, and so does the end of the pump
			defer close(busy)
			p.ends.add(p.filter.Push(b))
			free()
		}()
		return
	}
	if p.filter != nil {
		p.ends.add(p.filter.Push(b))
	} else {
		p.ends.add(b)
	}
	if free != nil {
		free()
	}
}

// wait waits until nothing is being filtered. Callers hold mu.
func (p *pump) wait() {
	if p.busy != nil {
		<-p.busy
		p.busy = nil
	}
}

func (p *pump) output() Output {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait()
	var rest []byte
	if p.filter != nil {
		rest = p.filter.Rest()
	}
	return p.ends.output(rest)
}

// keepLog and dropLog decide what becomes of a late log.
func (p *pump) keepLog(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.keep(name)
}

func (p *pump) dropLog() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.drop()
	p.log = nil
}

func (p *pump) logErr() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log == nil {
		return nil
	}
	return p.log.err
}
