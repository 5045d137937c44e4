package sdk

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

	"jig/internal/model"
	jiggemini "jig/internal/model/gemini"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

// geminiDifferences are where jig's requests differ from the SDK's on purpose.
var geminiDifferences = []difference{
	{"the SDK gives the system instruction a role, which has no meaning there", func(path string, v any) (any, bool) {
		return v, path != ".systemInstruction.role"
	}},
	{"the SDK leaves out arguments where there are none", func(path string, v any) (any, bool) {
		empty, ok := v.(map[string]any)
		return v, !(suffix(path, ".functionCall.args") && ok && len(empty) == 0)
	}},
	{"the SDK leaves out the empty text of a part that is only a signature", func(path string, v any) (any, bool) {
		return v, !(suffix(path, ".parts[].text") && v == "")
	}},
}

// geminiParts writes blocks as the SDK does.
func geminiParts(t *testing.T, blocks msg.Blocks) []*genai.Part {
	t.Helper()
	var out []*genai.Part
	for _, b := range blocks {
		switch b := b.(type) {
		case msg.Text:
			out = append(out, genai.NewPartFromText(b.Text))
		case msg.Image:
			out = append(out, genai.NewPartFromBytes(b.Data, b.MIME))
		}
	}
	return out
}

func geminiConfig(r model.Request) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{MaxOutputTokens: int32(r.MaxOutput), ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true}}
	switch r.Reasoning {
	case "low":
		c.ThinkingConfig.ThinkingLevel = genai.ThinkingLevelLow
	case "medium":
		budget := int32(8192)
		c.ThinkingConfig.ThinkingBudget = &budget
	}
	if r.System != "" {
		c.SystemInstruction = genai.NewContentFromText(r.System, genai.RoleUser)
	}
	if r.Temperature != nil {
		f := float32(*r.Temperature)
		c.Temperature = &f
	}
	if r.TopP != nil {
		f := float32(*r.TopP)
		c.TopP = &f
	}
	if len(r.Tools) > 0 {
		c.Tools = []*genai.Tool{{}}
	}
	for _, x := range r.Tools {
		c.Tools[0].FunctionDeclarations = append(c.Tools[0].FunctionDeclarations, &genai.FunctionDeclaration{Name: x.Name, Description: x.Doc, ParametersJsonSchema: x.Input})
	}
	return c
}

// geminiTalks goes through a conversation with the vendor's client. Its chats keep every piece of a
// stream as a turn of its own, which the service refuses where a call is among them, so its pieces
// are put together here, as the service would have sent them in one.
func geminiTalks(t *testing.T, s *modeltest.Server, c conversation) []heard {
	t.Helper()
	ctx := context.Background()
	client, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: modeltest.Key, Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{}, HTTPOptions: genai.HTTPOptions{BaseURL: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	contents := []*genai.Content{{Role: genai.RoleUser, Parts: geminiParts(t, c.first)}}
	dot, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		t.Fatal(err)
	}
	var out []heard
	calls := 0
	for round := range c.script {
		var h heard
		said, answer := &genai.Content{Role: genai.RoleModel}, &genai.Content{Role: genai.RoleUser}
		for chunk, err := range client.Models.GenerateContentStream(ctx, c.model, contents, geminiConfig(c.request)) {
			if err != nil {
				t.Fatalf("SDK, round %d: %v", round+1, err)
			}
			if u := chunk.UsageMetadata; u != nil {
				h.Usage = msg.Usage{Input: int(u.PromptTokenCount), Output: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), CacheRead: int(u.CachedContentTokenCount)}
			}
			if len(chunk.Candidates) == 0 || chunk.Candidates[0].Content == nil {
				continue
			}
			for _, p := range chunk.Candidates[0].Content.Parts {
				said.Parts = joined(said.Parts, p)
			}
		}
		for _, p := range said.Parts {
			switch {
			case p.FunctionCall != nil:
				args, _ := json.Marshal(p.FunctionCall.Args)
				h.Calls = append(h.Calls, modeltest.Call{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Args: string(args)})
				text, failed := outcome(calls, p.FunctionCall.Name)
				f := &genai.FunctionResponse{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Response: map[string]any{"output": text}}
				if failed {
					f.Response = map[string]any{"error": text}
				}
				if c.pictures && calls%2 == 1 {
					f.Parts = []*genai.FunctionResponsePart{{InlineData: &genai.FunctionResponseBlob{MIMEType: "image/png", Data: dot}}}
				}
				answer.Parts = append(answer.Parts, &genai.Part{FunctionResponse: f})
				calls++
			case p.Thought:
				h.Reasoning += p.Text
			default:
				h.Text += p.Text
			}
		}
		if answer.Parts == nil {
			answer.Parts = []*genai.Part{genai.NewPartFromText(goOn)}
		}
		contents = append(contents, said, answer)
		out = append(out, h)
	}
	return out
}

// joined adds a part of a stream to those before it. Texts are one part again, but for those with
// a signature.
func joined(parts []*genai.Part, p *genai.Part) []*genai.Part {
	if p.FunctionCall == nil && p.Text == "" && p.ThoughtSignature == nil {
		return parts
	}
	if n := len(parts); n > 0 && p.FunctionCall == nil && p.ThoughtSignature == nil {
		if last := parts[n-1]; last.FunctionCall == nil && last.ThoughtSignature == nil && last.Thought == p.Thought {
			last.Text += p.Text
			return parts
		}
	}
	return append(parts, p)
}

// oneOrder writes the arguments of calls as the SDK's map of them is written.
func oneOrder(t *testing.T, all []heard) []heard {
	t.Helper()
	for _, h := range all {
		for i := range h.Calls {
			var v map[string]any
			if err := json.Unmarshal([]byte(h.Calls[i].Args), &v); err != nil {
				t.Fatal(err)
			}
			b, _ := json.Marshal(v)
			h.Calls[i].Args = string(b)
		}
	}
	return all
}

func TestGenerateContentAsTheVendorsClientSendsAndReadsIt(t *testing.T) {
	var all [][]byte
	more := conversations(t)
	p := 0.75 // the SDK's numbers are of single precision
	top := more["top_p"]
	top.request.TopP = &p
	more["top_p"] = top
	first := msg.Blocks{msg.Text{Text: "hi"}}
	two := []modeltest.Call{{ID: "fc_1", Name: "read_file", Args: args}, {ID: "fc_2", Name: "grep", Args: `{}`}}
	thinks := []modeltest.Reply{
		{Reasoning: "think 😀 <&>", Text: "I look.", Calls: two, Usage: usage}, {Calls: two[:1]}, {Reasoning: "hm", Text: "Done."}, {Text: "Bye."},
	}
	more["thinking level"] = conversation{first: first, request: model.Request{Tools: tools(), Reasoning: "low"}, script: thinks}
	more["thinking budget"] = conversation{model: "gemini-2.5-flash", first: first, request: model.Request{Tools: tools(), Reasoning: "medium"}, script: thinks}
	for name, c := range more {
		t.Run(name, func(t *testing.T) {
			if c.model == "" {
				c.model = "gemini-3-flash-preview"
			}
			a, b := modeltest.New(t, c.script...), modeltest.New(t, c.script...)
			m := jiggemini.New(jiggemini.Options{Provider: "p", URL: b.URL, Key: modeltest.Key})
			defer m.Close()
			compare(t, b, a, oneOrder(t, jigTalks(t, m, c)), oneOrder(t, geminiTalks(t, a, c)), geminiDifferences, "X-Goog-Api-Key")
			all = append(all, bodies(a, b)...)
		})
	}
	needed(t, all, geminiDifferences)
}

func TestRefusalsOfGenerateContentAreTheVendorsClientsToo(t *testing.T) {
	s := modeltest.New(t)
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{APIKey: "wrong", Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{}, HTTPOptions: genai.HTTPOptions{BaseURL: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range client.Models.GenerateContentStream(context.Background(), "gemini-3-flash-preview", genai.Text("hi"), nil) {
		if err == nil || !strings.Contains(err.Error(), "API_KEY_INVALID") || !strings.Contains(err.Error(), "INVALID_ARGUMENT") {
			t.Errorf("the SDK does not read the server's refusal: %v", err)
		}
	}
}
