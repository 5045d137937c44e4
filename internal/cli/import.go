package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"jig/internal/config"
	"jig/internal/export"
	"jig/internal/host"
	"jig/internal/msg"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/store"
)

// arrival is a session from a file that is ready to be kept.
type arrival struct {
	name  string // the file's
	from  string // the session's id where it was written
	facts []proto.Fact
}

// readImport makes a session of a file that jig export wrote, for the project that jig runs in. What it
// runs on comes from the importer's own configuration: of what the file says of that only the agent's
// name counts. A session is only made once it is known that it can go on.
func readImport(w World, o resumeOptions) (*arrival, error) {
	about, facts, err := readSession(w, o.Session)
	if err != nil {
		return nil, err
	}
	there := lastBegan(facts)
	run := o.Options
	quiet := w
	quiet.Err = io.Discard // what it warns of is said when the session opens
	s, cfg, err := load(quiet, run)
	if err != nil {
		return nil, err
	}
	if _, err := cfg.Agent(there.Agent); err != nil && run.Persona == "" && (there.Agent != "default" || run.Model == "") {
		return nil, usagef("%s was written by the agent %q, which your configuration does not have: name one of yours with --persona (%s)",
			config.Shown(o.Session), config.Shown(there.Agent), names(cfg))
	}
	if _, err := cfg.Agent(there.Agent); err == nil && run.Persona == "" {
		run.Agent = there.Agent
	}
	p, err := prepare(quiet, s, cfg, run)
	if err != nil {
		return nil, err
	}
	// Each of them, so that a session which is rewound to before it was brought here still runs here.
	for i, f := range facts {
		if _, ok := f.(proto.Began); ok {
			facts[i] = p.began
		}
	}
	facts = host.Masked(masks(cfg, p), facts) // where it was written they were no keys of anybody's
	facts = append(facts, session.Resume(session.Fold(facts))...)
	facts = append(facts, proto.Said{Message: msg.Say(msg.User, movedNotice(there.Root, s.root)), Notice: noticeMoved}, proto.Ended{Why: proto.Done})
	return &arrival{o.Session, about.ID, facts}, nil
}

// keep puts the session into the database.
func (a *arrival) keep(db *store.DB, id string) error {
	return db.Import(id, a.from, func(yield func(proto.Fact, error) bool) {
		for _, f := range a.facts {
			if !yield(f, nil) {
				return
			}
		}
	})
}

// shown is the file's name.
func (a *arrival) shown() string { return print.Clean(config.Shown(a.name)) }

// noticeMoved is the kind of the notice that tells a model that its session was brought here.
const noticeMoved = "moved"

// movedNotice says it in jig's name, so nothing of the other place's may end the brackets or begin a line.
func movedNotice(from, to string) string {
	inert := strings.NewReplacer("[", `\x5b`, "]", `\x5d`, ";", `\x3b`)
	from, to = inert.Replace(config.Shown(from)), inert.Replace(config.ShownLine(to))
	return fmt.Sprintf("[this session was brought here from another place: it was at work in %s and goes on in %s; files may differ from what was read there, so read them again, and nothing that ran there runs here]", from, to)
}

func readSession(w World, name string) (export.About, []proto.Fact, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	st, err := os.Stat(path) // a pipe would never end
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return export.About{}, nil, fmt.Errorf("%s cannot be read: %w", config.Shown(name), cause(err))
	}
	defer func() { _ = f.Close() }()
	about, facts, err := export.Read(f)
	if err != nil {
		return about, nil, fmt.Errorf("%s: %w", config.Shown(name), err)
	}
	return about, facts, nil
}

func lastBegan(facts []proto.Fact) proto.Began {
	var b proto.Began
	for _, f := range facts {
		if x, ok := f.(proto.Began); ok {
			b = x
		}
	}
	return b
}
