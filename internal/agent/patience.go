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
	policy := l.turn.Retry
	policy.Quiet = func(s *retry.Silence) {
		if s == nil {
			l.desk.Show(proto.KeyWaiting, nil)
			return
		}
		l.desk.Show(proto.KeyWaiting, proto.Waiting{Since: s.Since, Silence: &proto.Silence{
			Provider: l.turn.Send.Provider, Kind: proto.KindSilence, Why: s.Text, Silent: s.For.Seconds(), Try: s.Try,
		}})
	}
	return retry.New(l.turn.Model, policy, func(w *retry.Wait) {
		if w == nil {
			l.desk.Show(proto.KeyWaiting, nil)
			return
		}
		l.desk.Show(proto.KeyWaiting, proto.Waiting{Since: w.Since, Retry: &proto.Retry{
			Provider: l.turn.Send.Provider, Kind: string(w.Why.Kind), Why: happened(w.Why),
			Until: w.Until, Seconds: w.Left.Round(time.Millisecond).Seconds(), Try: w.Try, Tries: w.Tries,
		}})
	})
}

// happened is an error without the advice that is being followed.
func happened(e *model.Error) string {
	if e.What != "" {
		return e.What
	}
	return e.Text
}

// limited says in a turn's end whether the provider will take the request later, and when.
func limited(end *proto.Ended, err error) {
	var e *model.Error
	if !errors.As(err, &e) || e.Final {
		return
	}
	end.Limited = e.Kind == model.KindLimit || e.Kind == model.KindServer && e.After > 0
	end.After, end.What = e.After, happened(e)
}
