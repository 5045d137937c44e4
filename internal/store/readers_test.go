package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Each reader takes descriptors, and a host may have a thousand sessions.
func TestReadersAreBoundedAllGetTheirTurnAndNoWriterWaitsForThem(t *testing.T) {
	const many, bound = 50, 16
	d := fresh(t)
	s, _, err := d.Take(write(t, d))
	must(t, err)
	var reading, most atomic.Int32
	var all sync.WaitGroup
	full := make(chan struct{})
	var once sync.Once
	release := make(chan struct{})
	for range many {
		all.Go(func() {
			facts := 0
			for _, err := range d.Lines(s.ID(), 0) {
				if err != nil {
					t.Error(err)
				}
				if facts++; facts == 1 {
					n := reading.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					if n == bound {
						once.Do(func() { close(full) })
					}
					<-release
					reading.Add(-1)
				}
			}
			if facts < len(conversation) {
				t.Errorf("a reader got %d facts", facts)
			}
		})
	}
	<-full
	must(t, s.Append(5, conversation[1])) // while no more can read
	time.Sleep(100 * time.Millisecond)    // those that wait would be reading by now
	if n := most.Load(); n != bound {
		t.Errorf("%d read at once", n)
	}
	close(release)
	all.Wait()
}
