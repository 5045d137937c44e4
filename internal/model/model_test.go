package model_test

import (
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
	if d := cmp.Diff(want, model.WireIDs([]msg.Message{calls})); d != "" {
		t.Error(d)
	}
}
