package host_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jig/internal/agent"
	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
)

// rehearse opens a session whose requests are known to bring so many notices each.
func rehearse(t *testing.T, notices []int, steps *script) *rig {
	t.Helper()
	r := &rig{h: host.New(), model: steps, waiting: make(chan bool, 1), place: &place{}}
	table, err := agent.Bind(tools{r.waiting})
	if err != nil {
		t.Fatal(err)
	}
	r.id, err = r.h.Open(host.Setup{Began: proto.Began{Agent: "a"}, Alone: true, MaxWait: time.Hour, Place: r.place,
		Notices: func() (int, bool) {
			steps.mu.Lock()
			defer steps.mu.Unlock()
			if n := len(steps.sent); n < len(notices) {
				return notices[n], true
			}
			return 0, false
		},
		Turn: func(context.Context) (agent.Turn, error) { return agent.Turn{Model: steps, Tools: table}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.h.Close() })
	return r
}

// said are the user's words of the last request, a line each.
func (r *rig) said() string {
	var out []string
	for _, m := range r.model.sent[len(r.model.sent)-1] {
		if s := m.Blocks.Text(); m.Role == msg.User && s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "|")
}

// What is played again takes no time to think, so jobs seem to take longer than they did.
func TestANoticeIsWaitedForWhereItLandedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rehearse(t, []int{0, 2, 0}, &script{steps: []func(context.Context) (model.Reply, error){calls("write"), calls("write"), says("done")}})
		r.place.jobs("b1", "b2")
		r.do(t, proto.Submit{Text: "go"})
		synctest.Wait()
		if n := len(r.model.sent); n != 1 {
			t.Fatalf("%d requests, and the second one lacks its notices", n)
		}
		time.Sleep(time.Minute)
		r.place.ends("b1")
		r.place.jobs("b2")
		synctest.Wait()
		if n := len(r.model.sent); n != 1 {
			t.Fatalf("%d requests, and the second one lacks a notice", n)
		}
		r.place.ends("b2")
		r.place.jobs()
		r.until(1, nil)
		if len(r.model.sent) != 3 || r.said() != "go|b1 ended|b2 ended" {
			t.Errorf("%d requests: %s", len(r.model.sent), r.said())
		}
		r.h.Close()
	})
}

func TestANoticeThatComesEarlyIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rehearse(t, []int{0, 0, 1, 1}, &script{steps: []func(context.Context) (model.Reply, error){calls("wait"), says("I wait"), says("one"), says("two")}})
		r.place.jobs("b1", "b2")
		r.do(t, proto.Submit{Text: "go"})
		<-r.waiting
		r.place.ends("b1")
		r.place.ends("b2")
		r.place.jobs()
		r.do(t, proto.Esc{})
		r.until(1, nil)
		var notices []string
		for _, sent := range r.model.sent {
			n := 0
			for _, m := range sent {
				if strings.HasSuffix(m.Blocks.Text(), " ended") {
					n++
				}
			}
			notices = append(notices, strings.Repeat("x", n))
		}
		if got := strings.Join(notices, ","); got != ",,x,xx" {
			t.Errorf("notices by request: %s", got)
		}
		r.h.Close()
	})
}

func TestANoticeThatCannotComeIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rehearse(t, []int{0, 1}, &script{steps: []func(context.Context) (model.Reply, error){calls("write"), says("done")}})
		r.do(t, proto.Submit{Text: "go"})
		r.until(1, nil)
		if len(r.model.sent) != 2 {
			t.Errorf("%d requests", len(r.model.sent))
		}
		r.h.Close()
	})
}
