package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	jigopenai "jig/internal/model/openai"
	"jig/internal/msg"
)

// openaiDifferences are where jig's requests differ from the SDK's on purpose: nowhere.
var openaiDifferences []difference

func openaiParams(t *testing.T, c conversation) openai.ChatCompletionNewParams {
	t.Helper()
	p := openai.ChatCompletionNewParams{
		Model:         c.model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	r := c.request
	if r.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(r.System))
	}
	if r.MaxOutput > 0 {
		p.MaxTokens = openai.Int(int64(r.MaxOutput)) // what a server other than the vendor's knows
	}
	if r.Temperature != nil {
		p.Temperature = openai.Float(*r.Temperature)
	}
	if r.TopP != nil {
		p.TopP = openai.Float(*r.TopP)
	}
	if r.Reasoning != "" {
		p.ReasoningEffort = shared.ReasoningEffort(r.Reasoning)
	}
	for _, x := range r.Tools {
		var schema map[string]any
		if err := json.Unmarshal(x.Input, &schema); err != nil {
			t.Fatal(err)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: x.Name, Description: openai.String(x.Doc), Parameters: schema}))
	}
	p.Messages = append(p.Messages, openaiUser(c.first))
	return p
}

func openaiImage() openai.ChatCompletionContentPartUnionParam {
	return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + png})
}

func openaiUser(blocks msg.Blocks) openai.ChatCompletionMessageParamUnion {
	if len(blocks) == 1 {
		return openai.UserMessage(blocks.Text())
	}
	var parts []openai.ChatCompletionContentPartUnionParam
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			parts = append(parts, openai.TextContentPart(b.Text))
		case msg.Image:
			parts = append(parts, openaiImage())
		}
	}
	return openai.UserMessage(parts)
}

// openaiTalks goes through a conversation with the vendor's client, which echoes its own replies.
func openaiTalks(t *testing.T, s *modeltest.Server, c conversation) []heard {
	t.Helper()
	client := openai.NewClient(option.WithBaseURL(s.URL+"/v1/"), option.WithAPIKey(modeltest.Key), option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{}))
	p := openaiParams(t, c)
	var out []heard
	calls := 0
	for round := range c.script {
		stream := client.Chat.Completions.NewStreaming(context.Background(), p)
		var acc openai.ChatCompletionAccumulator
		reasoning, written := "", 0
		for stream.Next() {
			chunk := stream.Current()
			if !acc.AddChunk(chunk) {
				t.Fatalf("SDK, round %d: a chunk does not fit", round+1)
			}
			// The SDK's sum leaves this figure out; its chunk has it.
			written += int(chunk.Usage.PromptTokensDetails.CacheWriteTokens)
			for _, ch := range chunk.Choices {
				var extra string
				if f, ok := ch.Delta.JSON.ExtraFields["reasoning_content"]; ok && json.Unmarshal([]byte(f.Raw()), &extra) == nil {
					reasoning += extra
				}
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatalf("SDK, round %d: %v", round+1, err)
		}
		m := acc.Choices[0].Message
		h := heard{Text: m.Content + m.Refusal, Reasoning: reasoning, Usage: msg.Usage{
			Input: int(acc.Usage.PromptTokens), Output: int(acc.Usage.CompletionTokens),
			CacheRead:  int(acc.Usage.PromptTokensDetails.CachedTokens),
			CacheWrite: written,
		}}
		p.Messages = append(p.Messages, m.ToParam())
		var shown []openai.ChatCompletionContentPartUnionParam
		for _, x := range m.ToolCalls {
			h.Calls = append(h.Calls, modeltest.Call{ID: x.ID, Name: x.Function.Name, Args: x.Function.Arguments})
			text, _ := outcome(calls, x.Function.Name) // the dialect has no form for a failed result
			p.Messages = append(p.Messages, openai.ToolMessage(text, x.ID))
			if c.pictures && calls%2 == 1 {
				// A tool message holds no picture; this is the nearest form.
				shown = append(shown, openai.TextContentPart("From the result of "+x.Function.Name+" ("+x.ID+"):"), openaiImage())
			}
			calls++
		}
		if shown != nil {
			p.Messages = append(p.Messages, openai.UserMessage(shown))
		}
		if len(m.ToolCalls) == 0 {
			p.Messages = append(p.Messages, openai.UserMessage(goOn))
		}
		out = append(out, h)
	}
	return out
}

func TestChatCompletionsAsTheVendorsClientSendsAndReadsThem(t *testing.T) {
	var all [][]byte
	more := conversations(t)
	more["effort"] = conversation{model: "o3", first: msg.Blocks{msg.Text{Text: "hi"}}, request: model.Request{Reasoning: "low"}, script: []modeltest.Reply{{Text: "ok"}}}
	more["refusal"] = conversation{first: msg.Blocks{msg.Text{Text: "hi"}}, script: []modeltest.Reply{{Refusal: "I will not."}}}
	for name, c := range more {
		t.Run(name, func(t *testing.T) {
			if c.model == "" {
				c.model = "gpt-4o"
			}
			a, b := modeltest.New(t, c.script...), modeltest.New(t, c.script...)
			m := jigopenai.New(jigopenai.Options{Provider: "p", URL: b.URL, Key: modeltest.Key})
			defer m.Close()
			compare(t, b, a, jigTalks(t, m, c), openaiTalks(t, a, c), openaiDifferences, "Authorization")
			all = append(all, bodies(a, b)...)
		})
	}
	needed(t, all, openaiDifferences)
}

func TestReasoningContentIsReadAsTheVendorsClientReadsIt(t *testing.T) {
	c := conversation{model: "deepseek", first: msg.Blocks{msg.Text{Text: "hi"}}, script: []modeltest.Reply{{Reasoning: "hm 😀", Text: "ok", Usage: usage}}}
	a, b := modeltest.New(t, c.script...), modeltest.New(t, c.script...)
	m := jigopenai.New(jigopenai.Options{Provider: "p", URL: b.URL, Key: modeltest.Key})
	defer m.Close()
	compare(t, b, a, jigTalks(t, m, c), openaiTalks(t, a, c), openaiDifferences, "Authorization")
}
