package modeltest_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/model/retry"
	"jig/internal/msg"
)

// TestAHostThatIsThereTheSecondTimeIsAskedAgain: a name that is unknown, or a port on which nobody
// listens, for one request. The proxy is what can be another one for each.
func TestAHostThatIsThereTheSecondTimeIsAskedAgain(t *testing.T) {
	for way, says := range map[string]string{"http://no-such-host.invalid": "no-such-host.invalid", "http://127.0.0.1:1": "refused"} {
		for _, cl := range clients() {
			clean := plain(patientlyAsk(t, cl, modeltest.New(t, full())).reply)
			s := modeltest.New(t, full())
			var asked atomic.Int32
			m := open(t, cl.open(openai.Options{Provider: "p", URL: s.URL, Key: modeltest.Key, Proxy: func(*http.Request) (*url.URL, error) {
				if asked.Add(1) == 1 {
					return url.Parse(way)
				}
				return nil, nil
			}}))
			p := retry.Default()
			p.Haste = 10_000
			var waits []retry.Wait
			r := model.Request{Model: cl.model, Tools: []model.Tool{tool("read_file"), tool("grep")}, Messages: []msg.Message{msg.Say(msg.User, "hi")}}
			got, err := retry.New(m, p, func(w *retry.Wait) {
				if w != nil {
					waits = append(waits, *w)
				}
			}).Stream(context.Background(), r, func(model.Delta) {})
			if d := cmp.Diff(clean, plain(got)); err != nil || d != "" {
				t.Errorf("%s, %s: %v\n%s", cl.name, way, err, d)
			}
			if len(waits) != 1 || waits[0].Try != 2 || !strings.Contains(waits[0].Why.Error(), says) || len(s.Requests()) != 1 {
				t.Errorf("%s, %s: %d requests came, waits %+v", cl.name, way, len(s.Requests()), waits)
			}
		}
	}
}
