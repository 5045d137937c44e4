package anthropic

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"jig/internal/model"
)

// learnt is what the provider has refused and is not sent again: a conversation must not end at
// something that can be done without. It is safe for concurrent use.
type learnt struct {
	unmarked atomic.Bool // it does not know cache marks
	signed   model.Signatures
}

func (l *learnt) marks() bool { return !l.unmarked.Load() }

// refused remembers whether a refusal is of cache marks.
func (l *learnt) refused(err error) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	return strings.Contains(strings.ToLower(e.Text), "cache_control") && !l.unmarked.Swap(true)
}
