package cli

import (
	"strconv"
	"time"

	"jig/internal/config"
	"jig/internal/model/endpoint"
	"jig/internal/model/retry"
)

// testOnlyHaste is what tests set to wait only so many times less than is said.
const testOnlyHaste = "JIG_TEST_HASTE"

func haste(w World) int {
	s, _ := w.Getenv(testOnlyHaste)
	n, _ := strconv.Atoi(s)
	return max(1, n)
}

// patience is how a run asks again. One with a message waits at most --max-wait, be it for an answer that
// does not come; a session with people as long as that would be, and tries again later by itself. People
// see a silence and can end it.
func patience(w World, o Options) retry.Policy {
	p := retry.Default()
	p.Gate, p.Haste = &retry.Gate{}, haste(w)
	p.MaxWait = defaultMaxWait
	if o.HasMessage {
		p.MaxWait, p.Bound, p.Strict = o.MaxWait, "--max-wait", true
	}
	return p
}

// silence is how long a provider's answer may send nothing, as its entry says.
func silence(p config.Provider) time.Duration {
	switch s := p.IdleTimeout; {
	case s == nil:
		return 0
	case *s == 0:
		return -1
	default:
		return time.Duration(*s * float64(time.Second))
	}
}

// hasty lets an endpoint wait as long as it should.
func hasty(w World, p config.Provider, o endpoint.Options) endpoint.Options {
	o.Silence, o.Haste = silence(p), haste(w)
	return o
}
