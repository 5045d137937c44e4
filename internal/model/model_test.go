package model_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/msg"
)

func TestRepeatedMissingAndOddProviderIDsNeverCollide(t *testing.T) {
	calls := msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{
		msg.Call{ID: "call00001", Given: "call_1"}, msg.Call{ID: "call00002", Given: "call_1"},
		msg.Call{ID: "call00003"}, msg.Call{ID: "call00004", Given: "functions.read:0"},
		msg.Call{ID: "call00005", Given: strings.Repeat("x", 41)},
	}}
	want := map[string]string{"call00001": "call_1", "call00002": "call00002", "call00003": "call00003", "call00004": "call00004", "call00005": "call00005"}
	if d := cmp.Diff(want, wireIDs([]msg.Message{calls})); d != "" {
		t.Error(d)
	}
}

func TestAProvidersIDOfOurOwnFormIsNotTaken(t *testing.T) {
	for name, calls := range map[string][]msg.Call{
		"none after it":     {{ID: "call00001", Given: "call00002"}, {ID: "call00002"}},
		"repeated after it": {{ID: "call00001", Given: "call00002"}, {ID: "call00002", Given: "call00002"}},
	} {
		want := map[string]string{"call00001": "call00001", "call00002": "call00002"}
		if d := cmp.Diff(want, wireIDs([]msg.Message{{Role: msg.Assistant, Blocks: msg.Blocks{calls[0], calls[1]}}})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func wireIDs(messages []msg.Message) map[string]string {
	ids, out := model.WireIDs(messages), map[string]string{}
	for _, m := range messages {
		for _, c := range m.Blocks.Calls() {
			out[c.ID] = ids.Of(c.ID)
		}
	}
	return out
}

// The same ids must come out of a longer conversation, whatever a provider makes up.
func TestNoTwoCallsShareAnID(t *testing.T) {
	pool := []string{"", "x", "call_1", "call00001", "call00002", "call00003", "call00012", "call00002x", "call", "odd id", "a", "ax"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var messages []msg.Message
		before := map[string]string{}
		for n := range 12 {
			own := fmt.Sprintf("call%05d", n+1)
			if r.IntN(8) == 0 {
				own = fmt.Sprintf("%c", 'a'+n) // an id of ours in another form
			}
			messages = append(messages, msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: own, Given: pool[r.IntN(len(pool))]}}})
			ids, seen := wireIDs(messages), map[string]bool{}
			for own, id := range ids {
				if seen[id] || id == "" {
					t.Fatalf("%q is there twice in %v for %+v", id, ids, messages)
				}
				seen[id] = true
				if was, ok := before[own]; ok && was != id {
					t.Fatalf("%s was %s and is %s", own, was, id)
				}
			}
			before = ids
		}
	}
}
