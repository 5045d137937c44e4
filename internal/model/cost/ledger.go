// Package cost is the account of what a session spends on models: every request is checked against
// the limit before it is made and booked after. It knows neither dialects nor price lists, and shows
// nothing.
package cost

import (
	"sync"

	"jig/internal/money"
)

// Ledger is one session's account. Its methods may be called from any goroutine.
type Ledger struct {
	mu      sync.Mutex
	limit   *money.Amount
	now     Account
	changed func(Account)
}

// Account is how a ledger stands.
type Account struct {
	Spent    money.Amount // Children among it
	Held     money.Amount // the most that what is going on can still cost
	Children money.Amount // spent by other programs that were lent to
	// Estimated says that a part was worked out from sizes, because a provider did not count.
	Estimated bool
}

// NewLedger opens an account. With a nil limit nothing is refused. changed, when it is not nil, is
// told of every change before anything that depends on it happens, one at a time.
func NewLedger(limit *money.Amount, changed func(Account)) *Ledger {
	if changed == nil {
		changed = func(Account) {}
	}
	return &Ledger{limit: limit, changed: changed}
}

// Account is how it stands now.
func (l *Ledger) Account() Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// Hold is money put aside until it is known what was spent of it.
type Hold struct {
	ledger *Ledger
	amount money.Amount
	child  bool
}

// hold puts aside what ask says of what is left; with nothing left it is asked all the same. An
// error puts nothing aside.
func (l *Ledger) hold(child bool, ask func(left money.Amount) (money.Amount, error)) (*Hold, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := money.Most
	if l.limit != nil {
		left = max(0, *l.limit-l.now.Spent.Plus(l.now.Held))
	}
	amount, err := ask(left)
	if err != nil {
		return nil, err
	}
	l.now.Held = l.now.Held.Plus(amount)
	l.changed(l.now)
	return &Hold{l, amount, child}, nil
}

// Lend puts money aside for another program that keeps an account of its own, and says how much it
// may spend: half of what is left, so that whoever works beside it, and the next such program, can
// go on. Without a limit it may spend what it likes, and nothing is put aside.
func (l *Ledger) Lend() (*Hold, money.Amount) {
	var lent money.Amount
	h, _ := l.hold(true, func(left money.Amount) (money.Amount, error) {
		if l.limit != nil {
			lent = left / 2
		}
		return lent, nil
	})
	return h, lent
}

// Book ends a hold: so much was spent, whether or not it was put aside. It counts once.
func (h *Hold) Book(spent money.Amount, estimated bool) {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.amount < 0 {
		return
	}
	l.now.Held -= h.amount
	h.amount = -1
	l.now.Spent = l.now.Spent.Plus(spent)
	if h.child {
		l.now.Children = l.now.Children.Plus(spent)
	}
	l.now.Estimated = l.now.Estimated || estimated && spent > 0
	l.changed(l.now)
}
