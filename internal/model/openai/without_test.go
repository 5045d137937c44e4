package openai_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openai"
	"jig/internal/msg"
)

// thinker is a script of a model that thinks, in turns with calls and without.
func thinker() []modeltest.Reply {
	return []modeltest.Reply{
		{Reasoning: "one", Text: "I look.", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: `{}`}}},
		{Reasoning: "two", Text: "Done."},
		{Reasoning: "three", Calls: []modeltest.Call{{ID: "3", Name: "f", Args: `{}`}}},
		{Reasoning: "four", Text: "Bye."},
	}
}

func TestAServerThatWantsReasoningBackGetsAllOfIt(t *testing.T) {
	s := modeltest.New(t, thinker()...)
	s.Chat.Thinks = true
	talk(t, at(t, s), model.Request{Model: "deepseek-v4-pro", Tools: tools()}, 4)
	if r := s.Refused(); len(r) > 0 {
		t.Errorf("refused: %q", r)
	}
}

func TestReasoningThatIsNotThereIsMadeUpForWhereItIsMissed(t *testing.T) {
	// What another model said has none that this one may see.
	r := model.Request{Model: "deepseek-v4-pro", Tools: tools(), Messages: []msg.Message{
		msg.Say(msg.User, "begin"),
		{Role: msg.Assistant, Provider: "other", Model: "claude", Blocks: msg.Blocks{msg.Reasoning{Text: "secret", Raw: []byte(`{"type":"thinking"}`)}, msg.Call{ID: "call00001", Name: "f", Args: "{}"}}},
		{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001"}}},
		{Role: msg.Assistant, Provider: "other", Model: "claude", Blocks: msg.Blocks{msg.Text{Text: "so"}}}, msg.Say(msg.User, "on"),
	}}
	s := modeltest.New(t, thinker()...)
	s.Chat.Thinks = true
	talk(t, at(t, s), r, 4)
	if got := s.Requests(); len(got) != 5 || len(s.Refused()) != 1 || strings.Contains(string(got[4].Body), "secret") {
		t.Errorf("%d requests, refused: %q", len(got), s.Refused())
	}
}

func TestAServerThatRefusesReasoningIsNotSentItAgain(t *testing.T) {
	for _, lacks := range []string{"reasoning_content", "reasoning"} {
		s := modeltest.New(t, thinker()...)
		s.Chat.Lacks = []string{lacks}
		talk(t, at(t, s), model.Request{Model: "gpt-oss", Tools: tools()}, 4)
		refused := 1
		if lacks == "reasoning" {
			refused = 0 // it is sent back under the name it came
		}
		if n := len(s.Refused()); n != refused || len(s.Requests()) != 4+refused {
			t.Errorf("%s: %d requests, refused: %q", lacks, len(s.Requests()), s.Refused())
		}
	}
}

func TestFieldsThatAServerDoesNotKnowAreDoneWithout(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(s *modeltest.Server, r *model.Request)
		want string
	}{
		"stream_options": {func(s *modeltest.Server, _ *model.Request) { s.Chat.Lacks = []string{"stream_options"} }, `"stream":true`},
		"the new limit":  {func(_ *modeltest.Server, r *model.Request) { r.Model, r.MaxOutput = "gpt-5", 77 }, `"max_completion_tokens":77`},
		"a grade too far": {func(s *modeltest.Server, r *model.Request) {
			s.Chat.Efforts, r.Reasoning = []string{"low", "medium", "high"}, "max"
		}, `"reasoning_effort":"high"`},
		"a grade too low": {func(s *modeltest.Server, r *model.Request) {
			s.Chat.Efforts, r.Reasoning = []string{"low", "medium", "high"}, "none"
		}, `"reasoning_effort":"low"`},
		"two of them": {func(s *modeltest.Server, r *model.Request) {
			s.Chat.Lacks, r.MaxOutput, r.Model = []string{"stream_options"}, 77, "gpt-5"
		}, `"max_completion_tokens":77`},
	} {
		s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"})
		r := model.Request{Model: "m", Tools: tools()}
		c.set(s, &r)
		talk(t, at(t, s), r, 2)
		all := s.Requests()
		if n := len(s.Refused()); n == 0 || len(all) != n+2 || all[len(all)-1].Refused != "" || !strings.Contains(string(all[len(all)-1].Body), c.want) {
			t.Errorf("%s: %d requests, refused %q, last %s", name, len(all), s.Refused(), all[len(all)-1].Body)
		}
	}
}

func TestAGradeIsFoundWhereTheServiceHasItsOwnWordForIt(t *testing.T) {
	var sent []string
	m := openai.New(openai.Options{URL: "https://openrouter.ai/api/v1", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		b, _ := io.ReadAll(r.Body)
		sent = append(sent, string(b))
		status, body := 400, `{"error":{"message":"reasoning.effort: Invalid option: expected one of \"high\"|\"medium\"|\"low\"","code":400}}`
		if strings.Contains(string(b), `"effort":"high"`) {
			status, body = 200, `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})})
	r := model.Request{Model: "m", Reasoning: "max", Messages: []msg.Message{msg.Say(msg.User, "hi")}}
	for range 2 {
		if _, err := m.Stream(context.Background(), r, nil); err != nil {
			t.Error(err)
		}
	}
	if n := len(sent); n > 4 || !strings.Contains(sent[n-1], `"reasoning":{"effort":"high"}`) {
		t.Errorf("%q", sent)
	}
}

func TestWhatCannotBeDoneWithoutIsAnErrorAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		lacks string
		r     model.Request
	}{
		"temperature": {"temperature", model.Request{Temperature: new(float64)}}, "effort": {"reasoning_effort", model.Request{Reasoning: "high"}},
	} {
		s := modeltest.New(t, modeltest.Reply{Text: "a"})
		s.Chat.Lacks = []string{c.lacks}
		c.r.Model, c.r.Messages = "m", []msg.Message{msg.Say(msg.User, "hi")}
		if _, err := at(t, s).Stream(context.Background(), c.r, nil); kindOf(err) != model.KindRequest || len(s.Requests()) != 1 || !strings.Contains(err.Error(), c.lacks) {
			t.Errorf("%s: %v after %d requests", name, err, len(s.Requests()))
		}
	}
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// seen is a message of the user's side with a picture of a size, in bytes.
func seen(t *testing.T, words string, size int) msg.Message {
	b, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, make([]byte, max(0, size-len(b)))...)
	return msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Text{Text: words}, msg.Image{MIME: "image/png", Data: b}}}
}

func TestAPictureForAModelThatCannotSeeDoesNotEndTheConversation(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"})
	s.Chat.Lacks = []string{"image_url"}
	talk(t, at(t, s), model.Request{Model: "deepseek-chat", Messages: []msg.Message{seen(t, "what is this?", 0)}}, 2)
	all := s.Requests()
	if len(s.Refused()) != 1 || len(all) != 3 || !strings.Contains(string(all[2].Body), model.NoPicture) || !strings.Contains(string(all[2].Body), "what is this?") {
		t.Errorf("%d requests, refused %q, last %s", len(all), s.Refused(), all[len(all)-1].Body)
	}
}

func TestOnlyThePictureThatIsRefusedIsLeftOut(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"}, modeltest.Reply{Text: "c"})
	s.Chat.Largest = 5000
	m := at(t, s)
	all := talk(t, m, model.Request{Model: "gpt-4o", Messages: []msg.Message{seen(t, "small", 0)}}, 1)
	all = append(all[:2], msg.Message{Role: msg.User, Blocks: msg.Blocks{msg.Text{Text: "large"}, seen(t, "", 9000).Blocks[1]}})
	talk(t, m, model.Request{Model: "gpt-4o", Messages: all}, 2)
	last := s.Requests()[len(s.Requests())-1]
	if len(s.Refused()) != 1 || strings.Count(string(last.Body), "data:image") != 1 || strings.Count(string(last.Body), model.NoPicture) != 1 {
		t.Errorf("refused %q, last %s", s.Refused(), last.Body)
	}
}

func TestEveryPictureRefusedStillLeavesAConversation(t *testing.T) {
	var all []msg.Message
	for i := range 20 {
		all = append(all, seen(t, fmt.Sprint("picture ", i), 9000+i), msg.Say(msg.Assistant, "yes"))
	}
	s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"})
	s.Chat.Largest = 5000
	talk(t, at(t, s), model.Request{Model: "gpt-4o", Messages: append(all, msg.Say(msg.User, "so?"))}, 2)
	if n := len(s.Refused()); n == 0 || n > 4 {
		t.Errorf("refused %d times", n)
	}
}

func TestAServerThatWantsTheSidesToTakeTurnsGetsThem(t *testing.T) {
	// Another model's calls, with its ids, and words of the user where they come in between.
	r := model.Request{Model: "mistral-large", Tools: tools(), Messages: []msg.Message{
		msg.Say(msg.User, "begin"), msg.Say(msg.User, "a notice"), seen(t, "a picture", 0),
		{Role: msg.Assistant, Provider: "other", Model: "claude", Blocks: msg.Blocks{msg.Call{ID: "call00001", Given: "toolu_01AAAAAAAAAAAAAAAAAAAAAA", Name: "f", Args: "{}"}}},
		{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001", Blocks: seen(t, "see", 0).Blocks}, msg.Text{Text: "typed meanwhile"}}},
	}}
	s := modeltest.New(t, modeltest.Reply{Text: "I look.", Calls: []modeltest.Call{{ID: "A1b2C3d4E", Name: "f", Args: "{}"}}}, modeltest.Reply{Text: "Done."}, modeltest.Reply{Text: "Bye."})
	s.Chat.Nine, s.Chat.Turns = true, true
	talk(t, at(t, s), r, 3)
	all := s.Requests()
	if n := len(s.Refused()); n != 1 || !strings.Contains(string(all[len(all)-1].Body), `"id":"A1b2C3d4E"`) {
		t.Errorf("refused %q, last %s", s.Refused(), all[len(all)-1].Body)
	}
}
