package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/sandbox"
	"jig/internal/tool"
	"jig/internal/tools/shell"
)

// place is where an agent's tools act, with all that they may need to know of it.
type place struct {
	root, cwd, home, temp, cache string
	binary                       string // the running program; "" is unknown
	env                          []string
	keys                         []string // names of variables that hold a provider's key
	kept                         string   // where the answer about the sandbox is kept
	yield                        string   // how long a command is waited for; "" is the default
	regime                       func(believe bool) regime
	budget                       *budget // of the session; nil outside of one
}

// regime is what commands can be confined in here.
type regime struct {
	report sandbox.Report
	bwrap  string
}

// newPlace describes the place of a start. Nothing is probed before a toolset asks.
func newPlace(w World, s *survey, cfg *config.Config) place {
	p := place{root: s.root, cwd: w.Cwd, home: w.Home, temp: w.Temp, cache: s.places.Cache, binary: w.Binary, env: withoutAllowance(w.Environ), kept: s.sandboxFile()}
	for _, name := range cfg.ProviderNames() {
		if r, err := cfg.ResolveModel(name + ":x"); err == nil {
			p.keys = append(append(p.keys, r.KeyNames...), holding(r.Key.Reveal(), w.Environ)...)
			for _, value := range r.Provider.Headers {
				p.keys = append(p.keys, holding(value.Reveal(), w.Environ)...)
			}
		}
	}
	p.yield, _ = w.Getenv(testOnlyYield)
	asked := map[bool]func() regime{}
	for _, believe := range []bool{false, true} {
		asked[believe] = sync.OnceValue(func() regime { return probe(w, s, believe) })
	}
	p.regime = func(believe bool) regime { return asked[believe]() }
	return p
}

// holding lists the variables that a key was taken from, whatever they are called: a configuration
// can name any. Short values are no keys, and may be part of one by chance.
func holding(key string, env []string) (names []string) {
	const shortest = 8
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && len(value) >= shortest && strings.Contains(key, value) {
			names = append(names, name)
		}
	}
	return names
}

// What tests may set: the one tier that is tried, how long a command is waited for, and the ports that
// a first start asks, with commas between.
const (
	testOnlyTier  = "JIG_TEST_TIER"
	testOnlyYield = "JIG_TEST_YIELD"
	testOnlyPorts = "JIG_TEST_PORTS"
)

// probe finds the strongest tier by running it. A good answer is kept with the state, so that it
// costs one start and not each; it is only believed where no command could have written it.
func probe(w World, s *survey, believe bool) regime {
	only, _ := w.Getenv(testOnlyTier)
	bwrap := onPath(w, "bwrap")
	kept := s.sandboxFile()
	q := sandbox.Probe{Key: sandbox.MachineKey(w.Binary, bwrap), Only: sandbox.Tier(only),
		Try: func(ctx context.Context, t sandbox.Tier) error {
			return sandbox.Try(ctx, t, w.Binary, bwrap, sandbox.TempDir(w.Temp))
		}}
	if believe && s.noPlaces == nil {
		q.Cached, _ = readSmall(kept, 4096)
	}
	r := sandbox.Detect(context.Background(), q)
	if data := r.Encode(); data != nil && s.noPlaces == nil && q.Only == "" && !cached(r) {
		if err := writePrivate(kept, data); err != nil {
			w.warn("%s cannot be written, so the sandbox is tried again at the next start: %v", kept, cause(err))
		}
	}
	return regime{r, bwrap}
}

func cached(r sandbox.Report) bool {
	for _, a := range r.Tried {
		if a.Cached {
			return true
		}
	}
	return false
}

// onPath finds a program as the shell would, but for folders that are not absolute: what a project
// puts there must not become part of jig.
func onPath(w World, name string) string {
	path, _ := w.Getenv("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// places is what the toolsets of one session leave running, together.
type places []host.Place

// placesOf are the owners that live as long as the session.
func placesOf(owners []tool.Owner) places {
	var out places
	for _, o := range owners {
		if p, ok := o.(host.Place); ok {
			out = append(out, p)
		}
	}
	return out
}

// Connect passes on where jobs report.
func (ps places) Connect(post func(tool.Notice), show func(key string, value any)) {
	for _, p := range ps {
		p.Connect(post, show)
	}
}

// Close ends all of them.
func (ps places) Close() string {
	var notes []string
	for _, p := range ps {
		if n := p.Close(); n != "" {
			notes = append(notes, n)
		}
	}
	return strings.Join(notes, "; ")
}

// modelStarted says that this jig was started by a model's command: by the mark in its environment
// or, where a command took that away, by a warden among its ancestors.
func modelStarted(w World) bool {
	mark, _ := w.Getenv(shell.Mark)
	return mark != "" || w.UnderWarden
}

// refusedHere is what a jig that a model started is told when it would widen what it may do.
func refusedHere(what string) error {
	return fmt.Errorf("%s is refused here: a model's command started this jig; do it yourself in a terminal", what)
}
