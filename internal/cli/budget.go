package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"jig/internal/config"
	"jig/internal/model"
	"jig/internal/model/anthropic"
	"jig/internal/model/catalog"
	"jig/internal/model/cost"
	"jig/internal/money"
	"jig/internal/print"
	"jig/internal/proto"
)

const maxCost = "--max-cost"

// moneyFlag is a flag whose value is an amount of dollars.
type moneyFlag struct{ to **money.Amount }

func (f moneyFlag) String() string { return "" }
func (f moneyFlag) Type() string   { return "dollars" }

func (f moneyFlag) Set(s string) error {
	a, err := money.Parse(s)
	if err == nil && a == 0 { // a script may have worked it out: what is left is no money, and not all of it
		err = errors.New("must be more than 0")
	}
	*f.to = &a
	return err
}

func addressOf(r config.Resolved) catalog.Address {
	return catalog.Address{Kind: r.Provider.Type, Name: r.ProviderName, URL: r.Provider.URL}
}

// known is what there is to know of a model: the configuration's word, else the price lists'.
func known(r config.Resolved) catalog.Model {
	m, _ := catalog.Find(addressOf(r), r.ID)
	if r.Price != nil {
		m.Price = configured(*r.Price)
	}
	if r.ContextWindow > 0 {
		m.Window = int(r.ContextWindow)
	}
	return m
}

// configured is a price of the configuration. Cached input costs what input does where nothing else
// is said.
func configured(p config.Price) *money.Price {
	out := &money.Price{Input: money.PerMillion(p.Input), Output: money.PerMillion(p.Output)}
	out.CacheRead, out.CacheWrite = out.Input, out.Input
	if p.CacheRead != nil {
		out.CacheRead = money.PerMillion(*p.CacheRead)
	}
	if p.CacheWrite != nil {
		out.CacheWrite = money.PerMillion(*p.CacheWrite)
	}
	return out
}

// budget is what a run may spend and what it has spent.
type budget struct {
	ref    string // the model's name, for people
	model  catalog.Model
	own    int // the reply limit that the dialect sends by itself
	limit  *money.Amount
	name   string // what sets the limit
	given  allowance
	untold bool     // a model started this jig, and what it may spend was taken away on the way
	report *os.File // where a jig that started this one reads what it spent; nil is nowhere
	ledger *cost.Ledger
	dir    string // for the accounts of the jigs that this one starts; "" is nowhere
}

// newBudget finds out what a run may spend. Nothing is opened yet.
func newBudget(w World, s *survey, o Options, r config.Resolved) (*budget, error) {
	b := &budget{ref: config.Shown(r.ProviderName + ":" + r.ID), model: known(r), name: maxCost}
	if r.Provider.Type == "anthropic" {
		b.own = anthropic.MaxOutput(r.ID)
	}
	if s.noPlaces == nil {
		b.dir = s.costFolder()
	}
	var err error
	if b.given, err = allowanceOf(w); err != nil {
		return nil, err
	}
	b.limit = o.MaxCost
	b.untold = !b.given.given && modelStarted(w)
	// What a command line says can only be less than what the jig before it gave.
	if g := b.given.limit; g != nil && (b.limit == nil || *g < *b.limit) {
		b.limit, b.name = g, "the "+maxCost+" given by the jig that started this one"
	}
	b.ledger = cost.NewLedger(b.limit, b.tell)
	return b, nil
}

// open is called before a run: it refuses one whose limit could not be kept, and makes the account
// that the jig before this one reads.
func (b *budget) open() error {
	switch {
	case b.given.limit != nil && b.given.file == "":
		return errUncounted
	case b.untold && b.model.Price != nil:
		return errUntold
	case b.limit != nil && b.model.Price == nil:
		return fmt.Errorf("%s: no price is known for %s, so what it costs cannot be limited: set the price of a models: entry (input and output, in dollars for a million tokens) and use that one", maxCost, b.ref)
	case b.given.file == "":
		return nil
	}
	f, err := os.OpenFile(b.given.file, os.O_WRONLY, 0)
	if err != nil && b.given.limit != nil {
		return fmt.Errorf("the account for the jig that started this one cannot be written: %w", cause(err))
	}
	if err == nil {
		b.report = f
	}
	return nil
}

// meter keeps the account of a model's requests, where they have a price.
func (b *budget) meter(m model.Model) model.Model {
	if b.model.Price == nil {
		return m
	}
	return cost.Meter(m, b.ledger, cost.Options{Price: *b.model.Price, Window: b.model.Window, Reply: b.model.Reply, Own: b.own, Name: b.name})
}

// said is what the session says of it at a turn's end.
func (b *budget) said() *proto.Cost {
	a := b.ledger.Account()
	if b.model.Price == nil && a.Spent == 0 {
		return nil
	}
	return &proto.Cost{Session: a.Spent, Children: a.Children, Limit: b.limit, Estimated: a.Estimated}
}

// summary is one line for a person at the end of a run, "" when there is nothing to say.
func (b *budget) summary() string {
	c := b.said()
	if c == nil {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "cost %s", c.Session)
	if c.Limit != nil {
		fmt.Fprintf(&out, " of %s", c.Limit.Exact())
	}
	var notes []string
	if c.Children > 0 {
		notes = append(notes, fmt.Sprintf("%s of it by jigs that commands started", c.Children))
	}
	if c.Estimated {
		notes = append(notes, "partly estimated")
	}
	if len(notes) > 0 {
		fmt.Fprintf(&out, " (%s)", strings.Join(notes, "; "))
	}
	return out.String()
}

// close tells a person what a run cost, who watches or has set a limit.
func (b *budget) close(w World, o Options) {
	if b.report != nil {
		_ = b.report.Close() // each change was written when it was made
	}
	if text := b.summary(); text != "" && o.Format == string(print.Text) && (w.ErrTerm || b.limit != nil) {
		fmt.Fprintf(w.Err, "jig: %s\n", text)
	}
}

// priceNote is a price in one cell.
func priceNote(p *money.Price) string { return fmt.Sprintf("%s in, %s out", p.Input, p.Output) }

// windowNote is a context window in one cell.
func windowNote(tokens int) string { return fmt.Sprintf("%d tokens", tokens) }
