package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"jig/internal/config"
	"jig/internal/export"
	"jig/internal/proto"
	"jig/internal/store"
)

// exportFormats are how a session can be written.
var exportFormats = []string{"html", "md", "jsonl"}

func exportCommand(w World) *cobra.Command {
	var to, format string
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: "write a session as a page, as Markdown, or to take elsewhere",
		Long: "Writes a session to a new file, in the format that its name ends in: .html is one page with the diffs that needs\n" +
			"nothing else, .md is Markdown, .jsonl is the whole session, with which jig resume FILE goes on anywhere. Without\n" +
			"--to it goes to standard output, as Markdown. Keys that jig holds were masked when the session was kept; look through\n" +
			"it all the same before you give it away: it has what was read and what commands printed.",
		Args: takes(1, 1, "one session (jig list sessions)"),
		RunE: func(c *cobra.Command, args []string) error {
			format, err := exportFormat(to, format, c.Flags().Changed("to"))
			if err != nil {
				return err
			}
			if to != "" && modelStarted(w) { // it may be outside of its sandbox
				return refusedHere("--to")
			}
			return exportSession(w, args[0], to, format)
		},
	}
	c.Flags().StringVar(&to, "to", "", "write this new `file`")
	c.Flags().StringVar(&format, "format", "", "html, md or jsonl, whatever the file is called")
	complete(c, "format", exportFormats)
	return c
}

// exportFormat is what was asked for, or what the file's name says.
func exportFormat(to, format string, named bool) (string, error) {
	ending := strings.TrimPrefix(strings.ToLower(filepath.Ext(to)), ".")
	if ending == "htm" {
		ending = "html"
	}
	if ending == "markdown" {
		ending = "md"
	}
	switch {
	case named && to == "":
		return "", usagef("--to must name a file")
	case format != "" && !contains(exportFormats, format):
		return "", usagef("--format: unknown format %q (want %s)%s", format, strings.Join(exportFormats, ", "), didYouMean(format, exportFormats))
	case format != "":
		return format, nil
	case to == "":
		return "md", nil
	case !contains(exportFormats, ending):
		return "", usagef("--to: %s ends in none of .html, .md and .jsonl: say which with --format", config.Shown(to))
	}
	return ending, nil
}

func exportSession(w World, id, to, format string) error {
	db, err := openStore(w)
	if err != nil {
		return err
	}
	defer closeStore(w, db)
	i, err := db.Find(id)
	if err != nil {
		return err
	}
	if to == "" {
		return writeSession(w, w.Out, db, i, format)
	}
	path := to
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	// For its owner alone: a session holds what was read and what commands printed.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usagef("--to: %s exists and is not overwritten: remove it or name another file", config.Shown(to))
	}
	if err != nil {
		return unwritten(to, err)
	}
	if err = errors.Join(writeSession(w, f, db, i, format), f.Close()); err != nil {
		_ = os.Remove(path) // half of it is worse than none
		return unwritten(to, err)
	}
	_, err = fmt.Fprintf(w.Err, "session %s is in %s\n", i.ID, config.Shown(to))
	return err
}

func unwritten(to string, err error) error {
	var of *store.Error
	if errors.As(err, &of) {
		return err // it could not be read
	}
	return fmt.Errorf("--to: %s cannot be written: %w; name a file where there is room and you may write", config.Shown(to), cause(err))
}

// factsOf reads a session for people: what of it is damaged is left out, and said.
func factsOf(w World, db *store.DB, id string) ([]proto.Event, error) {
	var out []proto.Event
	lost := uint64(0)
	for line, err := range db.Lines(id, 0) {
		if err != nil {
			return nil, err
		}
		seq, f, err := proto.Decode(line)
		if err != nil {
			lost++
			continue
		}
		out = append(out, proto.Event{Seq: seq, Fact: f})
	}
	if n := len(out); n > 0 {
		lost = max(lost, out[n-1].Seq-uint64(n))
	}
	if lost > 0 {
		w.warn("session %s is damaged: facts of it are missing (%d), and left out here", id, lost)
	}
	return out, nil
}

func writeSession(w World, to io.Writer, db *store.DB, i store.Info, format string) error {
	a := export.About{ID: i.ID, Title: i.Title, Agent: i.Agent, Provider: i.Provider, Model: i.Model, Root: i.Root, Created: i.Created, Updated: i.Updated}
	if format == "jsonl" {
		if _, err := db.Facts(i.ID); err != nil {
			return err // nobody could go on with it
		}
		return export.Portable(to, a, db.Lines(i.ID, 0))
	}
	facts, err := factsOf(w, db, i.ID)
	if err != nil {
		return err
	}
	if format == "html" {
		return export.HTML(to, a, facts)
	}
	return export.Markdown(to, a, facts)
}
