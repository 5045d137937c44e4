package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jig/internal/config"
)

// starter is a first configuration: the provider's entry, if it needs one, and the model.
const starter = `# jig's configuration. jig config check says what is wrong with it, jig --debug what came of it.
%sagents:
  default:
    model: %s
    tools:
      shell:              # run commands, in a sandbox where the machine has one
      code:               # find, read and edit the project's files
        auto_write: false # true edits without asking, which runs with -m need
`

// localEntry is a provider without a key. Without one of its own it would be sent the key of its type.
const localEntry = `providers:
  %s:
    type: openai
    url: %s
    key: none # where the server wants a key, this is what it gets
`

// render is the text of a first configuration.
func render(o offer) string {
	entry := ""
	if o.url != "" {
		entry = fmt.Sprintf(localEntry, localName, literal(o.url))
	}
	return fmt.Sprintf(starter, entry, literal(o.ref))
}

// literal writes a plain text in YAML, between single quotes, where nothing but they mean anything.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// userFile is where the user's own configuration is.
func (s *survey) userFile() string { return filepath.Join(s.places.Config, "config.yaml") }

// begin writes a first configuration, and never over another one.
func begin(path string, o offer) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("%s cannot be made: %w", config.Shown(filepath.Dir(path)), cause(err))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return there(path)
	}
	if err == nil {
		_, err = f.WriteString(render(o))
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", config.Shown(path), cause(err))
	}
	return nil
}

func there(path string) error {
	return fmt.Errorf("%s exists already (use -c FILE to write another one)", config.Shown(path))
}

func wrote(path string, o offer) string {
	return fmt.Sprintf("wrote %s (%s with the shell and code toolsets); change the model there", config.Shown(path), config.Shown(o.ref))
}

// configInit is a first start on purpose. Where nobody can be asked, no port is.
func configInit(ctx context.Context, w World, o Options) error {
	s := &survey{env: config.Env{Getenv: w.Getenv, GOOS: w.GOOS, Home: w.Home}}
	path := o.Config
	if path != "" && modelStarted(w) {
		return refusedHere("-c")
	}
	if path == "" {
		if s.places, s.noPlaces = config.UserPlaces(s.env); s.noPlaces != nil {
			return s.noPlaces
		}
		path = s.userFile()
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	if exists(path) {
		return there(path)
	}
	offers, take := withKeys(w, s), &offer{ref: placeholder}
	if len(offers) > 0 {
		take = &offers[0]
	}
	if w.InTerm && w.OutTerm && !modelStarted(w) {
		offers = append(offers, onPorts(ctx, w)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(offers) > 0 {
			var err error
			if take, err = ask(w, path, offers); err != nil {
				return err
			}
		}
	}
	if take == nil {
		return errors.New("nothing was written")
	}
	if err := begin(path, *take); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w.Out, wrote(path, *take))
	return err
}
