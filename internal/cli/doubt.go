package cli

import (
	"fmt"
	"slices"
	"strings"

	"jig/internal/config"
	"jig/internal/tools/shell"
)

// reach is what commands of some agent may write to.
type reach struct {
	where string // the agent, as a coordinate
	opts  shell.Options
}

// reaches lists what the commands of every agent may write to, wherever they are started from. What
// any of them could have written is not to be believed by the next.
func reaches(w World, s *survey, cfg *config.Config) []reach {
	base := shell.Options{Root: s.root, Cwd: w.Cwd, Home: w.Home, Temp: w.Temp, Cache: s.places.Cache}
	var out []reach
	for name, a := range cfg.Agents {
		for _, t := range a.Tools.On {
			if t.Name != shell.Name {
				continue
			}
			if c, err := shell.Decode(t.Decode); err == nil {
				o := base
				o.Config = c
				out = append(out, reach{fmt.Sprintf("agents.%s.tools.shell", name), o})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b reach) int { return strings.Compare(a.where, b.where) })
	return out
}

// writer is whose commands could write to path, or replace it; "" when nobody's could.
func writer(all []reach, path string) string {
	for _, r := range all {
		if shell.CouldWrite(r.opts, path) {
			return r.where
		}
	}
	return ""
}

// doubt takes back the trust in project levels where commands could have given it. It reports
// whether anything was taken back.
func (s *survey) doubt(w World, cfg *config.Config) bool {
	if s.noPlaces != nil || s.trustAll || !slices.ContainsFunc(s.levels, func(l level) bool { return l.trusted }) {
		return false
	}
	by := writer(reaches(w, s, cfg), s.trustFile())
	if by == "" {
		return false
	}
	s.warnf("%s cannot be believed, because commands may write to it (%s): no project is trusted but with --trust", s.trustFile(), by)
	for i := range s.levels {
		s.levels[i].trusted = false
		for k := range s.sources {
			if src := &s.sources[k]; src.Level == config.Project {
				src.Trusted = false
			}
		}
	}
	return true
}
