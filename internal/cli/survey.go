package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"jig/internal/config"
)

// survey is what lies in the file system for one start, read but not yet believed.
type survey struct {
	env      config.Env
	places   config.Places
	noPlaces error  // why there is no user level
	root     string // the project root, absolute
	sources  []config.Source
	levels   []level
	trust    config.Trust
	trustAll bool // by --trust
	warnings []string
}

// level is one project level that has something a person must trust before it counts.
type level struct {
	dir     string // the .jig folder
	hash    string
	files   []config.Source
	trusted bool
	changed bool // it was trusted once, with another content
}

// look reads everything a start may need: the user's level, the project's levels, the file given
// with -c, the trust store. Nothing is parsed here and no project file is believed.
func look(w World, flagFile string, trustAll bool) (*survey, error) {
	switch {
	case flagFile != "" && modelStarted(w):
		return nil, refusedHere("-c")
	case trustAll && modelStarted(w):
		return nil, refusedHere("--trust")
	}
	if w.Cwd == "" {
		return nil, errors.New("the working directory cannot be found: it may have been deleted; change to another one")
	}
	s := &survey{trustAll: trustAll, env: config.Env{Getenv: w.Getenv, GOOS: w.GOOS, Home: w.Home, Cwd: w.Cwd}}
	s.places, s.noPlaces = config.UserPlaces(s.env)
	s.root = config.ProjectRoot(w.GOOS, w.Cwd, func(dir string) bool { return exists(filepath.Join(dir, ".git")) })
	s.env.Workspace, s.env.AppHome = s.root, s.places.Config
	if s.noPlaces == nil {
		s.readTrust()
		s.sources = append(s.sources, s.add(config.User, 0, s.places.Config, true)...)
	}
	for depth, dir := range config.ProjectLevels(w.GOOS, s.root, w.Cwd) {
		if s.noPlaces == nil && sameFile(dir, s.places.Config) {
			continue
		}
		s.project(depth, dir, trustAll)
	}
	if flagFile != "" {
		return s, s.flag(w, flagFile)
	}
	return s, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

func (s *survey) trustFile() string { return filepath.Join(s.places.State, "trust.json") }

// costFolder is where jigs that this one starts keep their accounts.
func (s *survey) costFolder() string { return filepath.Join(s.places.State, "cost") }

// sandboxFile is where the answer about the sandbox is kept.
func (s *survey) sandboxFile() string { return filepath.Join(s.places.State, "sandbox.json") }

func (s *survey) readTrust() {
	s.trust, _ = config.DecodeTrust(s.env.GOOS, nil)
	data, err := readSmall(s.trustFile(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		s.trust, err = config.DecodeTrust(s.env.GOOS, data)
	}
	if err != nil {
		s.warnf("%s cannot be read, so no project is trusted: %v", s.trustFile(), cause(err))
	}
}

func (s *survey) warnf(format string, a ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, a...))
}

// add reads the files of one level and gives those that were found.
func (s *survey) add(l config.Level, depth int, dir string, trusted bool) []config.Source {
	var found []config.Source
	take := func(kind config.Kind, path string) {
		data, err := readSmall(path, maxFile)
		switch {
		case err == nil:
			found = append(found, config.Source{Level: l, Depth: depth, Kind: kind, Path: path, Dir: filepath.Dir(path), Trusted: trusted, Data: data})
		case !errors.Is(err, fs.ErrNotExist):
			s.warnf("%s cannot be read (ignored): %v", config.Shown(path), cause(err))
		}
	}
	take(config.ConfigFile, filepath.Join(dir, "config.yaml"))
	personas := personaFiles(filepath.Join(dir, "personas"))
	if len(personas) > maxPersonas {
		s.warnf("%s holds %d personas, at most %d are read (the others are ignored)", config.Shown(filepath.Join(dir, "personas")), len(personas), maxPersonas)
		personas = personas[:maxPersonas]
	}
	for _, p := range personas {
		take(config.PersonaFile, p)
	}
	return found
}

// What a checked-out folder holds is read at every start, before anybody has said a word about it:
// a level may neither be of many files nor large.
const (
	maxPersonas = 100
	maxLevel    = 8 << 20  // bytes of configuration
	maxBeside   = 64 << 20 // bytes of other files in the folder
)

func personaFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".md") && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	sort.Strings(out)
	return out
}

// project reads one project level and compares it with what was trusted.
func (s *survey) project(depth int, dir string, trustAll bool) {
	found := s.add(config.Project, depth, dir, false)
	if len(found) == 0 {
		return
	}
	size := 0
	for _, f := range found {
		size += len(f.Data)
	}
	beside, err := s.beside(dir)
	if err == nil && size > maxLevel {
		err = fmt.Errorf("its configuration is too large (%d bytes, at most %d)", size, maxLevel)
	}
	if err != nil {
		s.warnf("%s cannot be trusted (ignored): %v", config.Shown(dir), err)
		return
	}
	l := level{dir: dir, hash: config.Hash(s.env.GOOS, dir, append(beside, found...)), files: found}
	l.trusted = trustAll || s.trust.Trusts(dir, l.hash)
	l.changed = !l.trusted && s.trust.Knows(dir)
	for i := range found {
		found[i].Trusted = l.trusted
	}
	s.sources = append(s.sources, found...)
	s.levels = append(s.levels, l)
}

// beside is what else lies in a level's folder, as checksums: the configuration may name a prompt or
// a script there, and trusting the one is trusting the other.
func (s *survey) beside(dir string) ([]config.Source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, cause(err)
	}
	var out []config.Source
	left := int64(maxBeside)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || e.Name() == "config.yaml" {
			continue // it can be no prompt and no script
		}
		sum := sha256.New()
		if err := copySmall(sum, path, left); err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", config.Shown(e.Name()), cause(err))
		}
		left -= st.Size()
		out = append(out, config.Source{Path: path, Data: sum.Sum(nil)})
	}
	return out, nil
}

func (s *survey) flag(w World, path string) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	data, err := readSmall(path, maxFile)
	if err != nil {
		return usagef("-c %s cannot be read: %v", config.Shown(path), cause(err))
	}
	s.sources = append(s.sources, config.Source{Level: config.Flag, Kind: config.ConfigFile, Path: path, Dir: filepath.Dir(path), Trusted: true, Data: data})
	return nil
}

// untrusted are the levels that were left out.
func (s *survey) untrusted() []level {
	var out []level
	for _, l := range s.levels {
		if !l.trusted {
			out = append(out, l)
		}
	}
	return out
}

// say tells in one line why a level was left out and what to do.
func (l level) say() string {
	why := "is not trusted"
	if l.changed {
		why = "has changed since it was trusted"
	}
	return fmt.Sprintf("%s %s (ignored): look at it, then run jig trust, or pass --trust for this run", config.Shown(l.dir), why)
}

// remember stores that levels are trusted with the content they have now.
func (s *survey) remember(levels []level) error {
	if s.noPlaces != nil {
		return s.noPlaces
	}
	t := s.trust
	for _, l := range levels {
		t = t.With(l.dir, l.hash)
	}
	return s.store(t)
}

func (s *survey) store(t config.Trust) error {
	if err := writePrivate(s.trustFile(), t.Encode()); err != nil {
		return fmt.Errorf("%s cannot be written: %w", s.trustFile(), cause(err))
	}
	s.trust = t
	return nil
}
