package store

import (
	"time"

	"jig/internal/money"
	"jig/internal/msg"
	"jig/internal/proto"
)

// slot is how finely spending is kept: every time zone's days are made of whole quarters of an hour.
const slot = 15 * time.Minute

// spent follows a session to tell what its own requests cost: what its children spent is booked with
// their sessions.
type spent struct {
	agent, provider, model string
	own                    money.Amount // by the session's own requests, so far
}

// charge is what one fact adds.
type charge struct {
	agent, provider, model string
	requests               int
	usage                  msg.Usage
	cost                   money.Amount
	estimated              bool
}

func (s *spent) add(f proto.Fact) []charge {
	switch f := f.(type) {
	case proto.Began:
		s.agent, s.provider, s.model = f.Agent, f.Provider, f.Model
	case proto.Said:
		if f.Message.Role == msg.Assistant && f.Round > 0 {
			c := charge{agent: s.agent, provider: s.provider, model: s.model, requests: 1}
			if f.Usage != nil {
				c.usage = *f.Usage
			}
			if f.Spent != nil { // more, where a try that came to nothing cost something, too
				c.cost, s.own = *f.Spent-s.own, *f.Spent
			}
			return []charge{c}
		}
	case proto.Compacted:
		c := charge{agent: s.agent, provider: s.provider, model: s.model, requests: max(f.Asked, 1)}
		if f.Usage != nil {
			c.usage = *f.Usage
		}
		return []charge{c}
	case proto.Cost:
		own := f.Session - f.Children
		c := charge{agent: s.agent, provider: s.provider, model: s.model, requests: f.Vain, cost: own - s.own, estimated: f.Estimated}
		if f.VainUsage != nil {
			c.usage = *f.VainUsage
		}
		s.own = own
		return []charge{c}
	}
	return nil
}

// book adds a charge to its quarter of an hour. A sum of costs that is too large stays the largest there
// is: the database refuses one that is larger, and with it what every later session writes.
func (c charge) book(w *writer, at time.Time) error {
	_, err := w.exec(`INSERT INTO usage (slot, agent, provider, model, requests, input, output, cache_read, cache_write, cost, estimated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, input = input + excluded.input, output = output + excluded.output,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cost = min(cost + excluded.cost, ?), estimated = max(estimated, excluded.estimated)`,
		at.Truncate(slot).UnixMilli(), c.agent, c.provider, c.model, c.requests, c.usage.Input, c.usage.Output, c.usage.CacheRead, c.usage.CacheWrite, int64(c.cost), c.estimated, int64(money.Most))
	return err
}
