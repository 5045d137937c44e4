package export_test

import (
	"bytes"
	"strings"
	"testing"

	"jig/internal/export"
	"jig/internal/proto"
	"jig/internal/tools/intrinsic"
)

func TestGoalFromElsewhereIsNoLongerThanOneOfOurs(t *testing.T) {
	facts := []proto.Fact{began(), says("q"), proto.Goal{Objective: "\x1bé" + strings.Repeat("é", 1<<20), Status: proto.GoalActive, Why: "\x00" + strings.Repeat("w", 1<<20), By: "person"}}
	_, got, err := export.Read(bytes.NewReader(portable(t, facts...)))
	if err != nil {
		t.Fatal(err)
	}
	g := got[2].(proto.Goal)
	if again, err := intrinsic.Objective(g.Objective); err != nil || again != g.Objective || !strings.HasPrefix(again, "éé") {
		t.Errorf("%d bytes: %v", len(g.Objective), err)
	}
	if len(g.Why) > 4<<10 || !strings.HasPrefix(g.Why, "ww") {
		t.Errorf("%d bytes of a reason", len(g.Why))
	}
}
