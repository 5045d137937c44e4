package cli

import (
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/model/record"
	"jig/internal/model/replay"
	"jig/internal/model/tape"
	"jig/internal/tool"
)

// tapePlaces are the folders that are others where a recording is played. They are told under each of
// their names: a model sees both.
func tapePlaces(w World, s *survey) []tape.Place {
	var out []tape.Place
	for _, p := range []tape.Place{{Name: "root", Path: s.root}, {Name: "home", Path: w.Home}, {Name: "temp", Path: w.Temp}} {
		if len(p.Path) < 2 { // a container's work may be done in /
			continue
		}
		out = append(out, p)
		if real, err := filepath.EvalSymlinks(p.Path); err == nil && real != p.Path {
			out = append(out, tape.Place{Name: p.Name, Path: real})
		}
	}
	return out
}

// secrets are all that this start knows and nobody must read in a recording: keys of the configuration
// and what variables hold whose names say so.
func secrets(w World, cfg *config.Config, p *plan) []string {
	var out []string
	add := func(values ...string) {
		for _, s := range values {
			out = append(out, s)
			if _, credentials, ok := strings.Cut(s, " "); ok { // Bearer …
				out = append(out, credentials)
			}
		}
	}
	all := []config.Resolved{p.resolved}
	for _, name := range cfg.ProviderNames() {
		if r, err := cfg.ResolveModel(name + ":x"); err == nil {
			all = append(all, r)
		}
	}
	for _, r := range all {
		add(r.Key.Reveal(), r.Provider.Key.Reveal()) // a replay has none, and may stand where one was used
		for name, value := range r.Provider.Headers {
			if !slices.Contains(harmless, strings.ToLower(name)) {
				add(value.Reveal())
			}
		}
		add(credentials(r.Provider.URL)...)
	}
	for _, key := range cfg.Keys {
		add(key.Reveal())
	}
	add(held(w.Environ)...)
	for _, k := range heldKeys(cfg, p) {
		out = append(out, k[1]) // what a session shows in a key's place is no less the key: whoever plays may not hold it
	}
	return out
}

// credentials are what stands before the host of an address.
func credentials(address string) []string {
	if !strings.Contains(address, "://") {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return nil
	}
	pass, ok := u.User.Password()
	if !ok { // a token alone
		return []string{u.User.Username()}
	}
	return []string{pass, u.User.Username() + ":" + pass}
}

// harmless are headers whose values are in every second text.
var harmless = []string{"accept", "content-type", "user-agent", "referer", "http-referer", "x-title", "anthropic-version", "anthropic-beta", "openai-beta"}

// recordTo begins the recording that --record asks for, nil when it does not. A jig that a model
// started may be outside of its sandbox, and the model would say what stands in the file.
func recordTo(w World, s *survey, cfg *config.Config, p *plan, o Options) (*record.Recorder, error) {
	if o.Record == "" {
		return nil, nil
	}
	if modelStarted(w) {
		return nil, refusedHere("--record")
	}
	f, err := record.Create(o.Record)
	if errors.Is(err, record.ErrTaken) {
		return nil, usagef("--record: %s exists and is not overwritten: remove it or name another file", config.Shown(o.Record))
	}
	if err != nil {
		return nil, usagef("--record: %s cannot be written: %v", config.Shown(o.Record), cause(err))
	}
	return record.New(f, tape.NewValues(tapePlaces(w, s), secrets(w, cfg, p))), nil
}

// tapes puts a recorder around a session's model, and lets one that plays a recording know where it
// is. It is called once the setup is made: the recorder must see what the session asks, and not what
// a limit of money makes of it.
func tapes(w World, s *survey, cfg *config.Config, p *plan, m model.Model, r *record.Recorder, setup *host.Setup) {
	var told []func(notice string)
	if player, ok := m.(*replay.Model); ok {
		player.At(tapePlaces(w, s), secrets(w, cfg, p))
		setup.Notices = player.Notices
		told = append(told, player.Notice)
	}
	if r != nil {
		p.turn.Model = r.Wrap(p.turn.Model)
		told = append(told, r.Notice)
	}
	if told != nil {
		setup.Place = heard{p.places, told}
	}
}

// heard is a session's places, of whose reports those are told who must not take them for typed words.
type heard struct {
	places
	told []func(notice string)
}

// Connect passes on where jobs report.
func (h heard) Connect(post func(tool.Notice), show func(key string, value any)) {
	h.places.Connect(func(n tool.Notice) {
		for _, tell := range h.told {
			tell(n.Blocks.Text())
		}
		post(n)
	}, show)
}

// closeRecording says when a recording is not whole. The run has done its work all the same.
func closeRecording(w World, r *record.Recorder, o Options) {
	if r == nil {
		return
	}
	if err := r.Close(); err != nil {
		w.warn("--record: %s is not whole: %v", config.Shown(o.Record), cause(err))
	}
}
