package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"jig/internal/model"
	jiganthropic "jig/internal/model/anthropic"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

// anthropicDifferences are where jig's requests differ from the SDK's on purpose. Two headers differ
// too: the SDK asks for version 2026-10-21 of the API (see package anthropic for why jig does not),
// and sends the key as a bearer token, which compatible servers do not all read.
var anthropicDifferences = []difference{
	{"the SDK says is_error: false, which is the default", func(path string, v any) (any, bool) {
		return v, !(suffix(path, ".is_error") && v == false)
	}},
}

func anthropicParams(t *testing.T, c conversation) anthropic.MessageNewParams {
	t.Helper()
	r := c.request
	p := anthropic.MessageNewParams{Model: anthropic.Model(c.model), MaxTokens: int64(r.MaxOutput)}
	if p.MaxTokens == 0 {
		p.MaxTokens = 64000 // the API demands a limit; this is jig's for the models used here
	}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	// The SDK has no fields for these any more, because the version of the API that it asks for has
	// not; jig asks for the version before, for the sake of the models that take them.
	extra := map[string]any{}
	if r.Temperature != nil {
		extra["temperature"] = *r.Temperature
	}
	if r.TopP != nil {
		extra["top_p"] = *r.TopP
	}
	p.SetExtraFields(extra)
	switch {
	case r.Reasoning != "" && c.model == "claude-opus-5":
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized}}
		p.OutputConfig = anthropic.OutputConfigParam{Effort: anthropic.OutputConfigEffort(r.Reasoning)}
	case r.Reasoning != "":
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(16000)
	}
	for _, x := range r.Tools {
		var schema struct {
			Properties any      `json:"properties"`
			Required   []string `json:"required"`
			Closed     *bool    `json:"additionalProperties"`
		}
		if err := json.Unmarshal(x.Input, &schema); err != nil {
			t.Fatal(err)
		}
		in := anthropic.ToolInputSchemaParam{Properties: schema.Properties, Required: schema.Required}
		if schema.Closed != nil {
			in.ExtraFields = map[string]any{"additionalProperties": *schema.Closed}
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{Name: x.Name, Description: anthropic.String(x.Doc), InputSchema: in}})
	}
	var first []anthropic.ContentBlockParamUnion
	for _, b := range c.first {
		switch b := b.(type) {
		case msg.Text:
			first = append(first, anthropic.NewTextBlock(b.Text))
		case msg.Image:
			first = append(first, anthropic.NewImageBlockBase64(b.MIME, png))
		}
	}
	p.Messages = append(p.Messages, anthropic.NewUserMessage(first...))
	return p
}

// markAsJigDoes puts the cache marks where jig puts them, in the SDK's words.
func markAsJigDoes(p anthropic.MessageNewParams) {
	switch {
	case len(p.System) > 0:
		p.System[len(p.System)-1].CacheControl = anthropic.NewCacheControlEphemeralParam()
	case len(p.Tools) > 0:
		*p.Tools[len(p.Tools)-1].GetCacheControl() = anthropic.NewCacheControlEphemeralParam()
	}
	left := 3
	for _, m := range slices.Backward(p.Messages) {
		if m.OfUser == nil {
			continue
		}
		at := m.OfUser.Content[len(m.OfUser.Content)-1].GetCacheControl()
		if *at = (anthropic.CacheControlEphemeralParam{}); left > 0 {
			*at = anthropic.NewCacheControlEphemeralParam()
		}
		left--
	}
}

// anthropicTalks goes through a conversation with the vendor's client, which echoes its own replies.
func anthropicTalks(t *testing.T, s *modeltest.Server, c conversation) []heard {
	t.Helper()
	client := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(s.URL), option.WithAPIKey(modeltest.Key), option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{}))
	p := anthropicParams(t, c)
	var options []option.RequestOption
	if c.request.Temperature != nil || c.request.TopP != nil {
		options = append(options, option.WithHeader("anthropic-version", "2023-06-01"))
	}
	var out []heard
	calls := 0
	for round := range c.script {
		markAsJigDoes(p)
		stream := client.Messages.NewStreaming(context.Background(), p, options...)
		var m anthropic.Message
		for stream.Next() {
			if err := m.Accumulate(stream.Current()); err != nil {
				t.Fatalf("SDK, round %d: %v", round+1, err)
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatalf("SDK, round %d: %v", round+1, err)
		}
		u := m.Usage
		h := heard{Usage: msg.Usage{
			Input:  int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
			Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
		}}
		p.Messages = append(p.Messages, m.ToParam())
		var answer, shown []anthropic.ContentBlockParamUnion
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				h.Text += b.Text
			case "thinking":
				h.Reasoning += b.Thinking
			case "tool_use":
				h.Calls = append(h.Calls, modeltest.Call{ID: b.ID, Name: b.Name, Args: string(b.Input)})
				text, failed := outcome(calls, b.Name)
				result := anthropic.NewToolResultBlock(b.ID, text, failed)
				if c.pictures && calls%2 == 1 {
					image := anthropic.NewImageBlockBase64("image/png", png)
					if failed {
						shown = append(shown, image) // a failed result holds text only
					} else {
						result.OfToolResult.Content = append(result.OfToolResult.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: image.OfImage})
					}
				}
				answer = append(answer, result)
				calls++
			}
		}
		if answer == nil {
			answer = append(answer, anthropic.NewTextBlock(goOn))
		}
		p.Messages = append(p.Messages, anthropic.NewUserMessage(append(answer, shown...)...))
		out = append(out, h)
	}
	return out
}

func TestMessagesAsTheVendorsClientSendsAndReadsThem(t *testing.T) {
	var all [][]byte
	more := conversations(t)
	two := []modeltest.Call{{ID: "toolu_1", Name: "read_file", Args: args}, {ID: "toolu_2", Name: "grep", Args: `{}`}}
	thinks := []modeltest.Reply{
		{Reasoning: "think 😀 <&>", Text: "I look.", Calls: two, Usage: usage},
		{Redacted: "ENCRYPTED+/=", Calls: two[:1]}, {Reasoning: "hm", Text: "Done."}, {Text: "Bye."},
	}
	thinks[1].Calls = []modeltest.Call{{ID: "toolu_3", Name: "grep", Args: `{"pattern":"x"}`}}
	first := msg.Blocks{msg.Text{Text: "hi"}}
	more["thinking budget"] = conversation{first: first, request: model.Request{Tools: tools(), Reasoning: "high"}, script: thinks}
	more["thinking effort"] = conversation{model: "claude-opus-5", first: first, request: model.Request{Tools: tools(), Reasoning: "xhigh"}, script: thinks}
	for name, c := range more {
		t.Run(name, func(t *testing.T) {
			if c.model == "" {
				c.model = "claude-haiku-4-5"
			}
			a, b := modeltest.New(t, c.script...), modeltest.New(t, c.script...)
			m := jiganthropic.New(jiganthropic.Options{Provider: "p", URL: b.URL, Key: modeltest.Key})
			defer m.Close()
			compare(t, b, a, jigTalks(t, m, c), anthropicTalks(t, a, c), anthropicDifferences)
			all = append(all, bodies(a, b)...)
		})
	}
	needed(t, all, anthropicDifferences)
}
