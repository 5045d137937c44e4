package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"jig/internal/config"
	"jig/internal/print"
	"jig/internal/store"
)

// offered is how many sessions a person may choose from at once.
const offered = 20

// shortestID is how much of an id is taken for one where a number may be meant, too.
const shortestID = 4

// chosen finds the session that a command line means, or asks for it.
func chosen(ctx context.Context, w World, db *store.DB, o resumeOptions) (string, error) {
	if o.Session != "" {
		i, err := db.Find(o.Session)
		return i.ID, err
	}
	root := projectRoot(w)
	here, err := db.List(store.Query{Root: realRoot(root), Limit: offered})
	if err != nil {
		return "", err
	}
	switch {
	case len(here) == 0:
		return "", fmt.Errorf("there are no sessions of the project %s (jig list sessions lists all)", config.Shown(root))
	case o.Last:
		return here[0].ID, nil
	case !w.InTerm || !w.ErrTerm:
		return "", usagef("name a session (jig list sessions), or take the newest of this project with --last")
	}
	// What broke off is what a person most likely wants back.
	slices.SortStableFunc(here, func(a, b store.Info) int { return rank(a) - rank(b) })
	return pick(ctx, w, here)
}

func rank(i store.Info) int {
	if i.Crashed() {
		return 0
	}
	return 1
}

// pick lets a person choose by number or by id.
func pick(ctx context.Context, w World, from []store.Info) (string, error) {
	t := tabwriter.NewWriter(w.Err, 0, 0, 2, ' ', 0)
	for n, i := range from {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\n", n+1, print.Clean(beginning(i.ID, 6)), ago(w.Now().Sub(i.Updated)), stateOf(i), print.Clean(i.Title))
	}
	if err := t.Flush(); err != nil {
		return "", err
	}
	in := bufio.NewReader(w.In)
	for {
		fmt.Fprint(w.Err, "which session? (number, or q) ")
		line, err := in.ReadString('\n')
		answer := strings.TrimSpace(line)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil && err != io.EOF:
			return "", err
		case answer == "q" || answer == "" && err == io.EOF:
			return "", context.Canceled
		}
		if n, e := strconv.Atoi(answer); e == nil && n >= 1 && n <= len(from) {
			return from[n-1].ID, nil
		}
		for _, i := range from {
			if len(answer) >= shortestID && strings.HasPrefix(i.ID, strings.ToLower(answer)) {
				return i.ID, nil
			}
		}
		fmt.Fprintf(w.Err, "a number from 1 to %d, or an id (its first %d letters are enough)\n", len(from), shortestID)
		if err == io.EOF {
			return "", context.Canceled
		}
	}
}

// beginning is the first letters of an id. Those of a database that another program wrote may be shorter.
func beginning(id string, n int) string { return id[:min(n, len(id))] }

// stateOf is how a session stands, in a word.
func stateOf(i store.Info) string {
	switch {
	case i.Held:
		return "open"
	case i.Crashed():
		return "broke off"
	case i.State == "":
		return "new"
	}
	return i.State
}

// ago is a length of time in the past, roughly.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m ago"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h ago"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d ago"
}
