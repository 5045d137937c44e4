package cli

import (
	"path/filepath"

	"jig/internal/config"
	"jig/internal/proto"
)

// believe checks what a session says of where it goes on. here is the start as the person made it, s and
// cfg what the session made of it. Where commands could have written the database, what it says could be
// a model's: then the person must be in the session's folder themselves, and give the file of -c.
func believe(w, here World, o Options, s *survey, cfg *config.Config, b proto.Began) error {
	if path, sum := s.flagFile(); o.Config == "" && path != "" && sum != b.ConfigSum {
		return changedConfig(b)
	}
	if o.Config != "" && w.Cwd == here.Cwd {
		return nil // nothing of it is the session's word
	}
	path, err := database(here)
	if err != nil {
		return err
	}
	by := writer(reaches(w, s, cfg), path)
	if by == "" {
		by = writerFrom(here, path)
	}
	switch {
	case by == "":
	case s.hasFlag() && o.Config == "":
		return usagef("%s could have been changed by commands (%s), so its word for -c %s is not taken: give -c yourself", config.Shown(path), by, config.Shown(b.Config))
	case !sameFile(w.Cwd, here.Cwd):
		return usagef("%s could have been changed by commands (%s), so its word for the folder %s is not taken: go there yourself", config.Shown(path), by, config.Shown(filepath.Clean(w.Cwd)))
	}
	return nil
}

// writerFrom is whose commands could write to path in a session that is begun here.
func writerFrom(here World, path string) string {
	s, err := look(here, "", false)
	if err != nil {
		return ""
	}
	cfg, _, err := s.load(here)
	if err != nil {
		return "" // no session can be begun here
	}
	return writer(reaches(here, s, cfg), path)
}

func (s *survey) hasFlag() bool { path, _ := s.flagFile(); return path != "" }
