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
	searchTime = 25 * time.Millisecond
	// longStep is how many matches of sessions that are known already, or not asked for, are passed by one by
	// one before the rest of them is leapt over.
	longStep = 100
)

// regions are how far down the numbers of entries a look goes that cannot be broken off: 8 stretches, 32, and
// so on. They are how many bits of an entry's number are not its region's. Each takes four times as long as
// the one before, at most about.
var regions = [...]int{15, 17, 19, 21, 23, 25}

// everywhere is no region. It is for beginnings of words, for which the index makes a list of all their
// entries before the first is given: that is done once, and not for each region and leap anew.
const everywhere = -1

// regionWord is what is indexed with an entry of a region, of a size.
func regionWord(size int, entry int64) string {
	return fmt.Sprintf("%c%d", rune(0xE000+size), entry>>regions[size])
}

// regionsOf is what the column region says of an entry.
func regionsOf(entry int64) string {
	var all []string
	for size := range regions {
		all = append(all, regionWord(size, entry))
	}
	return strings.Join(all, " ")
}

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
	s := newSearching(ctx, conn)
	s.asked = a
	defer s.close()
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

	match    string
	prepared map[string]*sql.Stmt
	owners   map[int64]int64 // stretch → session
	top      int64           // matches above it came while the search was read page by page
	start    int64           // matches from here to top were on earlier pages
	hits     []found
	at       map[int64]int // session → place in hits
}

func newSearching(ctx context.Context, conn *sql.Conn) *searching {
	return &searching{conn: conn, ctx: ctx, begun: time.Now(), prepared: map[string]*sql.Stmt{}, owners: map[int64]int64{}}
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
	defer func() { _ = rows.Close() }()
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
	defer func() { _ = rows.Close() }()
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
	if err := s.row("SELECT coalesce(max(num), 0) FROM history_stretch", nil, &last); err != nil {
		return history.Found{}, err
	}
	top := uint64(last+1) << stretchBits
	start := top
	if err := s.asked.Place(cursor, &top, &start); err != nil {
		return history.Found{}, err
	}
	s.top, s.start, s.at, s.match = int64(top), int64(min(start, top)), map[int64]int{}, expression(s.asked.Terms)
	full, below, size := false, s.start, 0
	if slices.ContainsFunc(s.asked.Terms, func(t history.Term) bool { return t.Prefix }) {
		size = everywhere
	}
	for below > 0 && !full && time.Since(s.begun) < searchTime {
		begun := time.Now()
		var err error
		if below, full, err = s.look(size, below); err != nil {
			return history.Found{}, err
		}
		if took := time.Since(begun); size == everywhere {
			continue
		} else if took < searchTime/6 {
			size = min(size+1, len(regions)-1)
		} else if took > searchTime/2 {
			size = max(size-1, 0)
		}
	}
	next := ""
	if below > 0 {
		next = s.asked.Cursor(uint64(s.top), uint64(below))
	}
	return s.give(next)
}

// look goes through the matches from below down to the end of a region. It says where the search goes on,
// which is 0 at its end, and whether the page is full.
func (s *searching) look(size int, below int64) (int64, bool, error) {
	below = s.leap(below)
	floor := int64(0)
	if size != everywhere {
		floor = (below - 1) >> regions[size] << regions[size]
	}
	for below > floor && below > 0 && time.Since(s.begun) < searchTime {
		on, full, err := s.pass(size, floor, below)
		if err != nil || full {
			return on, full, err
		}
		below = s.leap(on)
	}
	return below, false, nil
}

// leap goes down to the next stretch that is allowed, if it is not in one.
func (s *searching) leap(below int64) int64 {
	if below <= 0 || s.allowed == nil {
		return max(below, 0)
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

// pass reads matches one after the other until it must leap: over stretches that are not allowed, or over
// more of a session of which enough is known.
func (s *searching) pass(size int, floor, below int64) (on int64, full bool, err error) {
	seek, err := s.prepare(matching)
	if err != nil {
		return 0, false, err
	}
	rows, err := seek.QueryContext(s.ctx, s.within(size, below-1), floor, below)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = rows.Close() }()
	begun, idle, skip := time.Now(), 0, int64(-1) // a stretch
	step := longStep
	if size == everywhere {
		step *= 200
	}
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return 0, false, err
		}
		wanted := s.leap(n+1) == n+1
		if stretch := n >> stretchBits; wanted && stretch != skip {
			more, full, err := s.take(stretch, n)
			if err != nil || full {
				return n + 1, full, err
			}
			if more {
				idle = 0
				continue
			}
			skip = stretch
		}
		if idle++; idle%256 == 0 && time.Since(begun) > searchTime {
			return n, false, nil
		}
		if idle == step {
			if !wanted {
				return s.leap(n + 1), false, nil
			}
			on, err := s.over(skip)
			return on, false, err
		}
	}
	return floor, false, rows.Err()
}

// over leaps over all stretches of one session that follow one another. It gives 0 where nothing follows.
func (s *searching) over(stretch int64) (int64, error) {
	var next int64
	err := s.row("SELECT coalesce(max(num), -1) FROM (SELECT num FROM history_stretch WHERE num < ?1 AND session <> ?2 ORDER BY num DESC LIMIT 1)",
		[]any{stretch, s.owners[stretch]}, &next)
	return (next + 1) << stretchBits, err
}

// take notes a match. It says whether more of the same stretch are wanted, or that there is no room.
func (s *searching) take(stretch, entry int64) (more, full bool, err error) {
	session, err := s.owner(stretch)
	if err != nil || session == 0 { // it was deleted meanwhile
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

// owner is the session of a stretch, or 0.
func (s *searching) owner(stretch int64) (int64, error) {
	if session, ok := s.owners[stretch]; ok {
		return session, nil
	}
	var session int64
	err := s.row("SELECT session FROM history_stretch WHERE num = ?", []any{stretch}, &session)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	s.owners[stretch] = session
	return session, err
}

const matching = "SELECT rowid FROM history_word WHERE history_word MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC"

// within is what matches in one region alone.
func (s *searching) within(size int, entry int64) string {
	if size == everywhere {
		return s.match
	}
	return `"` + regionWord(size, entry) + `" AND ` + s.match
}

// prepare makes a statement once. It goes with the connection.
func (s *searching) prepare(query string) (*sql.Stmt, error) {
	if st := s.prepared[query]; st != nil {
		return st, nil
	}
	st, err := s.conn.PrepareContext(s.ctx, query)
	if err == nil {
		s.prepared[query] = st
	}
	return st, err
}

// row reads one row.
func (s *searching) row(query string, args []any, into ...any) error {
	st, err := s.prepare(query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(s.ctx, args...).Scan(into...)
}

func (s *searching) close() {
	for _, st := range s.prepared {
		_ = st.Close() // the connection is only lent
	}
	_ = s.conn.Close()
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
		err := s.row(matching+" LIMIT 1", []any{s.within(0, n<<stretchBits), max(n<<stretchBits, s.start), min((n+1)<<stretchBits, s.top)}, &one)
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
