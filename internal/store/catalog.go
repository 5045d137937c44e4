package store

import (
	"fmt"
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

// List gives sessions by what the index says of them.
func (d *DB) List(q Query) ([]Info, error) {
	query := "SELECT id, agent, provider, model, root, title, created, updated, state, goal, turns, parent, holder FROM session WHERE true"
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
	query += " ORDER BY updated DESC, num DESC"
	if q.Limit > 0 {
		query, args = query+" LIMIT ?", append(args, q.Limit)
	}
	rows, err := d.pool.Query(query, args...)
	if err != nil {
		return nil, d.explain(err)
	}
	defer rows.Close()
	alive := map[string]*Holder{} // each is looked at once
	var out []Info
	for rows.Next() {
		var i Info
		var created, updated int64
		var holder string
		if err := rows.Scan(&i.ID, &i.Agent, &i.Provider, &i.Model, &i.Root, &i.Title, &created, &updated, &i.State, &i.Goal, &i.Turns, &i.Parent, &holder); err != nil {
			return nil, d.explain(err)
		}
		i.Created, i.Updated = time.UnixMilli(created), time.UnixMilli(updated)
		if _, seen := alive[holder]; !seen && holder != "" {
			alive[holder] = nil
			if h, ok, err := d.lease.holding(holder); err == nil && ok {
				alive[holder] = &h
			}
		}
		if h := alive[holder]; h != nil {
			i.Held, i.Holder = true, *h
		}
		out = append(out, i)
	}
	return out, d.explain(rows.Err())
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
