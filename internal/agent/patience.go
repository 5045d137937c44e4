package agent

import (
	"errors"
	"time"

	"jig/internal/model"
	"jig/internal/model/retry"
	"jig/internal/proto"
)

// patient is the turn's model, asked again where that may help. A retry repeats the request of a round
// and nothing else: the calls of a reply are dealt with once it is whole.
func (l *loop) patient() model.Model {
	return retry.New(l.turn.Model, l.turn.Retry, func(w *retry.Wait) {
		if w == nil {
			l.desk.Show(proto.KeyWaiting, nil)
			return
		}
		l.desk.Show(proto.KeyWaiting, proto.Waiting{Since: w.Since, Retry: &proto.Retry{
			Provider: l.turn.Send.Provider, Kind: string(w.Why.Kind), Why: w.Why.Text,
			Until: w.Until, Seconds: w.Left.Round(time.Millisecond).Seconds(), Try: w.Try, Tries: w.Tries,
		}})
	})
}

// limits reports whether an error means that the provider will take the request later, and when.
func limits(err error) (yes bool, after time.Duration) {
	var e *model.Error
	if !errors.As(err, &e) || e.Final {
		return false, 0
	}
	return e.Kind == model.KindLimit || e.Kind == model.KindServer && e.After > 0, e.After
}
