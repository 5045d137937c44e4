package gemini

import (
	"context"
	"encoding/json"
	"testing"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

func TestNamesOfModelsAreRead(t *testing.T) {
	for name, want := range map[string]generation{
		"gemini-2.5-pro":                {gemini: true, number: 25, plain: true},
		"gemini-2.5-flash-lite":         {gemini: true, number: 25, flash: true, lite: true, plain: true},
		"gemini-2.0-flash-001":          {gemini: true, number: 20, flash: true, plain: true},
		"gemini-3-pro-preview":          {gemini: true, number: 30, plain: true},
		"models/gemini-3.1-pro-preview": {gemini: true, number: 31, plain: true},
		"google/gemini-3.8-flash":       {gemini: true, number: 38, flash: true, plain: true},
		"gemini-4-argon":                {gemini: true, number: 40, plain: true},
		"gemini-flash-latest":           {gemini: true, number: newest, flash: true, plain: true},
		"gemini-robotics-er-1.6":        {gemini: true, number: 16, plain: true},
		"gemini-2.5-flash-image":        {gemini: true, number: 25, flash: true},
		"gemini-2.5-flash-preview-tts":  {gemini: true, number: 25, flash: true},
		"gemma-3-27b-it":                {},
		"":                              {},
	} {
		if got := parseModel(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// The figures are https://ai.google.dev/gemini-api/docs/openai's, the limits and levels those of
// https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking
func TestAnEffortIsPutInTheWordsOfTheModel(t *testing.T) {
	for _, c := range []struct {
		model, effort string
		limit         int
		want          string
	}{
		{"gemini-2.5-pro", "", 0, `{"includeThoughts":true}`},
		{"gemini-2.5-pro", "none", 0, `{"thinkingBudget":128}`},
		{"gemini-2.5-pro", "minimal", 0, `{"includeThoughts":true,"thinkingBudget":1024}`},
		{"gemini-2.5-pro", "high", 0, `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-2.5-pro", "max", 0, `{"includeThoughts":true,"thinkingBudget":32768}`},
		{"gemini-2.5-pro", "high", 2000, `{"includeThoughts":true,"thinkingBudget":1000}`},
		{"gemini-2.5-pro", "high", 100, `{"includeThoughts":true,"thinkingBudget":128}`},
		{"gemini-2.5-flash", "none", 0, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", "medium", 0, `{"includeThoughts":true,"thinkingBudget":8192}`},
		{"gemini-2.5-flash", "xhigh", 0, `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-2.5-flash-lite", "low", 100, `{"includeThoughts":true,"thinkingBudget":512}`},
		{"gemini-3-pro-preview", "medium", 0, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro-preview", "medium", 0, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3.1-pro-preview", "none", 0, `{"thinkingLevel":"LOW"}`},
		{"gemini-3.6-flash", "minimal", 0, `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{"gemini-3.8-flash", "minimal", 0, `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-4-argon", "max", 0, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-flash-latest", "", 0, `{"includeThoughts":true}`},
		{"gemini-2.0-flash", "high", 0, `null`}, {"gemini-2.5-flash-image", "high", 0, `null`}, {"gemma-3-27b-it", "high", 0, `null`},
	} {
		got, _ := json.Marshal(parseModel(c.model).reasoning(c.effort, c.limit))
		if string(got) != c.want {
			t.Errorf("%s, %q, %d: %s, want %s", c.model, c.effort, c.limit, got, c.want)
		}
	}
}

func TestEveryEffortIsAcceptedForEveryModel(t *testing.T) {
	for _, name := range []string{
		"gemini-2.0-flash", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3-pro-preview", "gemini-3-flash-preview",
		"gemini-3.1-pro-preview", "gemini-3.1-flash-lite-preview", "gemini-3.5-flash", "gemini-3.5-flash-lite", "gemini-3.6-flash", "gemini-3.7-flash",
		"gemini-3.8-flash", "gemini-4-argon", "gemini-pro-latest", "gemini-flash-latest", "gemma-3-27b-it", "glm-5",
	} {
		for _, effort := range []string{"", "none", "minimal", "low", "medium", "high", "xhigh", "max"} {
			for _, limit := range []int{0, 100, 4096} {
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
