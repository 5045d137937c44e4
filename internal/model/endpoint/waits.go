package endpoint

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// waitTold finds a wait in a message: some say it nowhere else.
var waitTold = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:try again|retry) in ([0-9][0-9.hms]*s|[0-9.]+ ?seconds?)\b`)
})

// told is the wait in a message, 0 when there is none.
func told(message string) time.Duration {
	m := waitTold().FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	s, _, _ := strings.Cut(strings.ToLower(m[1]), "sec")
	return moment(s, time.Time{})
}

// retryAfter is how long a provider asks to wait, in any of the forms in which providers say it; 0
// when it does not. Times of day are compared with the answer's own date where it has one, since the
// machine's clock may be wrong.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return bounded(ms / 1000)
	}
	if d := moment(h.Get("Retry-After"), now); d > 0 {
		return d
	}
	return reset(h, now)
}

// reset is when the limits are over that are used up, by the headers that list all of a provider's
// limits. Those that are not used up say nothing of the request that was refused: their reset is when
// they are full again.
// https://platform.claude.com/docs/en/api/rate-limits#response-headers
// https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
func reset(h http.Header, now time.Time) time.Duration {
	longest := time.Duration(0)
	for name := range h {
		low := strings.ToLower(name)
		at := strings.Index(low, "reset")
		if !strings.Contains(low, "ratelimit") || at < 0 {
			continue
		}
		left := h.Get(name[:at] + "remaining" + name[at+len("reset"):])
		if n, err := strconv.ParseFloat(left, 64); err != nil || n <= 0 {
			longest = max(longest, moment(h.Get(name), now))
		}
	}
	return longest
}

// moment reads how long it is from now to a time that is written as seconds, as a duration such as
// 6m0s, as an RFC 3339 or HTTP date, or as seconds or milliseconds since 1970; 0 when it is none or
// has passed.
func moment(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		const year2001, year2001ms = 1e9, 1e12
		switch {
		case n >= year2001ms:
			return bounded(n/1000 - float64(now.Unix()))
		case n >= year2001:
			return bounded(n - float64(now.Unix()))
		}
		return bounded(n)
	}
	if d, err := time.ParseDuration(s); err == nil {
		return bounded(d.Seconds())
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		at, err = http.ParseTime(s)
	}
	if err != nil {
		return 0
	}
	return bounded(at.Sub(now).Seconds())
}

// bounded makes a duration of seconds. What is not a number is none.
func bounded(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, 1e6) * float64(time.Second))
}
