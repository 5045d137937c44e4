package anthropic

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

func TestModelNamesAreReadInEveryForm(t *testing.T) {
	for name, want := range map[string]generation{
		"claude-opus-4-6":                   {true, "opus", 46},
		"claude-haiku-4-5-20251001":         {true, "haiku", 45},
		"claude-sonnet-4-20250514":          {true, "sonnet", 40},
		"claude-opus-4-0":                   {true, "opus", 40},
		"claude-opus-5":                     {true, "opus", 50},
		"claude-sonnet-5-5":                 {true, "sonnet", 55},
		"claude-3-7-sonnet-latest":          {true, "sonnet", 37},
		"claude-3-haiku-20240307":           {true, "haiku", 30},
		"anthropic/claude-sonnet-4.5":       {true, "sonnet", 45},
		"anthropic.claude-opus-4-6-v1:0":    {true, "opus", 46},
		"us.anthropic.claude-sonnet-4@2025": {true, "sonnet", 40},
		"claude-mythos-preview":             {true, "mythos", 0},
		"claude-next":                       {true, "", 0},
		"glm-4.6":                           {},
	} {
		if d := cmp.Diff(want, parseModel(name), cmp.AllowUnexported(generation{})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestEveryEffortIsInWordsTheModelAccepts(t *testing.T) {
	for _, name := range []string{
		"claude-haiku-4-5", "claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805", "claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-6",
		"claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-5", "claude-opus-5", "claude-fable-5-1", "claude-mythos-5-2", "claude-haiku-5-5", "glm-4.6", "claude-next",
	} {
		for _, effort := range []string{"", "none", "minimal", "low", "medium", "high", "xhigh", "max"} {
			for _, limit := range []int{0, 500, 4096} {
				s := modeltest.New(t, modeltest.Reply{Text: "ok"})
				m := New(Options{URL: s.URL, Key: modeltest.Key})
				r := model.Request{Model: name, Reasoning: effort, MaxOutput: limit, Messages: []msg.Message{msg.Say(msg.User, "hi")}}
				if _, err := m.Stream(context.Background(), r, nil); err != nil {
					t.Errorf("%s, %q, %d: %v", name, effort, limit, err)
				}
				_ = m.Close()
			}
		}
	}
}

func TestAConversationGoesOnWithABudgetAfterAnotherModelsCalls(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "ok"})
	m := New(Options{URL: s.URL, Key: modeltest.Key})
	defer m.Close()
	_, err := m.Stream(context.Background(), model.Request{
		Model: "claude-haiku-4-5", Reasoning: "high", Tools: []model.Tool{{Name: "f", Input: []byte(`{"type":"object"}`)}},
		Messages: []msg.Message{
			msg.Say(msg.User, "hi"),
			{Role: msg.Assistant, Provider: "other", Model: "other", Blocks: msg.Blocks{msg.Reasoning{Text: "x", Raw: []byte(`{}`)}, msg.Call{ID: "call00001", Name: "f", Args: "{}"}}},
			{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001", Blocks: msg.Blocks{msg.Text{Text: "r"}}}}},
		},
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestThinkingCutBeforeItsSignatureIsNotSentBack(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "ok"})
	m := New(Options{Provider: "p", URL: s.URL, Key: modeltest.Key})
	defer m.Close()
	_, err := m.Stream(context.Background(), model.Request{
		Model: "claude-opus-5",
		Messages: []msg.Message{
			msg.Say(msg.User, "hi"),
			{Role: msg.Assistant, Provider: "p", Model: "claude-opus-5", Blocks: msg.Blocks{msg.Reasoning{Text: "x", Raw: []byte(`{"type":"thinking","thinking":"x","signature":""}`)}}},
			msg.Say(msg.User, "go on"),
		},
	}, nil)
	if err != nil {
		t.Error(err)
	}
}
