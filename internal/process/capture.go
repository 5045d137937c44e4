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
	ends   ends
	filter Filter
}

// take accepts the next bytes. Callers hold mu.
func (p *pump) take(b []byte) {
	if p.log.write(b) {
		p.full()
	}
	if p.filter != nil {
		b = p.filter.Push(b)
	}
	p.ends.add(b)
}

func (p *pump) output() Output {
	p.mu.Lock()
	defer p.mu.Unlock()
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
