package host

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jig/internal/proto"
)

// sayWaiting is how often a run that waits says for what.
const sayWaiting = 30 * time.Second

// Wait is asked when the model has no more to do. In a session with people the turn ends at once:
// what a job reports later wakes the next one. A run that nobody watches has no later, so it waits
// for its jobs, hands the model what they report, and goes on. Landed says that something came;
// note says what a person should know when the wait was given up.
func (s *seat) Wait(ctx context.Context) (landed bool, note string) {
	if !s.setup.Alone {
		return false, ""
	}
	return s.await(ctx, s.boundary)
}

// await waits, in sight, until something is there or no job runs that could bring it.
func (s *seat) await(ctx context.Context, there func() bool) (landed bool, note string) {
	start := time.Now()
	tick := time.NewTicker(sayWaiting)
	defer tick.Stop()
	var limit <-chan time.Time
	if s.setup.MaxWait > 0 {
		t := time.NewTimer(s.setup.MaxWait)
		defer t.Stop()
		limit = t.C
	}
	defer s.Show(proto.KeyWaiting, nil)
	for {
		jobs := s.running()
		switch {
		case there():
			return true, ""
		case len(jobs) == 0 || ctx.Err() != nil:
			return false, ""
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
		case <-tick.C:
			s.Show(proto.KeyWaiting, proto.Waiting{Jobs: jobs, Since: start})
		case <-limit:
			return false, fmt.Sprintf("gave up waiting after %s (--max-wait) and killed %s", s.setup.MaxWait, labels(jobs))
		}
	}
}

func (s *seat) running() []proto.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs
}

func labels(jobs []proto.Job) string {
	var out []string
	for _, j := range jobs {
		out = append(out, fmt.Sprintf("%s (%s)", j.ID, j.Label))
	}
	return strings.Join(out, ", ")
}
