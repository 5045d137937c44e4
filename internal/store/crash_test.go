//go:build unix

package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/store"
	"jig/internal/tool"
)

// written is a log as it was written: all of its facts, and how many there were after each transaction.
type written struct {
	id    string
	facts []proto.Fact
	ends  []int
}

func (w *written) append(t *testing.T, s *store.Session, facts ...proto.Fact) {
	t.Helper()
	must(t, s.Append(uint64(len(w.facts)+1), facts...))
	w.facts = append(w.facts, facts...)
	w.ends = append(w.ends, len(w.facts))
}

// round is a reply with two calls and all that follows from them, in the transactions it comes in.
func round(n int) [][]proto.Fact {
	a, b := fmt.Sprintf("call%05d", 2*n+1), fmt.Sprintf("call%05d", 2*n+2)
	reply := msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Text{Text: fmt.Sprintf("round %d", n)},
		msg.Call{ID: a, Name: "shell", Args: `{"command":"x"}`}, msg.Call{ID: b, Name: "shell", Args: `{"command":"y"}`}}}
	long := tool.Text(fmt.Sprintf("%d: %s", n, string(make([]byte, rand.IntN(6_000)))))
	left := tool.Text("left running")
	left.Job, left.Label = fmt.Sprintf("b%d", n+1), "make watch"
	return [][]proto.Fact{
		{proto.Said{Message: reply, Round: n + 1, Usage: &msg.Usage{Input: 10, Output: 1}}},
		{proto.Opened{Call: a, Tool: "shell"}},
		{proto.Opened{Call: b, Tool: "shell"}, proto.Asked{Call: b, Question: tool.Question{}}},
		{proto.Closed{Call: a, Result: long}},
		{proto.Answered{Call: b, By: "person", Choice: proto.Once}, proto.Goal{Objective: "o", Status: proto.GoalActive, By: "model"}},
		{proto.Closed{Call: b, Result: left}},
		{proto.Said{Message: msg.Say(msg.User, "[background job ended]"), Notice: b}},
	}
}

// sendable says what is wrong with a conversation that is to be sent, "" when nothing is: every call has
// one result, right after it and in order.
func sendable(messages []msg.Message) string {
	for i, m := range messages {
		calls := m.Blocks.Calls()
		if len(calls) == 0 {
			continue
		}
		if i+1 == len(messages) {
			return "the last message has calls without results"
		}
		answer := messages[i+1].Blocks
		if len(answer) < len(calls) {
			return fmt.Sprintf("message %d: %d results for %d calls", i+1, len(answer), len(calls))
		}
		for n, c := range calls {
			if r, ok := answer[n].(msg.Result); !ok || r.Call != c.ID || len(r.Blocks) == 0 {
				return fmt.Sprintf("call %s has no result", c.ID)
			}
		}
	}
	return ""
}

// reopens checks that a database opens, that every log in it is a beginning of what was written that no
// transaction is torn in, that it can be gone on with, and that what is said then stands after it. It
// gives how much was left of each.
func reopens(t *testing.T, path string, all []*written) (left []int) {
	t.Helper()
	d, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, w := range all {
		if _, err := d.Find(w.id); err != nil {
			left = append(left, 0) // it began in what is lost
			continue
		}
		s, facts, err := d.Take(w.id)
		must(t, err)
		n := len(facts)
		left = append(left, n)
		if !slices.Contains(w.ends, n) {
			t.Fatalf("%d facts are left, which is in the middle of a transaction", n)
		}
		if diff := differ(t, w.facts[:n], facts); diff != "" {
			t.Fatal(diff)
		}
		line := session.NewLine(s, facts...)
		repair := session.Resume(line.State())
		if len(repair) > 0 {
			must(t, line.Say(repair...))
		}
		state := line.State()
		if why := sendable(state.Messages); why != "" {
			t.Fatalf("after %d facts it cannot be sent: %s", n, why)
		}
		if more := session.Resume(state); len(more) != 0 || state.Turn || len(state.Jobs) > 0 || state.Goal.Active() {
			t.Fatalf("after %d facts the second time finds %d more to end: %+v", n, len(more), more)
		}
		must(t, line.Say(proto.Said{Message: msg.Say(msg.User, "go on")}))
		must(t, s.Close())
		again, err := d.Facts(w.id)
		must(t, err)
		want := append(append(slices.Clone(facts), repair...), proto.Said{Message: msg.Say(msg.User, "go on")})
		if diff := differ(t, want[n:], again[min(n, len(again)):]); diff != "" {
			t.Fatal(diff)
		}
	}
	return left
}

// differ says where two logs differ, by their bytes.
func differ(t *testing.T, want, got []proto.Fact) string {
	t.Helper()
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) {
			return fmt.Sprintf("%d facts, want %d", len(got), len(want))
		}
		a, err := proto.Encode(1, want[i])
		must(t, err)
		b, err := proto.Encode(1, got[i])
		must(t, err)
		if string(a) != string(b) {
			return fmt.Sprintf("fact %d is %s, want %s", i+1, b, a)
		}
	}
	return ""
}

// wreck is a database whose writer is gone: the file, and its log of changes that is not in it yet.
type wreck struct {
	db, wal []byte
	all     []*written
	safe    []int // how many facts of each are in the file itself
}

func wrecked(t *testing.T) wreck {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jig.db")
	d := open(t, path)
	var out wreck
	var logs []*store.Session
	for range 2 {
		s := d.New(store.NewID())
		logs = append(logs, s)
		out.all = append(out.all, &written{id: s.ID()})
	}
	for n := range 5 {
		for i, s := range logs {
			w := out.all[i]
			if n == 0 {
				w.append(t, s, proto.Began{Agent: "a", Root: "/r"}, proto.Said{Message: msg.Say(msg.User, "begin")})
			}
			for _, facts := range round(n) {
				w.append(t, s, facts...)
			}
		}
		if n == 1 {
			must(t, exec(path, "PRAGMA wal_checkpoint(truncate)"))
			for _, w := range out.all {
				out.safe = append(out.safe, len(w.facts))
			}
		}
	}
	var err error
	out.db, err = os.ReadFile(path)
	must(t, err)
	out.wal, err = os.ReadFile(path + "-wal")
	must(t, err)
	return out
}

func (w wreck) put(t *testing.T, wal []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "jig.db")
	must(t, os.WriteFile(path, w.db, 0o600))
	must(t, os.WriteFile(path+"-wal", wal, 0o600))
	return path
}

// sometimes is how often something is tried, a tenth as often in a hurry.
func sometimes(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestAWALCutAnywhereLosesASuffixOnly(t *testing.T) {
	t.Parallel()
	w := wrecked(t)
	cuts := []int{0, len(w.wal)}
	for range sometimes(200) {
		cuts = append(cuts, rand.IntN(len(w.wal)))
	}
	slices.Sort(cuts)
	before := w.safe
	kinds := map[int]bool{}
	for _, cut := range cuts {
		left := reopens(t, w.put(t, w.wal[:cut]), w.all)
		for i := range left {
			if left[i] < before[i] {
				t.Fatalf("a WAL of %d bytes keeps %d facts, a shorter one kept %d", cut, left[i], before[i])
			}
		}
		before = left
		kinds[left[0]] = true
	}
	if len(kinds) < min(len(cuts)/2, 12) {
		t.Errorf("%d cuts left the log in only %d lengths", len(cuts), len(kinds))
	}
	for i, x := range w.all {
		if before[i] != len(x.facts) {
			t.Errorf("the whole WAL gives %d facts of %d", before[i], len(x.facts))
		}
	}
}

func TestAWALWithWrongBytesLosesASuffixOnly(t *testing.T) {
	t.Parallel()
	w := wrecked(t)
	const frame = 4096 + 24
	lost := 0
	for i := range sometimes(60) {
		wal := slices.Clone(w.wal)
		from := len(wal) - 1 - rand.IntN(min(20*frame, len(wal)))
		switch i % 3 {
		case 0: // a bit
			wal[from] ^= 1 << rand.IntN(8)
		case 1: // what a file system gives for what it had no time to write
			clear(wal[from:])
		case 2: // the end of another file
			wal = wal[:from]
			for range 2 * frame {
				wal = append(wal, byte(rand.Uint32()))
			}
		}
		left := reopens(t, w.put(t, wal), w.all)
		for i := range left {
			if left[i] < w.safe[i] {
				t.Fatalf("%d facts are left, %d were in the file itself", left[i], w.safe[i])
			}
			lost += len(w.all[i].facts) - left[i]
		}
	}
	if lost == 0 {
		t.Error("nothing was lost: nothing was damaged")
	}
}
