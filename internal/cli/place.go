package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/sandbox"
	"jig/internal/tool"
	"jig/internal/tools/shell"
)

// place is where an agent's tools act, with all that they may need to know of it.
type place struct {
	root, cwd, home, temp, cache string
	binary                       string   // the running program; "" is unknown
	own                          []string // files that this process has open itself
	env                          []string
	keys                         []string // names of variables that hold a provider's key
	extra                        []string // what the configuration sets for commands
	yield                        string   // how long a command is waited for; "" is the default
	budget                       *budget  // of the session; nil outside of one
	// regime finds what commands can be confined in, given who could write to a path.
	regime func(writable func(path string) bool) regime
	reach  []reach // what commands of any agent may write to
}

// regime is what commands can be confined in here.
type regime struct {
	report sandbox.Report
	bwrap  string
}

// newPlace describes the place of a start. Nothing is probed before a toolset asks.
func newPlace(w World, s *survey, cfg *config.Config) place {
	p := place{root: s.root, cwd: w.Cwd, home: w.Home, temp: w.Temp, cache: s.places.Cache, binary: w.Binary, env: inherited(w)}
	for _, name := range cfg.ProviderNames() {
		if r, err := cfg.ResolveModel(name + ":x"); err == nil {
			p.keys = append(append(p.keys, r.KeyNames...), holding(r.Key.Reveal(), w.Environ)...)
			for _, value := range r.Provider.Headers {
				p.keys = append(p.keys, holding(value.Reveal(), w.Environ)...)
			}
		}
	}
	here := cfg.Environments["local"]
	for _, name := range slices.Sorted(maps.Keys(here.Env)) {
		p.extra = append(p.extra, name+"="+here.Env[name].Reveal())
	}
	if path, err := database(w); err == nil {
		p.own = []string{path, path + "-wal", path + "-shm"}
	}
	p.yield, _ = w.Getenv(testOnlyYield)
	p.reach = reaches(w, s, cfg)
	p.regime = func(writable func(string) bool) regime {
		return probe(w, s, func(path string) bool { return writable(path) || writer(p.reach, path) != "" })
	}
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
func probe(w World, s *survey, writable func(path string) bool) regime {
	only, _ := w.Getenv(testOnlyTier)
	bwrap, unsafe := safeBwrap(w, writable)
	kept := s.sandboxFile()
	q := sandbox.Probe{Key: sandbox.MachineKey(w.Binary, bwrap), Only: sandbox.Tier(only),
		Try: func(ctx context.Context, t sandbox.Tier) error {
			if t == sandbox.Bwrap && bwrap == "" && unsafe != "" {
				return fmt.Errorf("%s is where commands may write to, so it is not used", unsafe)
			}
			return sandbox.Try(ctx, t, w.Binary, bwrap, trialFolder(w, s, writable))
		}}
	// An answer that leaves a bubblewrap out is this session's own: it is neither taken from others
	// nor given.
	shared := s.noPlaces == nil && unsafe == ""
	if shared && !writable(kept) {
		q.Cached, _ = readSmall(kept, 4096)
	}
	r := sandbox.Detect(context.Background(), q)
	if data := r.Encode(); data != nil && shared && q.Only == "" && !cached(r) {
		if err := writePrivate(kept, data); err != nil && !modelStarted(w) { // inside, that is as it should be
			w.warn("%s cannot be written, so the sandbox is tried again at the next start: %v", kept, cause(err))
		}
	}
	return regime{r, bwrap}
}

// trialFolder is where a tier is tried: the state folder, where no command can disturb the trial, and
// the temporary one where there is no such folder, or where nothing can be made in it: a jig inside
// a sandbox sees its state folder read-only.
func trialFolder(w World, s *survey, writable func(path string) bool) string {
	if s.noPlaces == nil && !writable(s.places.State) && os.MkdirAll(s.places.State, 0o700) == nil {
		if probe, err := os.MkdirTemp(s.places.State, "jig-try-"); err == nil {
			_ = os.Remove(probe)
			return s.places.State
		}
	}
	return sandbox.TempDir(w.Temp)
}

func cached(r sandbox.Report) bool {
	for _, a := range r.Tried {
		if a.Cached {
			return true
		}
	}
	return false
}

// safeBwrap finds the bubblewrap on PATH that no command could have put there, or names one that
// could have been.
func safeBwrap(w World, writable func(path string) bool) (path, unsafe string) {
	for _, file := range onPath(w, "bwrap") {
		if !writable(file) {
			return file, unsafe
		}
		unsafe = file
	}
	return "", unsafe
}

// onPath finds a program as the shell would, but for folders that are not absolute: what a project
// puts there must not become part of jig.
func onPath(w World, name string) (found []string) {
	path, _ := w.Getenv("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			found = append(found, file)
		}
	}
	return found
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

// Kill ends a job.
func (ps places) Kill(id string) bool {
	for _, p := range ps {
		if p.Kill(id) {
			return true
		}
	}
	return false
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
