package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jig/internal/history"
)

const (
	// searchTime is how long a page of a search looks for more before it says where to go on. It bounds
	// the work of words that are everywhere but hardly ever together.
	searchTime = 40 * time.Millisecond
	// firstWindow is how many stretches are looked through at first; the number doubles while that is
	// quick. No search can be broken off within a window.
	firstWindow = 64
	// longStep is how many matches of a session that is known already are passed by one by one before
	// the rest of it is leapt over.
	longStep = 500
)

// Search finds sessions by their entries, or by nothing but their attributes.
func (c collection) Search(ctx context.Context, q history.Query) (history.Found, error) {
	a, err := q.Check()
	if err != nil {
		return history.Found{}, err
	}
	conn, err := c.pool.Conn(ctx)
	if err != nil {
		return history.Found{}, c.explain(err)
	}
	defer conn.Close()
	s := &searching{conn: conn, ctx: ctx, asked: a, begun: time.Now()}
	var found history.Found
	if err = s.allow(); err == nil {
		if len(a.Terms) == 0 {
			found, err = s.newest(q.Cursor)
		} else {
			found, err = s.words(q.Cursor)
		}
	}
	var input history.InputError
	if errors.As(err, &input) || ctx.Err() != nil {
		return found, err
	}
	return found, c.explain(err)
}

// searching is one search at work.
type searching struct {
	conn  *sql.Conn
	ctx   context.Context
	asked history.Asked
	begun time.Time

	where   string // of sessions, by their attributes; "" allows all
	args    []any
	allowed []int64 // stretches, rising; nil allows all

	match string
	seek  *sql.Stmt
	top   int64 // matches above it came while the search was read page by page
	start int64 // matches from here to top were on earlier pages
	hits  []found
	at    map[int64]int // session → place in hits
}

type found struct {
	session int64
	entries []int64
}

// allow finds out which stretches may match by the attributes of their sessions.
func (s *searching) allow() error {
	if len(s.asked.Attributes) == 0 {
		return nil
	}
	var each []string
	for k, f := range s.asked.Attributes {
		cond := "value = ?"
		if f.Contains != "" {
			cond = "instr(value, ?) > 0" // not LIKE, which has signs of its own
			s.args = append(s.args, k, f.Contains)
		} else {
			s.args = append(s.args, k, f.Exact)
		}
		each = append(each, "SELECT session FROM history_attribute WHERE value IN (SELECT num FROM history_value WHERE key = ? AND "+cond+")")
	}
	s.where = " session IN (" + strings.Join(each, " INTERSECT ") + ")"
	if len(s.asked.Terms) == 0 {
		return nil
	}
	rows, err := s.conn.QueryContext(s.ctx, "SELECT num FROM history_stretch WHERE"+s.where+" ORDER BY num", s.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	s.allowed = []int64{}
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
		s.allowed = append(s.allowed, n)
	}
	return rows.Err()
}

// newest gives the sessions that were active last.
func (s *searching) newest(cursor string) (history.Found, error) {
	below := uint64(1 << 62)
	if err := s.asked.Place(cursor, &below); err != nil {
		return history.Found{}, err
	}
	query, args := "SELECT session, newest FROM history WHERE newest > 0 AND newest < ?", append([]any{int64(below)}, s.args...)
	if s.where != "" {
		query += " AND" + s.where
	}
	rows, err := s.conn.QueryContext(s.ctx, query+" ORDER BY newest DESC LIMIT ?", append(args, s.asked.Limit+1)...)
	if err != nil {
		return history.Found{}, err
	}
	defer rows.Close()
	more := false
	for rows.Next() {
		var f found
		var newest int64
		if err := rows.Scan(&f.session, &newest); err != nil {
			return history.Found{}, err
		}
		if more = len(s.hits) == s.asked.Limit; !more {
			f.entries, below = []int64{newest}, uint64(newest)
			s.hits = append(s.hits, f)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return history.Found{}, err
	}
	next := ""
	if more {
		next = s.asked.Cursor(below)
	}
	return s.give(next)
}

// words looks for entries that match, the newest first, window by window.
func (s *searching) words(cursor string) (history.Found, error) {
	var last int64
	if err := s.conn.QueryRowContext(s.ctx, "SELECT coalesce(max(num), 0) FROM history_stretch").Scan(&last); err != nil {
		return history.Found{}, err
	}
	top := uint64(last+1) << stretchBits
	start := top
	if err := s.asked.Place(cursor, &top, &start); err != nil {
		return history.Found{}, err
	}
	s.top, s.start, s.at, s.match = int64(top), int64(min(start, top)), map[int64]int{}, expression(s.asked.Terms)
	var err error
	if s.seek, err = s.conn.PrepareContext(s.ctx, "SELECT rowid FROM history_word WHERE history_word MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC"); err != nil {
		return history.Found{}, err
	}
	defer s.seek.Close()
	full, below, window := false, s.start, int64(firstWindow)
	for below > 0 && !full && time.Since(s.begun) < searchTime {
		begun := time.Now()
		floor := s.floor(below, window)
		if below, full, err = s.look(floor, below); err != nil {
			return history.Found{}, err
		}
		if took := time.Since(begun); took < searchTime/8 {
			window *= 2
		} else if took > searchTime/2 {
			window = max(window/2, 1)
		}
	}
	next := ""
	if below > 0 {
		next = s.asked.Cursor(uint64(s.top), uint64(below))
	}
	return s.give(next)
}

// floor is where a window of so many stretches ends: of those that are allowed, if not all are.
func (s *searching) floor(below, window int64) int64 {
	if s.allowed == nil {
		return max(0, (below-1)>>stretchBits-window+1) << stretchBits
	}
	i, _ := slices.BinarySearch(s.allowed, (below-1)>>stretchBits+1)
	if i == 0 {
		return 0
	}
	return s.allowed[max(0, i-int(min(window, int64(i))))] << stretchBits
}

// look goes through the matches from below down to floor. It says where the search goes on, which is 0
// at its end, and whether the page is full.
func (s *searching) look(floor, below int64) (int64, bool, error) {
	for {
		if s.allowed != nil {
			if below = s.leap(below); below <= floor {
				break
			}
		}
		on, full, err := s.pass(floor, below)
		if err != nil || full {
			return on, full, err
		}
		if below = on; below <= floor || time.Since(s.begun) > searchTime {
			break
		}
	}
	if s.allowed != nil {
		return s.leap(below), false, nil
	}
	return below, false, nil
}

// leap goes down to the next stretch that is allowed, if it is not in one.
func (s *searching) leap(below int64) int64 {
	if below <= 0 {
		return 0
	}
	i, ok := slices.BinarySearch(s.allowed, (below-1)>>stretchBits)
	if ok {
		return below
	}
	if i == 0 {
		return 0
	}
	return (s.allowed[i-1] + 1) << stretchBits
}

// pass reads matches one after the other until it must leap: over a stretch that is not allowed, or
// over more of a session of which enough is known.
func (s *searching) pass(floor, below int64) (on int64, full bool, err error) {
	rows, err := s.seek.QueryContext(s.ctx, s.match, floor, below)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close()
	idle := 0
	skip := int64(-1) // a stretch
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return 0, false, err
		}
		stretch := n >> stretchBits
		if stretch != skip {
			if s.allowed != nil {
				if _, ok := slices.BinarySearch(s.allowed, stretch); !ok {
					return s.leap(n + 1), false, nil
				}
			}
			more, full, err := s.take(stretch, n)
			if err != nil || full {
				return n + 1, full, err
			}
			if more {
				continue
			}
			skip, idle = stretch, 0
		}
		if idle++; idle == longStep {
			return skip << stretchBits, false, nil
		}
	}
	return floor, false, rows.Err()
}

// take notes a match. It says whether more of the same stretch are wanted, or that there is no room.
func (s *searching) take(stretch, entry int64) (more, full bool, err error) {
	var session int64
	err = s.conn.QueryRowContext(s.ctx, "SELECT session FROM history_stretch WHERE num = ?", stretch).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) { // it was deleted meanwhile
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	i, known := s.at[session]
	if !known {
		if len(s.hits) == s.asked.Limit {
			return false, true, nil
		}
		seen, err := s.seen(session)
		if err != nil || seen {
			return false, false, err
		}
		i = len(s.hits)
		s.at[session] = i
		s.hits = append(s.hits, found{session: session})
	}
	h := &s.hits[i]
	if len(h.entries) < history.MaxSnippets {
		h.entries = append(h.entries, entry)
	}
	return len(h.entries) < history.MaxSnippets, false, nil
}

// seen says whether a session was on an earlier page: whether it has a match there.
func (s *searching) seen(session int64) (bool, error) {
	if s.start >= s.top {
		return false, nil
	}
	rows, err := s.conn.QueryContext(s.ctx, "SELECT num FROM history_stretch WHERE session = ? AND num >= ? AND num <= ? ORDER BY num", session, s.start>>stretchBits, s.top>>stretchBits)
	if err != nil {
		return false, err
	}
	var stretches []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return false, errors.Join(err, rows.Close())
		}
		stretches = append(stretches, n)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return false, err
	}
	for _, n := range stretches {
		var one int64
		err := s.seek.QueryRowContext(s.ctx, s.match, max(n<<stretchBits, s.start), min((n+1)<<stretchBits, s.top)).Scan(&one)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
	}
	return false, nil
}

// expression writes terms for the index. Words have letters and digits alone, and stand in quotation
// marks, so nothing that was typed can be an operator.
func expression(terms []history.Term) string {
	var each []string
	for _, t := range terms {
		x := `"` + strings.Join(t.Words, " ") + `"`
		if t.Prefix {
			x += "*"
		}
		each = append(each, x)
	}
	return strings.Join(each, " AND ")
}

// give makes a page of what was found.
func (s *searching) give(next string) (history.Found, error) {
	out := history.Found{Next: next}
	for _, f := range s.hits {
		h, err := known(s.ctx, s.conn, f.session)
		if errors.Is(err, sql.ErrNoRows) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return out, err
		}
		hit := history.Hit{Session: h.Session, Created: h.Created}
		for _, n := range f.entries {
			var e history.Entry
			err := scanEntry(s.conn.QueryRowContext(s.ctx, "SELECT "+entryColumns+" FROM history_entry WHERE num = ?", n), &e, new(int64))
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return out, err
			}
			const before = 3 // entries
			hit.Snippets = append(hit.Snippets, history.Snippet{Kind: e.Kind, Tool: e.Tool, Outcome: e.Outcome, Time: e.Time,
				Text: e.Excerpt(s.asked.Terms), Cursor: history.ReadCursor(h.Session, uint64(max(n-before, 0)))})
		}
		if len(hit.Snippets) > 0 {
			out.Sessions = append(out.Sessions, hit)
		}
	}
	return out, nil
}

const entryColumns = "num, fact, at, kind, outcome, tool, args, text"

func scanEntry(row interface{ Scan(...any) error }, e *history.Entry, num *int64) error {
	var fact, at int64
	err := row.Scan(num, &fact, &at, &e.Kind, &e.Outcome, &e.Tool, &e.Args, &e.Text)
	e.Fact, e.Time = uint64(fact), time.UnixMilli(at)
	return err
}

// known reads what is known of a session. sql.ErrNoRows says that there is no such transcript.
func known(ctx context.Context, conn *sql.Conn, session int64) (history.Page, error) {
	var p history.Page
	var created int64
	if err := conn.QueryRowContext(ctx, "SELECT s.id, h.created FROM history h JOIN session s ON s.num = h.session WHERE h.session = ?", session).Scan(&p.Session, &created); err != nil {
		return p, err
	}
	p.Time, p.Attributes = time.UnixMilli(created), map[string]string{}
	rows, err := conn.QueryContext(ctx, "SELECT v.key, v.value FROM history_attribute a JOIN history_value v ON v.num = a.value WHERE a.session = ?", session)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	for rows.Next() {
		var k, v string
		if err := rows.Scan(&k, &v); err != nil {
			return p, err
		}
		p.Attributes[k] = v
	}
	return p, rows.Err()
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
	defer conn.Close()
	var session int64
	if err := conn.QueryRowContext(ctx, "SELECT num FROM session WHERE id = ?", r.Session).Scan(&session); errors.Is(err, sql.ErrNoRows) {
		return history.Page{}, &history.NoSessionError{Session: r.Session}
	} else if err != nil {
		return history.Page{}, c.explain(err)
	}
	p, err := known(ctx, conn, session)
	if errors.Is(err, sql.ErrNoRows) {
		return history.Page{}, &history.NoSessionError{Session: r.Session}
	}
	if err == nil {
		err = readEntries(ctx, conn, session, int64(after), limit, &p)
	}
	if err != nil && ctx.Err() == nil {
		err = c.explain(err)
	}
	return p, err
}

func readEntries(ctx context.Context, conn *sql.Conn, session, after int64, limit int, p *history.Page) error {
	rows, err := conn.QueryContext(ctx, fmt.Sprintf(`SELECT %s FROM history_stretch s CROSS JOIN history_entry e ON e.num >= s.num << %d AND e.num < (s.num + 1) << %[2]d
		WHERE s.session = ? AND s.num >= ? AND e.num > ? ORDER BY s.num, e.num`, "e.num, fact, at, kind, outcome, tool, args, text", stretchBits), session, after>>stretchBits, after)
	if err != nil {
		return err
	}
	defer rows.Close()
	size := 0
	for rows.Next() {
		var e history.Entry
		var n int64
		if err := scanEntry(rows, &e, &n); err != nil {
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
