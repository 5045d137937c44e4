package agent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/session"
)

// The shares of a window. The reserve is what a conversation leaves free for the next reply and for
// what its calls bring; keepShare of the window is the tail that stays as it was said.
const (
	reserveShare = 8
	mostReserve  = 32_000
	leastReserve = 4_096
	keepShare    = 5
	mostKeep     = 30_000
)

// measure is how much of its window a conversation fills, in tokens.
type measure struct {
	window int   // 0 is not known
	limit  int   // what a request may have
	total  int   // what the next one has
	each   []int // of each message
}

// reserveOf is what stays free of a window. asked is the reply limit of the requests, 0 for none.
func reserveOf(window, asked int) int {
	n := max(min(window/reserveShare, mostReserve), min(leastReserve, window/4))
	return max(n, min(asked, window/3))
}

// measure weighs a conversation. What the provider counted of it is believed; what came since, and
// everything before it has counted, is taken from sizes. A message's own part is the size's share of
// what was counted, since languages and code differ in how many bytes a token has.
func (l *loop) measure(st session.State) measure {
	m := measure{window: l.turn.Room.Window, each: make([]int, len(st.Messages))}
	first, counted, all := tokens(l.request(nil).Size()), 0, 0
	for i, x := range st.Messages {
		m.each[i] = tokens(model.Size(x.Blocks))
		all += m.each[i]
		if i < st.Counted {
			counted += m.each[i]
		}
	}
	m.total = first + all
	if st.Context > 0 && first+counted > 0 {
		m.total = st.Context + all - counted
		rate := min(max(float64(st.Context)/float64(first+counted), 0.5), 4)
		for i := range min(st.Counted, len(m.each)) {
			m.each[i] = int(float64(m.each[i]) * rate)
		}
	}
	m.limit = m.window - reserveOf(m.window, l.turn.Send.MaxOutput)
	return m
}

// fits says whether a conversation is certain to leave its reserve free. It looks only at what the
// provider has not counted, so that a round of a long session costs no more than one of a short one.
func (l *loop) fits(st session.State) bool {
	window := l.turn.Room.Window
	if window == 0 || st.Context == 0 {
		return window == 0
	}
	total := st.Context
	for _, x := range st.Messages[min(st.Counted, len(st.Messages)):] {
		total += tokens(model.Size(x.Blocks))
	}
	return total <= window-reserveOf(window, l.turn.Send.MaxOutput)
}

// overflowed is the measure of a conversation that the provider has found too long: its window is
// smaller than it was taken for, or not known at all.
func (m measure) overflowed(asked int) measure {
	if m.window == 0 || m.window > m.total {
		m.window = m.total
	}
	m.limit = min(m.window-reserveOf(m.window, asked), m.total*3/4)
	return m
}

// aim is what a conversation that was summed up has at most. It leaves enough room that the next
// round does not fill it at once.
func (m measure) aim() int { return m.limit - m.limit/8 }

func tokens(bytes int) int { return (bytes + model.BytesPerToken - 1) / model.BytesPerToken }

func sum(n []int) int {
	all := 0
	for _, x := range n {
		all += x
	}
	return all
}

// leastSummary is less than any summary has that is worth its request, in tokens.
const leastSummary = 300

// divide finds where the tail begins that stays: as much as keep, but no more than leaves room for a
// summary when there is a limit. What the user's side said last, and no reply has answered, always
// stays. ok is false when nothing is older that is worth a summary.
func (m measure) divide(messages []msg.Message, keep int, limited bool) (cut int, ok bool) {
	for {
		if cut, ok = m.tail(messages, keep); !ok {
			return 0, false
		}
		older := sum(m.each[:cut])
		if older > leastSummary && (!limited || m.total-older+leastSummary <= m.aim()) {
			return cut, true
		}
		if keep == 0 {
			return 0, false
		}
		keep /= 2
	}
}

// tail is the longest tail that has no more than keep and before which the model has spoken.
func (m measure) tail(messages []msg.Message, keep int) (cut int, ok bool) {
	unanswered := len(messages)
	for unanswered > 0 && messages[unanswered-1].Role == msg.User && !results(messages[unanswered-1]) {
		unanswered--
	}
	spoke := slices.IndexFunc(messages, func(x msg.Message) bool { return x.Role == msg.Assistant })
	if spoke < 0 || unanswered <= spoke {
		return 0, false
	}
	cut, size := unanswered, sum(m.each[unanswered:])
	for i := unanswered - 1; i > spoke; i-- {
		if size += m.each[i]; size > keep {
			break
		}
		if begins(messages, i) {
			cut = i
		}
	}
	return cut, true
}

// begins says whether a conversation may begin with a message, after a summary. Results stay with
// their calls. Within a turn some models think once, before their first call, and the provider wants
// those thoughts back as long as the turn goes on: no call is cut off from them.
func begins(messages []msg.Message, i int) bool {
	if messages[i].Role == msg.User {
		return !results(messages[i])
	}
	if thinks(messages[i]) {
		return true
	}
	for _, m := range slices.Backward(messages[:i]) {
		if thinks(m) {
			return false
		}
		if m.Role == msg.User && !results(m) {
			break
		}
	}
	return true
}

func results(m msg.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b msg.Block) bool { _, ok := b.(msg.Result); return ok })
}

func thinks(m msg.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b msg.Block) bool { _, ok := b.(msg.Reasoning); return ok })
}

// The most and the least that is left of one result when results are shortened, in bytes.
const (
	mostLeft  = 16 << 10
	leastLeft = 256
)

// shortened leaves the beginning and the end of long results, so that all of it has no more than most
// tokens if that can be done; with texts also of what the user's side said.
func shortened(messages []msg.Message, texts bool, most int) []msg.Message {
	var out []msg.Message
	for left := mostLeft; left >= leastLeft; left /= 2 {
		out = slices.Clone(messages)
		size := 0
		for i := range out {
			if out[i].Role == msg.User {
				out[i].Blocks = shortenedBlocks(out[i].Blocks, texts, left)
			}
			size += tokens(model.Size(out[i].Blocks))
		}
		if size <= most {
			break
		}
	}
	return out
}

func shortenedBlocks(blocks msg.Blocks, texts bool, left int) msg.Blocks {
	out := slices.Clone(blocks)
	for i, b := range out {
		switch b := b.(type) {
		case msg.Result:
			b.Blocks = shortenedBlocks(b.Blocks, true, left)
			out[i] = b
		case msg.Image:
			out[i] = msg.Text{Text: "[a picture, left out here]"}
		case msg.Text:
			if texts {
				b.Text = shorter(b.Text, left)
				out[i] = b
			}
		}
	}
	return out
}

// shorter leaves both ends of a text.
func shorter(s string, left int) string {
	if len(s) <= left+leastLeft {
		return s
	}
	a, b := left/2, len(s)-left/2
	for !utf8.RuneStart(s[a]) {
		a--
	}
	for b < len(s) && !utf8.RuneStart(s[b]) {
		b++
	}
	return fmt.Sprintf("%s\n[%d bytes left out here]\n%s", strings.TrimRight(s[:a], "\n"), b-a, strings.TrimLeft(s[b:], "\n"))
}
