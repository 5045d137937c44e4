package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Probe is what Detect needs.
type Probe struct {
	// Key names the machine as MachineKey does. A cached answer counts for its key alone.
	Key string
	// Cached is an earlier Report's Encode, or nil. Pass it only from a file that no command could
	// have written.
	Cached []byte
	// Only restricts the ladder to one tier and None. Empty: the whole ladder.
	Only Tier
	// Try runs a tier for real and says why it does not work. Each has ten seconds.
	Try func(ctx context.Context, t Tier) error
}

// Attempt is what the probe found out about one tier.
type Attempt struct {
	Tier   Tier
	Works  bool
	Why    string // why it does not work; empty where it works or was not needed
	Cached bool   // the answer is an earlier one
}

// Report is what Detect found.
type Report struct {
	Tier  Tier      // the strongest one that works
	Tried []Attempt // the ladder down to it, in order
	Notes []string  // what this machine lacks, a sentence each
	key   string
}

// Ladder lists the tiers of an operating system, strongest first. The last one always works.
func Ladder(goos string) []Tier {
	switch goos {
	case "linux":
		return []Tier{Bwrap, Namespaces, Landlock, None}
	case "darwin":
		return []Tier{SandboxExec, None}
	}
	return []Tier{None}
}

// tryLimit bounds one tier's probe.
const tryLimit = 10 * time.Second

// Detect goes down the ladder and stops at the first tier that works. A cached answer spares the
// run of the tier it names and of those above; it is always a tier that worked, never None, so what
// did not work is tried again at every start.
func Detect(ctx context.Context, p Probe) Report { return detect(ctx, p, Ladder(runtime.GOOS)) }

func detect(ctx context.Context, p Probe, ladder []Tier) Report {
	r := Report{Tier: None, key: p.Key}
	if c, ok := decode(p.Cached); ok && c.Key == p.Key && c.Key != "" && p.Only == "" {
		for _, t := range ladder {
			if t == c.Tier && t != None {
				r.Tier, r.Tried = t, []Attempt{{Tier: t, Works: true, Cached: true}}
				return r
			}
		}
	}
	for _, t := range ladder {
		if p.Only != "" && t != p.Only && t != None {
			continue
		}
		if t == None {
			r.Tried = append(r.Tried, Attempt{Tier: None, Works: true})
			break
		}
		limited, cancel := context.WithTimeout(ctx, tryLimit)
		err := p.Try(limited, t)
		cancel()
		if err == nil {
			r.Tier, r.Tried = t, append(r.Tried, Attempt{Tier: t, Works: true})
			break
		}
		r.Tried = append(r.Tried, Attempt{Tier: t, Why: oneLine(err)})
	}
	r.Notes = notes(r.Tier)
	return r
}

// ErrNotAnswered is why a tier whose probe ran over its time does not work.
var ErrNotAnswered = errors.New("the trial run did not end")

// record is a cached answer.
type record struct {
	Version int
	Key     string
	Tier    Tier
}

const recordVersion = 1

// Encode gives the answer to keep for the next start, or nil when there is nothing to keep: a
// machine that could not confine yesterday is asked again today.
func (r Report) Encode() []byte {
	if r.Tier == None || r.Tier == "" || r.key == "" {
		return nil
	}
	b, _ := json.Marshal(record{recordVersion, r.key, r.Tier}) // strings and a number
	return b
}

func decode(b []byte) (record, bool) {
	var r record
	if len(b) == 0 || len(b) > 4096 || json.Unmarshal(b, &r) != nil || r.Version != recordVersion {
		return record{}, false
	}
	return r, true
}

// Lines says for people what was found, one tier a line.
func (r Report) Lines() []string {
	var out []string
	for _, a := range r.Tried {
		switch {
		case a.Tier == None && a.Works:
			out = append(out, "none: every command asks for approval")
		case a.Cached:
			out = append(out, fmt.Sprintf("%s: works (found at an earlier start)", a.Tier))
		case a.Works:
			out = append(out, fmt.Sprintf("%s: works", a.Tier))
		default:
			out = append(out, fmt.Sprintf("%s: %s", a.Tier, a.Why))
		}
	}
	return append(out, r.Notes...)
}

func oneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	const longest = 300
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + " …"
	}
	return s
}
