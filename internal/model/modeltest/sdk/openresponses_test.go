package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	jigopenresponses "jig/internal/model/openresponses"
	"jig/internal/msg"
)

// responsesDifferences are where jig's requests differ from the SDK's on purpose.
var responsesDifferences = []difference{
	{"the SDK sends back the empty logprobs that it was sent, which nobody asked for", func(path string, v any) (any, bool) {
		empty, ok := v.([]any)
		return v, !(suffix(path, ".logprobs") && ok && len(empty) == 0)
	}},
}

func responsesImage() responses.ResponseInputContentUnionParam {
	return responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{Detail: responses.ResponseInputImageDetailAuto, ImageURL: openai.String("data:image/png;base64," + png)}}
}

func responsesUser(blocks msg.Blocks) responses.ResponseInputItemUnionParam {
	m := &responses.EasyInputMessageParam{Role: responses.EasyInputMessageRoleUser, Type: responses.EasyInputMessageTypeMessage}
	if len(blocks) == 1 {
		m.Content.OfString = openai.String(blocks.Text())
		return responses.ResponseInputItemUnionParam{OfMessage: m}
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			m.Content.OfInputItemContentList = append(m.Content.OfInputItemContentList, responses.ResponseInputContentParamOfInputText(b.Text))
		case msg.Image:
			m.Content.OfInputItemContentList = append(m.Content.OfInputItemContentList, responsesImage())
		}
	}
	return responses.ResponseInputItemUnionParam{OfMessage: m}
}

func responsesParams(t *testing.T, c conversation) responses.ResponseNewParams {
	t.Helper()
	r := c.request
	p := responses.ResponseNewParams{Model: c.model, Store: openai.Bool(false)}
	if c.model != "gpt-4o" {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	if r.System != "" {
		p.Instructions = openai.String(r.System)
	}
	if r.MaxOutput > 0 {
		p.MaxOutputTokens = openai.Int(int64(r.MaxOutput))
	}
	if r.Temperature != nil {
		p.Temperature = openai.Float(*r.Temperature)
	}
	if r.TopP != nil {
		p.TopP = openai.Float(*r.TopP)
	}
	if r.Reasoning != "" {
		p.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(r.Reasoning), Summary: shared.ReasoningSummaryAuto}
	}
	for _, x := range r.Tools {
		var schema map[string]any
		if err := json.Unmarshal(x.Input, &schema); err != nil {
			t.Fatal(err)
		}
		f := responses.ToolParamOfFunction(x.Name, schema, false)
		f.OfFunction.Description = openai.String(x.Doc)
		p.Tools = append(p.Tools, f)
	}
	p.Input.OfInputItemList = append(p.Input.OfInputItemList, responsesUser(c.first))
	return p
}

// responsesStreams reads one reply, and checks that its pieces and its whole agree.
func responsesStreams(t *testing.T, client openai.Client, p responses.ResponseNewParams) responses.Response {
	t.Helper()
	stream := client.Responses.NewStreaming(context.Background(), p)
	var whole responses.Response
	text, args := "", ""
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += e.Delta
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			args += e.Delta
		case responses.ResponseCompletedEvent:
			whole = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("SDK: %v", err)
	}
	for _, item := range whole.Output {
		if item.Type == "function_call" {
			args = args[len(item.Arguments.OfString):]
		}
	}
	if text != whole.OutputText() || args != "" {
		t.Errorf("the SDK was told %q, and read %q; %q of arguments is left", text, whole.OutputText(), args)
	}
	return whole
}

// responsesTalks goes through a conversation with the vendor's client, which echoes its own replies.
func responsesTalks(t *testing.T, s *modeltest.Server, c conversation) []heard {
	t.Helper()
	client := openai.NewClient(option.WithBaseURL(s.URL+"/v1/"), option.WithAPIKey(modeltest.Key), option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{}))
	p := responsesParams(t, c)
	var out []heard
	calls := 0
	for range c.script {
		r := responsesStreams(t, client, p)
		u := r.Usage
		h := heard{Usage: msg.Usage{
			Input: int(u.InputTokens), Output: int(u.OutputTokens),
			CacheRead: int(u.InputTokensDetails.CachedTokens), CacheWrite: int(u.InputTokensDetails.CacheWriteTokens),
		}}
		var answers []responses.ResponseInputItemUnionParam
		for _, item := range r.Output {
			switch item := item.AsAny().(type) {
			case responses.ResponseReasoningItem:
				for _, part := range item.Summary {
					h.Reasoning += part.Text
				}
				back := item.ToParam()
				p.Input.OfInputItemList = append(p.Input.OfInputItemList, responses.ResponseInputItemUnionParam{OfReasoning: &back})
			case responses.ResponseOutputMessage:
				for _, part := range item.Content {
					h.Text += part.Text + part.Refusal
				}
				back := item.ToParam()
				p.Input.OfInputItemList = append(p.Input.OfInputItemList, responses.ResponseInputItemUnionParam{OfOutputMessage: &back})
			case responses.ResponseFunctionToolCall:
				h.Calls = append(h.Calls, modeltest.Call{ID: item.CallID, Name: item.Name, Args: item.Arguments})
				back := item.ToParam()
				p.Input.OfInputItemList = append(p.Input.OfInputItemList, responses.ResponseInputItemUnionParam{OfFunctionCall: &back})
				answers = append(answers, responsesOutcome(item, calls, c.pictures))
				calls++
			}
		}
		if answers == nil {
			answers = append(answers, responsesUser(msg.Blocks{msg.Text{Text: goOn}}))
		}
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, answers...)
		out = append(out, h)
	}
	return out
}

// responsesOutcome answers a call. The dialect has no form for a failed result.
func responsesOutcome(item responses.ResponseFunctionToolCall, i int, pictures bool) responses.ResponseInputItemUnionParam {
	text, _ := outcome(i, item.Name)
	o := &responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(item.CallID)}
	if pictures && i%2 == 1 {
		o.Output.OfResponseFunctionCallOutputItemArray = responses.ResponseFunctionCallOutputItemListParam{
			{OfInputText: &responses.ResponseInputTextContentParam{Text: text}},
			{OfInputImage: &responses.ResponseInputImageContentParam{Detail: responses.ResponseInputImageContentDetailAuto, ImageURL: openai.String("data:image/png;base64," + png)}},
		}
	} else {
		o.Output.OfString = openai.String(text)
	}
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: o}
}

func TestResponsesAsTheVendorsClientSendsAndReadsThem(t *testing.T) {
	var all [][]byte
	more := conversations(t)
	first := msg.Blocks{msg.Text{Text: "hi"}}
	two := []modeltest.Call{{ID: "call_1", Name: "read_file", Args: args}, {ID: "call_2", Name: "grep", Args: `{}`}}
	more["refusal"] = conversation{first: first, script: []modeltest.Reply{{Refusal: "I will not."}, {Text: "But ", Refusal: "still not."}, {Text: "ok"}}}
	more["reasoning"] = conversation{model: "gpt-5.2", first: first, request: model.Request{Tools: tools(), Reasoning: "high"}, script: []modeltest.Reply{
		{Reasoning: "think 😀 <&>", Text: "I look.", Phase: "commentary", Calls: two, Usage: usage},
		{Reasoning: "more", Redacted: "ENCRYPTED+/=", Calls: []modeltest.Call{{ID: "call_3", Name: "grep", Args: `{"pattern":"x"}`}}},
		{Redacted: "AGAIN", Text: "Done.", Phase: "final_answer"}, {Text: "Bye."},
	}}
	more["effort"] = conversation{model: "o3", first: first, request: model.Request{Reasoning: "low"}, script: []modeltest.Reply{{Reasoning: "hm", Text: "ok"}, {Text: "ok"}}}
	for name, c := range more {
		t.Run(name, func(t *testing.T) {
			if c.model == "" {
				c.model = "gpt-4o"
			}
			a, b := modeltest.New(t, c.script...), modeltest.New(t, c.script...)
			m := jigopenresponses.New(jigopenresponses.Options{Provider: "p", URL: b.URL, Key: modeltest.Key})
			defer m.Close()
			compare(t, b, a, jigTalks(t, m, c), responsesTalks(t, a, c), responsesDifferences, "Authorization")
			all = append(all, bodies(a, b)...)
		})
	}
	needed(t, all, responsesDifferences)
}
