package cli

import (
	"bufio"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"jig/internal/config"
	"jig/internal/print"
	"jig/internal/store"
)

// listSessions prints the index, the newest first. It reads no configuration and no log, and makes no
// database where there is none.
func listSessions(w World, o Options) error {
	db, err := openStore(w)
	if errors.Is(err, errNoSessions) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closeStore(w, db)
	q := store.Query{}
	if o.Project {
		q.Root = realRoot(projectRoot(w))
	}
	all, err := db.List(q)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, i := range all {
		rows = append(rows, sessionRow(w, i))
	}
	return columns(w, rows)
}

func projectRoot(w World) string {
	return config.ProjectRoot(w.GOOS, w.Cwd, func(dir string) bool { return exists(dir + "/.git") })
}

// realRoot is a project's root without symbolic links, which is what sessions are found by.
func realRoot(root string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		return real
	}
	return root
}

func sessionRow(w World, i store.Info) []string {
	return []string{i.ID, ago(w.Now().Sub(i.Updated)), stateOf(i), turns(i.Turns), bounded(i.Agent, 20), bounded(i.Provider+":"+i.Model, 40),
		tail(shortHome(w, i.Root), 40), i.Title}
}

func turns(n int) string {
	if n == 1 {
		return "1 message"
	}
	return strconv.Itoa(n) + " messages"
}

// shortHome writes the home folder as people do.
func shortHome(w World, path string) string {
	if rest, ok := strings.CutPrefix(path, w.Home); ok && w.Home != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		return "~" + rest
	}
	return path
}

// bounded is the beginning of a text.
func bounded(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// tail is the end of a path, from the beginning of a name on where that is possible.
func tail(path string, most int) string {
	n := utf8.RuneCountInString(path)
	if n <= most {
		return path
	}
	path = string([]rune(path)[n-most+1:])
	if i := strings.IndexAny(path, `/\`); i > 0 {
		path = path[i:]
	}
	return "…" + path
}

// columns writes rows one below the other, as wide as they need. A tabwriter takes several times as
// long, and so does looking at every character as a rune, which shows with thousands of rows.
func columns(w World, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	n := len(rows[0])
	most, each := make([]int, n), make([]int, 0, n*len(rows))
	for _, r := range rows {
		for i, cell := range r {
			width, ok := plain(cell)
			if !ok {
				r[i] = print.Clean(config.Shown(cell))
				width = utf8.RuneCountInString(r[i])
			}
			most[i], each = max(most[i], width), append(each, width)
		}
	}
	gap := []byte(strings.Repeat(" ", slices.Max(most)+2))
	b := bufio.NewWriterSize(w.Out, 64<<10) // its Flush gives the first error
	for row, r := range rows {
		for i, cell := range r {
			_, _ = b.WriteString(cell)
			if i+1 < n {
				_, _ = b.Write(gap[:most[i]-each[row*n+i]+2])
			}
		}
		_ = b.WriteByte('\n')
	}
	return b.Flush()
}

// plain says how wide a text is that has nothing but what is seen as it is written. Of the characters
// beyond ASCII it knows the one that stands for what was left out.
func plain(s string) (width int, ok bool) {
	const left = "…"
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == left[0] && strings.HasPrefix(s[i:], left):
			i += len(left) - 1
		case s[i] < ' ' || s[i] > '~' || s[i] == '\\':
			return 0, false
		}
		width++
	}
	return width, true
}
