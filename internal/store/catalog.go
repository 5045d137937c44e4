package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Info is what is known of a session without reading its log.
type Info struct {
	ID, Agent, Provider, Model, Root, Title string
	Created, Updated                        time.Time
	// State is how the last turn ended, or Running. Goal is the goal's status.
	State, Goal string
	Turns       int    // messages of a person
	Parent      string // the session this is a copy of
	Held        bool   // a process that is alive writes it
	Holder      Holder
}

// Crashed says that the process that ran the last turn is gone without having ended it.
func (i Info) Crashed() bool { return i.State == Running && !i.Held }

// Query says which sessions are wanted, the newest first.
type Query struct {
	Root   string // of this project alone
	Prefix string // of the id
	Before time.Time
	Limit  int // 0 is all
}

// unit stands between the columns of a row where they are read as one text. Of all columns a folder's
// name alone may have such a character, so that comes last.
const unit = "\x1f"

const listed = "concat_ws(char(31), id, created, updated, turns, state, goal, parent, holder, agent, provider, model, title, root)"

// List gives sessions by what the index says of them. There may be tens of thousands: a row is one
// column, since the driver takes longer for each of them than the database does for the row.
func (d *DB) List(q Query) ([]Info, error) {
	query := "SELECT " + listed + " FROM session WHERE true"
	var args []any
	if q.Root != "" {
		query, args = query+" AND root = ?", append(args, q.Root)
	}
	if q.Prefix != "" {
		query, args = query+" AND id >= ? AND id < ?", append(args, q.Prefix, q.Prefix+"\x7f")
	}
	if !q.Before.IsZero() {
		query, args = query+" AND updated < ?", append(args, q.Before.UnixMilli())
	}
	if q.Limit > 0 {
		query, args = query+" ORDER BY updated DESC, num DESC LIMIT ?", append(args, q.Limit)
	} else {
		query += " ORDER BY num DESC" // as they lie there, which is faster; the order by time comes below
	}
	rows, err := d.pool.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, d.explain(err)
	}
	defer func() { _ = rows.Close() }()
	var texts []string
	for rows.Next() {
		var row string
		if err := rows.Scan(&row); err != nil {
			return nil, d.explain(err)
		}
		texts = append(texts, row)
	}
	if err := rows.Err(); err != nil {
		return nil, d.explain(err)
	}
	alive := map[string]*Holder{} // each is looked at once
	out := make([]Info, len(texts))
	for n, row := range texts {
		holder := out[n].fill(row)
		if _, seen := alive[holder]; !seen && holder != "" {
			alive[holder] = nil
			if h, ok, err := d.lease.holding(holder); err == nil && ok {
				alive[holder] = &h
			}
		}
		if h := alive[holder]; h != nil {
			out[n].Held, out[n].Holder = true, *h
		}
	}
	if q.Limit == 0 {
		slices.SortStableFunc(out, func(a, b Info) int { return b.Updated.Compare(a.Updated) })
	}
	return out, nil
}

// fill takes a row apart.
func (i *Info) fill(row string) (holder string) {
	next := func() string {
		var column string
		column, row, _ = strings.Cut(row, unit)
		return column
	}
	number := func() int64 {
		n, _ := strconv.ParseInt(next(), 10, 64) // the column holds nothing else
		return n
	}
	i.ID = next()
	i.Created, i.Updated = time.UnixMilli(number()), time.UnixMilli(number())
	i.Turns = int(number())
	i.State, i.Goal, i.Parent, holder = next(), next(), next(), next()
	i.Agent, i.Provider, i.Model, i.Title, i.Root = next(), next(), next(), next(), row
	return holder
}

// Find gives the one session whose id begins so. The error says what a person can do.
func (d *DB) Find(prefix string) (Info, error) {
	const shown = 5
	if prefix == "" || strings.ContainsFunc(prefix, func(r rune) bool { return r > '~' || r <= ' ' }) {
		return Info{}, &NoSessionError{prefix, nil}
	}
	found, err := d.List(Query{Prefix: strings.ToLower(prefix), Limit: shown})
	if err != nil {
		return Info{}, err
	}
	if len(found) != 1 {
		return Info{}, &NoSessionError{prefix, found}
	}
	return found[0], nil
}

// NoSessionError says that an id's beginning names no session, or several.
type NoSessionError struct {
	Prefix string
	Some   []Info // that it names
}

func (e *NoSessionError) Error() string {
	if len(e.Some) == 0 {
		return fmt.Sprintf("no session begins with %q (jig list sessions)", e.Prefix)
	}
	var ids []string
	for _, i := range e.Some {
		ids = append(ids, i.ID)
	}
	return fmt.Sprintf("%q names more than one session: %s; give more of the id", e.Prefix, strings.Join(ids, ", "))
}
