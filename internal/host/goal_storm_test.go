package host_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jig/internal/host"
	"jig/internal/model"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
)

// moody is a model that does anything, after a while.
type moody struct{ r *rand.Rand }

func (m *moody) Stream(ctx context.Context, _ model.Request, _ func(model.Delta)) (model.Reply, error) {
	select {
	case <-time.After(time.Duration(m.r.IntN(5)) * time.Millisecond):
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
	call := func(name, args string) (model.Reply, error) {
		return model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Call{Name: name, Args: args}}}, nil
	}
	switch m.r.IntN(12) {
	case 0:
		return model.Reply{}, errors.New("the wire broke")
	case 1:
		return call("update_goal", `{"status":"complete"}`)
	case 2:
		return call("update_goal", `{"status":"blocked"}`)
	case 3:
		return call("create_goal", `{"objective":"mine"}`)
	case 4, 5, 6:
		return call("get_goal", `{}`)
	case 7:
		return call("no_such_tool", `{`)
	}
	return model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "on"}}}, nil
}

// TestWhateverPeopleDoAGoalIsNeverLeftToItself: commands and reports at any moment, in any order. When all is
// quiet no goal is active, nothing went on that jig or the model had taken up again, and the conversation
// is whole.
func TestWhateverPeopleDoAGoalIsNeverLeftToItself(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			log := &kept{}
			g := startGoal(t, host.Setup{Log: log, Alone: seed%2 == 0}, int(seed%5)*10)
			g.model.instead = &moody{rand.New(rand.NewPCG(seed, 2))}
			commands := []proto.Command{proto.SetGoal{Objective: "x"}, proto.SetGoal{Objective: "y", Text: "begin"}, proto.ResumeGoal{}, proto.ClearGoal{}, proto.Stop{},
				proto.Esc{}, proto.Submit{Text: "hello"}, proto.Submit{Text: "later", When: proto.AtEnd}}
			for i := range 60 {
				_ = g.h.Do(t.Context(), g.id, commands[r.IntN(len(commands))]) // some have nothing to act on
				if i%7 == 0 {
					g.place.jobs("b1")
				}
				if i%7 == 3 {
					g.place.jobs()
				}
				time.Sleep(time.Duration(r.IntN(12)) * time.Millisecond)
			}
			g.place.jobs()
			time.Sleep(time.Hour)
			synctest.Wait()
			check(t, seed, log.facts) // the host's end would block what is left
			g.h.Close()
		})
	}
}

func check(t *testing.T, seed uint64, facts []proto.Fact) {
	t.Helper()
	st := session.Fold(facts)
	if st.Goal.Active() || st.Turn || len(facts) < 20 {
		t.Errorf("seed %d: %+v, in a turn %v, %d facts", seed, st.Goal, st.Turn, len(facts))
	}
	open, active := map[string]bool{}, false
	for i, f := range facts {
		switch f := f.(type) {
		case proto.Goal:
			if f.Active() && !active && (f.By == "jig" || f.By == "model" && i > 0 && f.Objective != "mine") {
				t.Errorf("seed %d: %s took a goal up again", seed, f.By)
			}
			active = f.Active()
		case proto.Said:
			if text := f.Message.Blocks.Text(); f.Notice == proto.NoticeGoal && strings.Contains(text, "Go on with it now") && !active {
				t.Errorf("seed %d: fact %d goes on with no active goal", seed, i+1)
			}
			for _, c := range f.Message.Blocks.Calls() {
				open[c.ID] = true
			}
		case proto.Closed:
			delete(open, f.Call)
		}
	}
	if len(open) > 0 {
		t.Errorf("seed %d: %d calls have no result", seed, len(open))
	}
}
