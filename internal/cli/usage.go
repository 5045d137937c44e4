package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"jig/internal/config"
	"jig/internal/money"
	"jig/internal/msg"
	"jig/internal/print"
	"jig/internal/store"
)

// What usage is counted by.
var usageKeys = []string{"day", "model", "agent"}

func usageCommand(w World) *cobra.Command {
	by, since, format := "day", "30d", string(print.Text)
	c := &cobra.Command{Use: "usage", Short: "what was spent, by day, model or agent",
		Long: "Adds up what all requests of kept sessions took and cost, also of sessions that were deleted since. Days are those\n" +
			"of the local time zone. cached is the share of the input that the provider read from its cache; ~ marks a cost that\n" +
			"was worked out in part, and - is a model without a price.",
		Args: takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case !contains(usageKeys, by):
				return usagef("--by: unknown %q (want %s)%s", by, strings.Join(usageKeys, ", "), didYouMean(by, usageKeys))
			case format != string(print.Text) && format != string(print.JSON):
				return usagef("--output-format: unknown format %q (want text, json)", format)
			}
			from, err := sinceWhen(w, since)
			if err != nil {
				return err
			}
			return usage(w, from, by, format)
		}}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&since, "since", since, "from when on: a `time` such as 7d, a date such as 2026-11-30, or all")
	f.StringVar(&by, "by", by, "one line for each `what`: day, model or agent")
	f.StringVar(&format, "output-format", format, "how it is written: text or json")
	complete(c, "by", usageKeys)
	return c
}

// sinceWhen is the beginning of the day that so long ago was, or of that date; zero is all there is.
func sinceWhen(w World, s string) (time.Time, error) {
	if s == "all" {
		return time.Time{}, nil
	}
	now := w.Now()
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	d, err := longTime(s)
	if err != nil {
		return time.Time{}, usagef("--since: want a time such as 7d, a date such as %s, or all, got %q", now.Format(time.DateOnly), s)
	}
	if d < 24*time.Hour {
		return now.Add(-d), nil
	}
	// 7d are today and the six days before.
	return time.Date(now.Year(), now.Month(), now.Day()-int(d/(24*time.Hour))+1, 0, 0, 0, 0, now.Location()), nil
}

// spentRow is what was spent under one name.
type spentRow struct {
	Name      string       `json:"name"`
	Requests  int          `json:"requests"`
	Usage     msg.Usage    `json:"usage"`
	Cost      money.Amount `json:"-"`
	Estimated bool         `json:"estimated"`
	// Shown is what JSON has for a cost: nothing where no price is known, since 0 would be a price.
	Shown *money.Amount `json:"cost,omitempty"`
}

// unpriced says that something was used and no price of it is known.
func (r spentRow) unpriced() bool { return r.Cost == 0 && r.Usage.Total() > 0 }

func (r spentRow) shown() spentRow {
	if !r.unpriced() {
		r.Shown = &r.Cost
	}
	return r
}

func (r *spentRow) add(s store.Spending) {
	r.Requests += s.Requests
	r.Usage = r.Usage.Add(s.Usage)
	r.Cost = r.Cost.Plus(s.Cost)
	r.Estimated = r.Estimated || s.Estimated
}

func usage(w World, from time.Time, by, format string) error {
	spent, err := spending(w, from)
	if err != nil {
		return err
	}
	rows := map[string]*spentRow{}
	total := spentRow{Name: "total"}
	for _, s := range spent {
		name := s.Provider + ":" + s.Model
		switch by {
		case "day":
			name = s.At.In(w.Now().Location()).Format(time.DateOnly)
		case "agent":
			name = s.Agent
		}
		if rows[name] == nil {
			rows[name] = &spentRow{Name: name}
		}
		rows[name].add(s)
		total.add(s)
	}
	list := make([]spentRow, 0, len(rows))
	for _, name := range sortedKeys(rows) {
		list = append(list, *rows[name])
	}
	if by != "day" { // what cost most is what is looked for
		slices.SortStableFunc(list, func(a, b spentRow) int {
			return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Usage.Total(), a.Usage.Total()))
		})
	}
	if format == string(print.JSON) {
		return usageJSON(w, from, by, list, total)
	}
	return usageTable(w, by, list, total)
}

func spending(w World, from time.Time) ([]store.Spending, error) {
	db, err := openStore(w)
	if errors.Is(err, errNoSessions) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closeStore(w, db)
	return db.Spent(from, time.Time{})
}

func usageTable(w World, by string, rows []spentRow, total spentRow) error {
	table := [][]string{{by, "requests", "input", "cached", "output", "cost"}}
	for _, r := range append(rows, total) {
		table = append(table, []string{print.Clean(config.Shown(r.Name)), grouped(r.Requests), grouped(r.Usage.Input), share(r.Usage), grouped(r.Usage.Output), r.cost()})
	}
	widths := make([]int, len(table[0]))
	for _, r := range table {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, r := range table {
		for i, cell := range r {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 { // the name alone begins where the others do
				b.WriteString(cell + gap)
			} else {
				b.WriteString("  " + gap + cell)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w.Out, b.String())
	return err
}

func (r spentRow) cost() string {
	switch {
	case r.unpriced():
		return "-"
	case r.Estimated:
		return "~" + r.Cost.String()
	}
	return r.Cost.String()
}

// share is how much of the input was read from the provider's cache.
func share(u msg.Usage) string {
	if u.Input == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", 100*u.CacheRead/u.Input)
}

func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func usageJSON(w World, from time.Time, by string, rows []spentRow, total spentRow) error {
	out := struct {
		Type  string     `json:"type"`
		Since *time.Time `json:"since"`
		By    string     `json:"by"`
		Rows  []spentRow `json:"rows"`
		Total spentRow   `json:"total"`
	}{"usage", nil, by, make([]spentRow, 0, len(rows)), total.shown()}
	for _, r := range rows {
		out.Rows = append(out.Rows, r.shown())
	}
	if !from.IsZero() {
		out.Since = &from
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.Out, "%s\n", b)
	return err
}
