package agent

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/session"
)

// talks makes a conversation as sessions have them: turns of rounds, of which some think before each
// call, some only before the first one, and some never; notices come in between, and it may end anywhere.
func talks(r *rand.Rand) []msg.Message {
	var out []msg.Message
	calls := 0
	for range 1 + r.IntN(4) {
		out = append(out, msg.Say(msg.User, strings.Repeat("please ", 1+r.IntN(200))))
		thinks, rounds := r.IntN(3), r.IntN(6)
		for i := range rounds {
			m := msg.Message{Role: msg.Assistant}
			if thinks == 2 || thinks == 1 && i == 0 {
				m.Blocks = append(m.Blocks, msg.Reasoning{Raw: []byte(`{"signature":"x"}`)})
			}
			answer := msg.Message{Role: msg.User}
			for range 1 + r.IntN(3) {
				calls++
				id := fmt.Sprintf("call%05d", calls)
				m.Blocks = append(m.Blocks, msg.Call{ID: id, Name: "f", Args: "{}"})
				answer.Blocks = append(answer.Blocks, msg.Result{Call: id, Blocks: msg.Blocks{msg.Text{Text: strings.Repeat("result ", r.IntN(2_000))}}})
			}
			out = append(out, m, answer)
			if r.IntN(5) == 0 {
				out = append(out, msg.Say(msg.User, "a notice"))
			}
		}
		if r.IntN(4) > 0 {
			out = append(out, msg.Say(msg.Assistant, "answer"))
		}
	}
	return out
}

// The look that each round takes must not come to another answer than the whole measure.
func TestWhatFitsIsWhatIsMeasuredToFit(t *testing.T) {
	seen := map[bool]int{}
	for seed := range uint64(3_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		st := session.State{Messages: talks(r)}
		if r.IntN(3) > 0 {
			st.Counted, st.Context = r.IntN(len(st.Messages)+1), 1+r.IntN(20_000)
		}
		l := &loop{turn: Turn{Send: Send{System: "s", MaxOutput: r.IntN(2) * 5_000}}}
		if r.IntN(4) > 0 {
			l.turn.Room.Window = 1 + r.IntN(40_000)
		}
		m := l.measure(st)
		fits, measured := l.fits(st), m.window == 0 || m.total <= m.limit
		if st.Context == 0 && m.window > 0 {
			measured = false // a conversation that nobody has counted is always measured
		}
		if fits != measured {
			t.Fatalf("seed %d: fits %v, measured %d of %d", seed, fits, m.total, m.limit)
		}
		seen[fits]++
	}
	if min(seen[true], seen[false]) < 500 {
		t.Errorf("looked at too few of a kind: %v", seen)
	}
}

func TestTailBeginsWhereAConversationMayBegin(t *testing.T) {
	divided, tails := 0, 0
	for seed := range uint64(3_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		messages := talks(r)
		m := measure{each: make([]int, len(messages))}
		for i, x := range messages {
			m.each[i] = tokens(model.Size(x.Blocks))
		}
		m.total = sum(m.each)
		keep := r.IntN(3_000)
		cut, ok := m.divide(messages, keep, false)
		if !ok {
			continue
		}
		divided++
		older, tail := messages[:cut], messages[cut:]
		if n := sum(m.each[cut:]); n > keep && (len(tail) == 0 || tail[0].Role != msg.User) {
			t.Fatalf("seed %d: %d tokens are kept, of at most %d", seed, n, keep)
		}
		if len(older[len(older)-1].Blocks.Calls()) > 0 {
			t.Fatalf("seed %d: a call is cut off from its result", seed)
		}
		if len(tail) == 0 {
			if results := messages[len(messages)-1]; results.Role == msg.User && len(results.Blocks.Text()) > 0 {
				t.Fatalf("seed %d: what nobody has answered is summed up", seed)
			}
			continue
		}
		tails++
		if tail[0].Role == msg.User && results(tail[0]) {
			t.Fatalf("seed %d: it begins with results", seed)
		}
		// A call must not lose the reasoning that its turn began with.
		for i := cut; i < len(messages) && messages[i].Role == msg.Assistant || i < len(messages) && results(messages[i]); i++ {
			if thinks(messages[i]) {
				break
			}
			for j := cut - 1; j >= 0 && (messages[j].Role == msg.Assistant || results(messages[j])); j-- {
				if thinks(messages[j]) {
					t.Fatalf("seed %d: message %d is cut off from the reasoning in %d", seed, i, j)
				}
			}
		}
	}
	if divided < 1_000 || tails < 300 {
		t.Errorf("%d conversations were divided, %d with a tail", divided, tails)
	}
}

func TestShortenedTextKeepsBothEndsAndWholeCharacters(t *testing.T) {
	s := "begin " + strings.Repeat("日本語", 20_000) + " end"
	for left := 3; left < 2_000; left += 7 {
		got := shorter(s, left)
		if !utf8.ValidString(got) || left > 20 && (!strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, " end")) || len(got) > left+100 {
			t.Fatalf("%d: %q", left, got)
		}
	}
	if got := shorter("short", 3); got != "short" {
		t.Error(got)
	}
}

func TestReserveLeavesRoomForTheReply(t *testing.T) {
	for _, c := range [][3]int{{200_000, 0, 25_000}, {1_000_000, 0, 32_000}, {32_000, 0, 4_096}, {8_000, 0, 2_000}, {200_000, 64_000, 64_000}, {100_000, 64_000, 33_333}} {
		if got := reserveOf(c[0], c[1]); got != c[2] {
			t.Errorf("%d of a window of %d, replies of %d; want %d", got, c[0], c[1], c[2])
		}
	}
}
