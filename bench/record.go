package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
	"jig/internal/tool"
)

const (
	large      = 1 << 30 // bytes of the large database
	largeQuick = 64 << 20
	logGoal    = 0.3 // ms a round may cost more with the log and the history
)

// record measures what it costs to keep a session: how much longer a round takes and a start, with a
// small database and with one that years of work have filled.
func record(b *bench) error {
	project, err := b.project()
	if err != nil {
		return err
	}
	heading("a session that is kept, beside one that is not")
	if err := b.kept(project, filepath.Join(b.tmp, "small"), "a new database"); err != nil {
		return err
	}
	size := int64(large)
	if b.quick {
		size = largeQuick
	}
	data := filepath.Join(b.tmp, "large")
	got, err := fill(filepath.Join(data, "jig", "jig.db"), size)
	if err != nil {
		return err
	}
	return b.kept(project, data, fmt.Sprintf("a database of %.2f GB", float64(got)/1e9))
}

// kept runs sessions with and without a log, in turns, and compares their medians.
func (b *bench) kept(project, data, what string) error {
	var start, bare, round, bareRound, end, bareEnd []float64
	calls := slices.Repeat([]call{{"read_file", `{"path":"hello.txt"}`}}, rounds)
	for range b.runs {
		for _, keep := range []bool{true, false} {
			s := session{tools: codeTools, calls: calls, env: []string{"XDG_DATA_HOME=" + data}}
			if !keep {
				s.args = []string{"--no-save"}
			}
			r, err := b.session(project, s)
			if err != nil {
				return err
			}
			first, each := ms(r.asked[0].Sub(r.begin)), ms(r.asked[rounds].Sub(r.asked[0]))/rounds
			after := r.took - ms(r.asked[rounds].Sub(r.begin))
			if keep {
				start, round, end = append(start, first), append(round, each), append(end, after)
			} else {
				bare, bareRound, bareEnd = append(bare, first), append(bareRound, each), append(bareEnd, after)
			}
		}
	}
	row(what+": start → first request, ms", median(start), 20, fmt.Sprintf("%.2f without", median(bare)))
	row("  a round costs more, ms", median(round)-median(bareRound), logGoal, fmt.Sprintf("%.2f, and %.2f without", median(round), median(bareRound)))
	fmt.Printf("%-44s %10.2f %10s   %.2f without\n", "  last answer → end, ms", median(end), "", median(bareEnd))
	return nil
}

// fill makes a database of that size, of sessions as long as a day's work, and gives its size.
func fill(path string, size int64) (int64, error) {
	d, err := store.Open(path)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for {
		st, err := os.Stat(path)
		if err != nil || st.Size() >= size {
			return st.Size(), err
		}
		for range 10 {
			if err := d.Import(store.NewID(), "", pages(r)); err != nil {
				return 0, err
			}
		}
	}
}

// pages are the facts of one session: 400 calls with results of some KiB.
func pages(r *rand.Rand) func(func(proto.Fact, error) bool) {
	return func(yield func(proto.Fact, error) bool) {
		facts := []proto.Fact{proto.Began{Agent: "default", Provider: "p", Model: "m", Root: "/work"}, proto.Said{Message: msg.Say(msg.User, "go")}}
		for i := range 400 {
			id := fmt.Sprintf("call%05d", i+1)
			facts = append(facts,
				proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: id, Name: "read_file", Args: `{"path":"a.go"}`}}}, Round: i + 1},
				proto.Closed{Call: id, Result: textOf(r)})
		}
		for _, f := range append(facts, proto.Ended{Why: proto.Done}) {
			if !yield(f, nil) {
				return
			}
		}
	}
}

func textOf(r *rand.Rand) tool.Result {
	var b strings.Builder
	for range 50 + r.IntN(100) {
		fmt.Fprintf(&b, "%6d\tfunc f%x() { return %x }\n", r.IntN(1000), r.Uint32(), r.Uint64())
	}
	return tool.Text(b.String())
}
