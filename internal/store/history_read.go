package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"jig/internal/history"
)

// give makes a page of what was found.
func (s *searching) give(next string) (history.Found, error) {
	out := history.Found{Next: next}
	for _, f := range s.hits {
		id, created, err := s.known(f.session)
		if errors.Is(err, sql.ErrNoRows) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return out, err
		}
		hit := history.Hit{Session: id, Created: created}
		for _, n := range f.entries {
			var e history.Entry
			err := s.row("SELECT "+entryColumns+" FROM history_entry WHERE num = ?", []any{n}, entryInto(&e, new(int64))...)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return out, err
			}
			const before = 3 // entries
			hit.Snippets = append(hit.Snippets, history.Snippet{Kind: e.Kind, Tool: e.Tool, Outcome: e.Outcome, Time: e.Time,
				Text: e.Excerpt(s.asked.Terms), Cursor: history.ReadCursor(id, uint64(max(n-before, 0)))})
		}
		if len(hit.Snippets) > 0 {
			out.Sessions = append(out.Sessions, hit)
		}
	}
	return out, nil
}

const entryColumns = "num, fact, at, kind, outcome, tool, args, text"

// entryInto is where the columns go.
func entryInto(e *history.Entry, num *int64) []any {
	return []any{num, &e.Fact, (*millis)(&e.Time), &e.Kind, &e.Outcome, &e.Tool, &e.Args, &e.Text}
}

// millis reads a time.
type millis time.Time

func (m *millis) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is a %T", v)
	}
	*m = millis(time.UnixMilli(n))
	return nil
}

// known reads what is known of a session. sql.ErrNoRows says that there is no such transcript.
func (s *searching) known(session int64) (string, history.Created, error) {
	var id string
	c := history.Created{Attributes: map[string]string{}}
	if err := s.row("SELECT s.id, h.created FROM history h JOIN session s ON s.num = h.session WHERE h.session = ?", []any{session}, &id, (*millis)(&c.Time)); err != nil {
		return "", c, err
	}
	st, err := s.prepare("SELECT v.key, v.value FROM history_attribute a JOIN history_value v ON v.num = a.value WHERE a.session = ?")
	if err != nil {
		return "", c, err
	}
	rows, err := st.QueryContext(s.ctx, session)
	if err != nil {
		return "", c, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var k, v string
		if err := rows.Scan(&k, &v); err != nil {
			return "", c, err
		}
		c.Attributes[k] = v
	}
	return id, c, rows.Err()
}

// pageSize bounds a page of a transcript, in bytes of text.
const pageSize = 512 << 10

// Read gives entries of one session in order.
func (c collection) Read(ctx context.Context, r history.Reading) (history.Page, error) {
	limit, err := r.Check()
	if err != nil {
		return history.Page{}, err
	}
	after := uint64(0)
	if err := r.Place(&after); err != nil {
		return history.Page{}, err
	}
	conn, err := c.pool.Conn(ctx)
	if err != nil {
		return history.Page{}, c.explain(err)
	}
	s := newSearching(ctx, conn)
	defer s.close()
	var session int64
	p := history.Page{Session: r.Session}
	err = s.row("SELECT num FROM session WHERE id = ?", []any{r.Session}, &session)
	if err == nil {
		_, p.Created, err = s.known(session)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return history.Page{}, &history.NoSessionError{Session: r.Session}
	}
	if err == nil {
		err = s.entries(session, int64(after), limit, &p)
	}
	if err != nil && ctx.Err() == nil {
		err = c.explain(err)
	}
	return p, err
}

func (s *searching) entries(session, after int64, limit int, p *history.Page) error {
	rows, err := s.conn.QueryContext(s.ctx, fmt.Sprintf(`SELECT e.num, e.fact, e.at, e.kind, e.outcome, e.tool, e.args, e.text FROM history_stretch s
		CROSS JOIN history_entry e ON e.num >= s.num << %d AND e.num < (s.num + 1) << %[1]d
		WHERE s.session = ? AND s.num >= ? AND e.num > ? ORDER BY s.num, e.num`, stretchBits), session, after>>stretchBits, after)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	size := 0
	for rows.Next() {
		var e history.Entry
		var n int64
		if err := rows.Scan(entryInto(&e, &n)...); err != nil {
			return err
		}
		size += len(e.Text) + len(e.Args)
		if len(p.Entries) == limit || size > pageSize && len(p.Entries) > 0 {
			p.Next = history.ReadCursor(p.Session, uint64(after))
			return nil
		}
		p.Entries, after = append(p.Entries, e), n
	}
	return rows.Err()
}
