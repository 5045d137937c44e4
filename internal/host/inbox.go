package host

import (
	"slices"
	"sync"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

// inbox is everything that arrives from outside while a session runs or sleeps: what people type and
// what jobs report. It is the only way in.
type inbox struct {
	mu    sync.Mutex
	items []item
	told  map[string]bool // calls whose notice has arrived
	held  bool            // only a person wakes the session
	wake  chan struct{}   // something arrived, or was released
}

type item struct {
	said  proto.Said
	atEnd bool // waits for the end of the running turn
}

func newInbox() *inbox { return &inbox{told: map[string]bool{}, wake: make(chan struct{}, 1)} }

// submit takes a person's message, which also releases what was held.
func (b *inbox) submit(said proto.Said, atEnd bool) {
	b.mu.Lock()
	b.items = append(b.items, item{said, atEnd})
	b.held = false
	b.mu.Unlock()
	b.nudge()
}

// post takes a notice. Delivery is at least once, so one that came already is dropped.
func (b *inbox) post(n tool.Notice) {
	b.mu.Lock()
	if b.told[n.Call] {
		b.mu.Unlock()
		return
	}
	b.told[n.Call] = true
	m := msg.Message{Role: msg.User, Blocks: n.Blocks}
	b.items = append(b.items, item{said: proto.Said{Message: m, Notice: n.Call}})
	b.mu.Unlock()
	b.nudge()
}

func (b *inbox) nudge() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// hold lets notices wait: after a turn that a person ended, the model is not to be woken by what it
// left running.
func (b *inbox) hold(yes bool) {
	b.mu.Lock()
	b.held = yes
	b.mu.Unlock()
	if !yes {
		b.nudge()
	}
}

// due reports whether there is something to start a turn for.
func (b *inbox) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.items) > 0 && !b.held
}

// waiting reports whether anything is there, held or not.
func (b *inbox) waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.items) > 0
}

// boundary reports whether anything may land before the turn ends.
func (b *inbox) boundary() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.items, func(it item) bool { return !it.atEnd })
}

// notices is how many notices are there.
func (b *inbox) notices() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, it := range b.items {
		if it.said.Notice != "" {
			n++
		}
	}
	return n
}

// take gives what may land now, with all also what waits for the end of a turn. Of the notices it
// gives the first most; when most is negative, every one.
func (b *inbox) take(all bool, most int) []proto.Said {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []proto.Said
	var rest []item
	for _, it := range b.items {
		notice := it.said.Notice != ""
		if it.atEnd && !all || notice && most == 0 {
			rest = append(rest, it)
			continue
		}
		if notice {
			most--
		}
		out = append(out, it.said)
	}
	b.items = rest
	return out
}
