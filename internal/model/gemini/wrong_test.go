package gemini

import (
	"context"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/cost"
	"jig/internal/model/modeltest"
	"jig/internal/model/retry"
	"jig/internal/money"
	"jig/internal/msg"
)

// Each such reply is paid for in full, and a model that writes two will write ten.
func TestAReplyThatWentWrongIsAskedForOnceMore(t *testing.T) {
	wrong := modeltest.Reply{Text: "a", Calls: []modeltest.Call{{Name: "f", Args: `{"path":`}}, Usage: msg.Usage{Input: 1000, Output: 500}}
	price := money.Price{Input: 2_000_000, Output: 10_000_000}
	for name, c := range map[string]struct {
		second  modeltest.Reply
		limit   money.Amount
		asked   int
		spent   money.Amount
		outcome string // the text, or a piece of the error
	}{
		"well then": {modeltest.Reply{Text: "b", Usage: msg.Usage{Input: 1000, Output: 500}}, money.Dollar, 2, 14_000_000, "b"},
		"again":     {wrong, money.Dollar, 2, 14_000_000, "broke off its reply twice"},
		"no money":  {wrong, 17_000_000, 1, 7_000_000, "--max-cost is used up"},
	} {
		s := modeltest.New(t, wrong, c.second, c.second)
		m := New(Options{URL: s.URL, Key: modeltest.Key})
		l := cost.NewLedger(&c.limit, nil)
		patient := retry.New(cost.Meter(m, l, cost.Options{Price: price, Name: "--max-cost"}), retry.Policy{Broken: 5, Busy: 13, Haste: 10_000}, nil)
		told := ""
		got, err := patient.Stream(context.Background(), model.Request{Model: "gemini-3-flash-preview", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, func(d model.Delta) {
			if d.Reset {
				told = ""
			}
			told += d.Text
		})
		said := got.Blocks.Text()
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c.outcome) || len(s.Requests()) != c.asked || l.Account().Spent != c.spent || l.Account().Held != 0 || err == nil && told != "b" {
			t.Errorf("%s: %s after %d requests, %+v, told %q", name, said, len(s.Requests()), l.Account(), told)
		}
		_ = m.Close()
	}
}
