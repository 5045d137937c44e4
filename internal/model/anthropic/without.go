package anthropic

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"jig/internal/model"
	"jig/internal/msg"
)

// learnt is what the provider has refused and is not sent again: a conversation must not end at
// something that can be done without. It is safe for concurrent use.
type learnt struct {
	mu       sync.Mutex
	unmarked bool                       // it does not know cache marks
	thoughts map[[sha256.Size]byte]bool // reasoning that it does not recognize as its own
}

func (l *learnt) marks() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.unmarked
}

// without leaves out the reasoning that was refused.
func (l *learnt) without(messages []msg.Message) []msg.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.thoughts) == 0 {
		return messages
	}
	out := slices.Clone(messages)
	for i := range out {
		out[i].Blocks = slices.DeleteFunc(slices.Clone(out[i].Blocks), func(b msg.Block) bool {
			t, ok := b.(msg.Reasoning)
			return ok && l.thoughts[sha256.Sum256(t.Raw)]
		})
	}
	return out
}

// refused remembers what a refusal is about and says whether there is something to be done without.
// A signature is bound to the account and the platform, and services change what they bind it to, so
// that reasoning which was good yesterday can be refused for ever. All of it goes then: a part of a
// sequence would be refused as well. The wordings were reported from the service:
// https://github.com/anthropics/claude-code/issues/63147
// https://github.com/anomalyco/opencode/issues/6418
// https://github.com/tailcallhq/forgecode/issues/2107
// https://github.com/tailcallhq/forgecode/issues/1853
func (l *learnt) refused(err error, messages []msg.Message) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	text := strings.ToLower(e.Text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case has("cache_control") && !l.unmarked:
		l.unmarked = true
		return true
	case has("thinking") && has("signature", "redacted_thinking", "cannot be modified"):
		return l.forget(messages)
	case has("cannot be `thinking`", "cannot be `redacted_thinking`", "final position cannot contain `thinking`"):
		return l.forget(messages)
	}
	return false
}

// forget marks all reasoning of a conversation; false says that there was none to mark.
func (l *learnt) forget(messages []msg.Message) bool {
	if l.thoughts == nil {
		l.thoughts = map[[sha256.Size]byte]bool{}
	}
	found := false
	for _, m := range messages {
		for _, b := range m.Blocks {
			if t, ok := b.(msg.Reasoning); ok {
				l.thoughts[sha256.Sum256(t.Raw)] = true
				found = true
			}
		}
	}
	return found
}
