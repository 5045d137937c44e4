package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jig/internal/config"
	"jig/internal/history"
	"jig/internal/print"
	"jig/internal/session"
	"jig/internal/store"
)

// attributes says what the history keeps of a session in a project beside its transcript.
func (w World) attributes(root string) map[string]string {
	out := map[string]string{history.Repository: root}
	if r := history.Remotes(gitConfig(root)); r != "" {
		out[history.Repository] = r
	}
	if host, err := os.Hostname(); err == nil {
		out[history.Source] = host
	}
	return out
}

// gitConfig reads a project's git configuration, nil where there is none. In a worktree it lies with the
// checkout that the worktree belongs to.
func gitConfig(root string) []byte {
	const most = 1 << 20
	dir := filepath.Join(root, ".git")
	for _, link := range []string{"", "commondir"} {
		file := filepath.Join(dir, link)
		st, err := os.Stat(file)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		b, err := readSmall(file, most)
		if err != nil {
			return nil
		}
		to := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		dir = to
	}
	b, err := readSmall(filepath.Join(dir, "config"), most)
	if err != nil {
		return nil
	}
	return b
}

// transcribing writes the history of one run. A nil one does nothing.
type transcribing struct{ t *store.Transcriber }

// transcribe makes a log that is transcribed, of one that is kept.
func transcribe(w World, id string, log session.Store, db func() (*store.DB, error)) (*transcribing, session.Store) {
	if log == nil || db == nil {
		return nil, log
	}
	t := store.NewTranscriber(db, w.attributes)
	return &transcribing{t}, t.Beside(id, log)
}

// db waits for the database of a run.
func (k *saving) db() (*store.DB, error) { return k.opening.DB() }

// end writes what is left. A history that failed is worth a line, and no more: the session is kept.
func (t *transcribing) end(w World) {
	if t == nil {
		return
	}
	if err := t.t.Close(); err != nil {
		w.warn("%v", err)
	}
}

func historyCommand(w World) *cobra.Command {
	c := &cobra.Command{Use: "history", Short: "search and read what was said and done in sessions",
		Long: "Searches and reads the transcripts of sessions: what was said, and the calls with their results. It only reads.",
		RunE: choice([]string{"search", "show"}, "")}
	c.AddCommand(historySearchCommand(w), historyShowCommand(w))
	return c
}

// looking is a search as it was asked for.
type looking struct {
	query              history.Query
	repository, source string
}

func historySearchCommand(w World) *cobra.Command {
	var l looking
	c := &cobra.Command{Use: "search [WORDS]...", Short: "find sessions by words in their transcripts",
		Long: "Finds the sessions in which one message or call has all the words, newest first. \"Words in quotation marks\" must\n" +
			"follow one another (the shell needs quotes around them, too), and a word may end in * (at least 3 letters before it).\n" +
			"Case and accents do not matter. Without words it gives the sessions that were active last.",
		Args: takes(0, 1000, "words"),
		RunE: func(c *cobra.Command, args []string) error {
			l.query.Text = strings.Join(args, " ")
			if l.query.Limit < 1 || l.query.Limit > history.MaxFound {
				return usagef("--limit must be from 1 to %d, got %d", history.MaxFound, l.query.Limit)
			}
			return searchHistory(c.Context(), w, l)
		}}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&l.repository, "repository", "", "only sessions whose repository has this `text` in it, such as owner/name")
	f.StringVar(&l.source, "source", "", "only sessions of a machine whose name has this `text` in it")
	f.IntVar(&l.query.Limit, "limit", history.DefaultFound, "show so many sessions at most, from 1 to 75: `N`")
	return c
}

func historyShowCommand(w World) *cobra.Command {
	return &cobra.Command{Use: "show SESSION", Short: "print a session's transcript",
		Long: "Prints what was said and done in a session, the oldest first. Long texts are shortened; jig export writes all.",
		Args: takes(1, 1, "a session (jig history search)"),
		RunE: func(c *cobra.Command, args []string) error {
			return withHistory(c.Context(), w, func(db *store.DB) error { return showHistory(c.Context(), w, db, args[0]) })
		}}
}

// historyPatience is how long a person waits for transcripts that a jig that died left undone, and for a search
// of words that hardly ever meet.
const historyPatience = 5 * time.Second

// withHistory opens the database, with its transcripts up to date.
func withHistory(ctx context.Context, w World, do func(*store.DB) error) error {
	db, err := openStore(w)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing is lost that the next one could not make up for
	soon, cancel := context.WithTimeout(ctx, historyPatience)
	defer cancel()
	if err := db.Transcribe(soon, w.attributes); err != nil && ctx.Err() == nil {
		w.warn("history unavailable: what is newest is missing: %v", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if soon.Err() != nil {
		w.warn("not all sessions are in the history yet, the oldest of them are missing; the next search goes on with them")
	}
	return do(db)
}

func searchHistory(ctx context.Context, w World, l looking) error {
	l.query.Attributes = map[string]history.Filter{}
	for k, v := range map[string]string{history.Repository: l.repository, history.Source: l.source} {
		if v != "" {
			l.query.Attributes[k] = history.Filter{Contains: v}
		}
	}
	asked, err := l.query.Check()
	if err != nil {
		return &usageError{err.Error()}
	}
	return withHistory(ctx, w, func(db *store.DB) error {
		hits, more, err := allHits(ctx, db, l.query)
		if err != nil {
			return err
		}
		if len(hits) == 0 && !more {
			return errNothingFound
		}
		b := bufio.NewWriter(w.Out)
		for _, h := range hits {
			writeHit(b, w, db, h, asked.Terms)
		}
		if err := b.Flush(); err != nil {
			return err
		}
		if more {
			w.warn("not all was searched: the words are in too many places; give a rarer one, a phrase, or --repository")
		}
		return nil
	})
}

var errNothingFound = errors.New("nothing was found")

// allHits goes on from page to page until there are as many as were asked for.
func allHits(ctx context.Context, db *store.DB, q history.Query) (all []history.Hit, more bool, err error) {
	begun := time.Now()
	want := q.Limit
	for len(all) < want {
		q.Limit = want // it belongs to the search, so that its cursor stays good
		f, err := db.Collection().Search(ctx, q)
		if err != nil {
			return nil, false, err
		}
		all = append(all, f.Sessions...)
		if q.Cursor = f.Next; f.Next == "" {
			return all[:min(len(all), want)], false, nil
		}
		if time.Since(begun) > historyPatience {
			return all[:min(len(all), want)], len(all) < want, nil
		}
	}
	return all[:want], false, nil
}

func writeHit(b *bufio.Writer, w World, db *store.DB, h history.Hit, terms []history.Term) {
	title := ""
	if i, err := db.Find(h.Session); err == nil {
		title = i.Title
	}
	at := h.Time
	if len(h.Snippets) > 0 {
		at = h.Snippets[0].Time
	}
	fmt.Fprintf(b, "%s  %s  %s  %s\n", h.Session, ago(w.Now().Sub(at)), print.Clean(config.Shown(h.Attributes[history.Repository])), print.Clean(title))
	for _, s := range h.Snippets {
		who := string(s.Kind)
		if s.Kind == history.Tool {
			who = s.Tool
			if s.Outcome != history.Succeeded {
				who += " " + string(s.Outcome)
			}
		}
		fmt.Fprintf(b, "  %s: %s\n", print.Clean(who), marked(print.Clean(s.Text), terms, w.color(w.OutTerm)))
	}
}

// marked shows on a terminal what matches.
func marked(s string, terms []history.Term, color bool) string {
	if !color {
		return s
	}
	var b strings.Builder
	at := 0
	for _, m := range history.Matches(s, terms, 100) {
		if m[0] < at {
			continue
		}
		b.WriteString(s[at:m[0]] + "\x1b[1m" + s[m[0]:m[1]] + "\x1b[0m")
		at = m[1]
	}
	return b.String() + s[at:]
}

func showHistory(ctx context.Context, w World, db *store.DB, prefix string) error {
	i, err := db.Find(prefix)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w.Out)
	r := history.Reading{Session: i.ID, Limit: history.MaxEntries}
	for first := true; first || r.Cursor != ""; first = false {
		p, err := db.Collection().Read(ctx, r)
		if err != nil {
			return err
		}
		if first {
			fmt.Fprintf(b, "session %s, begun %s\n", i.ID, p.Time.In(w.Now().Location()).Format(time.DateTime))
			for _, k := range slices.Sorted(maps.Keys(p.Attributes)) {
				fmt.Fprintf(b, "%s: %s\n", print.Clean(k), print.Clean(config.Shown(p.Attributes[k])))
			}
		}
		for _, e := range p.Entries {
			writeEntry(b, w, e)
		}
		r.Cursor = p.Next
	}
	return b.Flush()
}

func writeEntry(b *bufio.Writer, w World, e history.Entry) {
	fmt.Fprintf(b, "\n── %s", e.Kind)
	if e.Kind == history.Tool {
		fmt.Fprintf(b, " %s %s", print.Clean(e.Tool), e.Outcome)
	}
	fmt.Fprintf(b, " · %s\n", e.Time.In(w.Now().Location()).Format(time.DateTime))
	for _, s := range []string{e.Args, e.Text} {
		if s = strings.TrimRight(s, " \t\r\n"); s != "" {
			fmt.Fprintln(b, print.Clean(s))
		}
	}
}
