package retry

import (
	"sync"
	"time"

	"jig/internal/model"
)

// Gate holds back the requests of several agents while one of them waits for a limit to pass: what
// was refused to one would be refused to all, and asking would make it worse. Nobody is held back
// when nobody waits, so that a person who asks again at once is not kept from it.
type Gate struct {
	mu    sync.Mutex
	shuts []shut
}

type shut struct {
	why   *model.Error
	until time.Time
	id    int
}

// shut closes the gate until a time, or until the function it gives is called.
func (g *Gate) shut(why *model.Error, until time.Time) (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id := 0
	for _, s := range g.shuts {
		id = max(id, s.id+1)
	}
	g.shuts = append(g.shuts, shut{why, until, id})
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for i, s := range g.shuts {
			if s.id == id {
				g.shuts = append(g.shuts[:i], g.shuts[i+1:]...)
				return
			}
		}
	}
}

// left is until when the gate is closed, and why; a nil why says that it is open.
func (g *Gate) left() (why *model.Error, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.shuts {
		if s.until.After(until) {
			why, until = s.why, s.until
		}
	}
	return why, until
}
