package modeltest

import (
	"crypto/sha256"
	"time"
)

// Cache is what a provider keeps of the prompts it has read. It goes by the vendors' published
// rules and reports, in place of a script's figures, the usage that follows from them.
type Cache struct {
	// Now is its clock; nil is the real one.
	Now func() time.Time
	// EachBlock counts every block as a step of the messages dialect's look-back, as other services
	// than the vendor's own do, which take a run of calls or of results as one.
	EachBlock bool

	kept map[[sha256.Size]byte]kept
	uses []CacheUse
}

// CacheUse is what came of one request, in bytes of the prompt: how long it was, and how much of it
// was read from the cache and written to it.
type CacheUse struct{ Input, Read, Written int }

// kept is one thing in a cache.
type kept struct {
	until time.Time
	life  time.Duration
}

// bytesPerToken is what the vendors give as a rule of thumb for English text.
const bytesPerToken = 4

// CacheUses is what came of each answered request.
func (s *Server) CacheUses() []CacheUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Cache == nil {
		return nil
	}
	return append([]CacheUse(nil), s.Cache.uses...)
}

// cached looks a request up, keeps what is to be kept of it, and puts the outcome into the reply.
func (s *Server) cached(d Dialect, path string, body []byte, r Reply) Reply {
	c := s.Cache
	if c == nil || r.Fault.Kind == FaultStatus {
		return r // what is read for a reply that never begins is not kept
	}
	if c.kept == nil {
		c.kept = map[[sha256.Size]byte]kept{}
	}
	now := time.Now()
	if c.Now != nil {
		now = c.Now()
	}
	var u CacheUse
	if d == Messages {
		u, r.hourWrites = c.messages(body, now)
	} else {
		u = c.automatic(d, path, body, now)
	}
	c.uses = append(c.uses, u)
	r.Usage.Input, r.Usage.CacheRead, r.Usage.CacheWrite = u.Input/bytesPerToken, u.Read/bytesPerToken, u.Written/bytesPerToken
	return r
}

// has finds what is kept and not too old. Reading it makes it new.
func (c *Cache) has(key [sha256.Size]byte, now time.Time) bool {
	k, ok := c.kept[key]
	return ok && now.Before(k.until)
}

func (c *Cache) renew(key [sha256.Size]byte, now time.Time) {
	k := c.kept[key]
	c.keep(key, now, k.life)
}

// keep counts a life from the start of the request. What lives longer already stays.
func (c *Cache) keep(key [sha256.Size]byte, now time.Time, life time.Duration) {
	if old := c.kept[key]; now.Before(old.until) && old.life > life {
		life = old.life
	}
	c.kept[key] = kept{until: now.Add(life), life: life}
}
