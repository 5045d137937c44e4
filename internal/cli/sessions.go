package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jig/internal/config"
	"jig/internal/host"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/store"
)

func sessionsCommand(w World) *cobra.Command {
	c := &cobra.Command{Use: "sessions", Short: "delete and rename sessions",
		Long: "Deletes and renames sessions of jig list sessions. What is deleted is gone from the disk, but what it cost stays in\njig usage. A session that is open is left as it is.",
		RunE: choice([]string{"delete", "prune", "rename"}, "; jig list sessions lists them")}
	c.AddCommand(deleteCommand(w), pruneCommand(w), renameCommand(w))
	return c
}

func deleteCommand(w World) *cobra.Command {
	return &cobra.Command{Use: "delete SESSION...", Short: "delete sessions with all that was kept of them",
		Args: takes(1, 1000, "sessions (jig list sessions)"),
		RunE: func(_ *cobra.Command, args []string) error {
			return changing(w, "deleting a session", func(db *store.DB) error {
				var all []store.Info
				for _, id := range args { // all are found before any is gone
					if len(id) < shortestID { // a slip of the finger must not be enough for what cannot be undone
						return usagef("to delete a session give at least the first %d letters of its id, got %q (jig list sessions)", shortestID, config.Shown(id))
					}
					i, err := db.Find(id)
					if err != nil {
						return err
					}
					all = append(all, i)
				}
				return remove(w, db, all)
			})
		}}
}

func pruneCommand(w World) *cobra.Command {
	var older string
	var keep int
	var dry bool
	c := &cobra.Command{Use: "prune", Short: "delete the sessions that are old, or beyond the newest ones",
		Long: "Deletes sessions that nobody went on with for longer than --older-than, or all but the --keep newest ones; given\n" +
			"both, only those that neither keeps. Sessions of all projects count.",
		Args: takes(0, 0, "no arguments (jig sessions delete takes sessions)"),
		RunE: func(c *cobra.Command, _ []string) error {
			var age time.Duration
			var err error
			hasAge, hasKeep := c.Flags().Changed("older-than"), c.Flags().Changed("keep")
			if hasAge {
				if age, err = longTime(older); err != nil {
					return usagef("--older-than: %v", err)
				}
			}
			switch {
			case !hasAge && !hasKeep:
				return usagef("say what may go: --older-than 90d, --keep 100, or both")
			case keep < 0:
				return usagef("--keep must be 0 or more, got %d", keep)
			}
			return changing(w, "deleting sessions", func(db *store.DB) error { return prune(w, db, age, keep, dry) })
		}}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&older, "older-than", "", "delete what was last used longer ago than this `duration`, such as 90d, 12w or 36h")
	f.IntVar(&keep, "keep", 0, "keep the `N` sessions that were used last")
	f.BoolVar(&dry, "dry-run", false, "print what would be deleted, and delete nothing")
	return c
}

func renameCommand(w World) *cobra.Command {
	return &cobra.Command{Use: "rename SESSION TITLE", Short: "give a session another title",
		Args: takes(2, 2, "a session and its new title, in quotes"),
		RunE: func(_ *cobra.Command, args []string) error {
			return changing(w, "renaming a session", func(db *store.DB) error { return rename(db, args[0], args[1]) })
		}}
}

// changing opens the database for a command that a model must not give: what it did could be hidden so.
func changing(w World, what string, do func(*store.DB) error) error {
	if modelStarted(w) {
		return refusedHere(what)
	}
	db, err := openStore(w)
	if err != nil {
		return err
	}
	defer closeStore(w, db)
	return do(db)
}

func rename(db *store.DB, id, title string) error {
	title = strings.Join(strings.Fields(print.Clean(strings.ToValidUTF8(title, "\uFFFD"))), " ")
	if title == "" {
		return usagef("a title must not be empty")
	}
	i, err := db.Find(id)
	if err != nil {
		return err
	}
	log, facts, err := db.Take(i.ID)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the lock goes with the process in any case
	return session.NewLine(log, facts...).Say(proto.Titled{Title: title})
}

func prune(w World, db *store.DB, age time.Duration, keep int, dry bool) error {
	q := store.Query{}
	if age > 0 {
		q.Before = w.Now().Add(-age)
	}
	old, err := db.List(q)
	if err != nil {
		return err
	}
	if keep > 0 {
		newest, err := db.List(store.Query{Limit: keep})
		if err != nil {
			return err
		}
		kept := map[string]bool{}
		for _, i := range newest {
			kept[i.ID] = true
		}
		var rest []store.Info
		for _, i := range old {
			if !kept[i.ID] {
				rest = append(rest, i)
			}
		}
		old = rest
	}
	if !dry {
		return remove(w, db, old)
	}
	var rows [][]string
	for _, i := range old {
		rows = append(rows, sessionRow(w, i))
	}
	return columns(w, rows)
}

// remove deletes sessions, says how many and how much room that gave, and names those that are open.
func remove(w World, db *store.DB, all []store.Info) error {
	before := room(db.Path())
	var ids []string
	for _, i := range all {
		ids = append(ids, i.ID)
	}
	n, err := db.Delete(ids...)
	var open []*store.HeldError
	var other []error
	for _, e := range each(err) {
		var held *store.HeldError
		if errors.As(e, &held) {
			open = append(open, held)
		} else {
			other = append(other, e)
		}
	}
	dropArchives(w, ids, open)
	what := "1 session"
	if n != 1 {
		what = fmt.Sprintf("%d sessions", n)
	}
	if _, e := fmt.Fprintf(w.Out, "deleted %s, %s freed\n", what, size(max(before-room(db.Path()), 0))); e != nil {
		return e
	}
	for _, h := range open {
		w.warn("session %s is open in %s and was left", h.ID, h.Holder)
	}
	if err := errors.Join(other...); err != nil {
		return err
	}
	if len(open) > 0 {
		return &ended{exitFailed}
	}
	return nil
}

// dropArchives removes the full texts that summaries of the deleted sessions left in the temporary
// folder. That is shared, so no link there leads out. What cannot be removed goes when the system
// empties that folder.
func dropArchives(w World, ids []string, left []*store.HeldError) {
	root, err := os.OpenRoot(w.Temp)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	for _, id := range ids {
		if slices.ContainsFunc(left, func(h *store.HeldError) bool { return h.ID == id }) {
			continue
		}
		for _, above := range host.Archives() {
			_ = root.RemoveAll(filepath.Join(above, filepath.Base(id)))
		}
	}
}

// each takes apart what errors.Join put together.
func each(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // what was joined is wanted, not what is wrapped
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, each(e)...)
	}
	return out
}

// room is what the database takes on the disk, in bytes.
func room(path string) int64 {
	var n int64
	for _, p := range []string{path, path + "-wal"} {
		if st, err := os.Stat(p); err == nil {
			n += st.Size()
		}
	}
	return n
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// longTime reads a time such as 90d, 12w, 36h or 1h30m.
func longTime(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	unit := map[byte]time.Duration{'d': day, 'w': 7 * day, 'y': 365 * day}
	err := fmt.Errorf("want a length of time such as 90d, 12w or 36h, got %q", s)
	if s == "" {
		return 0, err
	}
	if u := unit[s[len(s)-1]]; u > 0 {
		n, e := strconv.Atoi(s[:len(s)-1])
		if e != nil || n <= 0 || n > 100*365 {
			return 0, err
		}
		if d := time.Duration(n) * u; d/u == time.Duration(n) {
			return d, nil
		}
		return 0, err
	}
	d, e := time.ParseDuration(s)
	if e != nil || d <= 0 {
		return 0, err
	}
	return d, nil
}
