package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/cost"
	"jig/internal/model/modeltest"
	"jig/internal/money"
	"jig/internal/msg"
)

func at(t *testing.T, s *modeltest.Server) *Model {
	m := New(Options{Provider: "p", URL: s.URL, Key: modeltest.Key})
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// talk lets a model and a make-believe tool work, and returns the conversation.
func talk(t *testing.T, m *Model, r model.Request, rounds int) []msg.Message {
	t.Helper()
	for i := range rounds {
		got, err := m.Stream(context.Background(), r, nil)
		if err != nil {
			t.Fatalf("round %d: %v", i+1, err)
		}
		said, heard := msg.Message{Role: msg.Assistant, Provider: "p", Model: r.Model}, msg.Message{Role: msg.User}
		for n, b := range got.Blocks {
			if c, ok := b.(msg.Call); ok {
				c.ID = fmt.Sprintf("call%03d%02d", i, n)
				b = c
				heard.Blocks = append(heard.Blocks, msg.Result{Call: c.ID, Blocks: msg.Blocks{msg.Text{Text: "done"}}})
			}
			said.Blocks = append(said.Blocks, b)
		}
		if heard.Blocks == nil {
			heard = msg.Say(msg.User, "go on")
		}
		r.Messages = append(r.Messages, said, heard)
	}
	return r.Messages
}

func tools() []model.Tool { return []model.Tool{{Name: "f"}} }

func TestReasoningThatIsNotRecognizedAnyMoreDoesNotEndTheConversation(t *testing.T) {
	// As it is after a change of the account: the signature is another's, the model the same.
	stale := func(id string) []msg.Message {
		return []msg.Message{
			msg.Say(msg.User, "begin"),
			{Role: msg.Assistant, Provider: "p", Model: id, Blocks: msg.Blocks{
				msg.Reasoning{Text: "old", Raw: []byte(`{"type":"thinking","thinking":"old thought","signature":"stale"}`)},
				msg.Reasoning{Raw: []byte(`{"type":"redacted_thinking","data":"STALE"}`)}, msg.Call{ID: "call00001", Name: "f", Args: "{}"},
			}},
			{Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001"}}},
		}
	}
	for _, id := range []string{"claude-haiku-4-5", "claude-opus-5"} {
		s := modeltest.New(t,
			modeltest.Reply{Reasoning: "new", Text: "I look.", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: "{}"}}},
			modeltest.Reply{Reasoning: "newer", Text: "Done."}, modeltest.Reply{Text: "Bye."})
		talk(t, at(t, s), model.Request{Model: id, Reasoning: "medium", Tools: tools(), Messages: stale(id)}, 3)
		all := s.Requests()
		last := string(all[len(all)-1].Body)
		if len(all) != 4 || len(s.Refused()) != 1 || strings.Contains(strings.ToLower(last), "stale") || !strings.Contains(last, `"thinking":"newer"`) {
			t.Errorf("%s: %d requests, refused %q, last %s", id, len(all), s.Refused(), last)
		}
	}
}

func TestAServerThatDoesNotKnowCacheMarksIsSentNone(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"})
	s.Unmarked = true
	talk(t, at(t, s), model.Request{Model: "imitation", System: "Be brief.", Tools: tools(), Messages: []msg.Message{msg.Say(msg.User, "hi")}}, 2)
	if n := len(s.Requests()); n != 3 || len(s.Refused()) != 1 {
		t.Errorf("%d requests, refused %q", n, s.Refused())
	}
}

func TestOtherRefusalsAreErrorsAtOnce(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "a"})
	hot := 0.3
	_, err := at(t, s).Stream(context.Background(), model.Request{Model: "claude-opus-5", Temperature: &hot, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
	if kindOf(err) != model.KindRequest || len(s.Requests()) != 1 || !strings.Contains(err.Error(), "temperature") {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
}

func TestAPausedReplyIsContinuedWithWhatItSaid(t *testing.T) {
	hosted := []string{`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"jig 😀"}}`, `{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"https://h","encrypted_content":"EQ=="}]}`}
	usage := msg.Usage{Input: 10, Output: 4, CacheRead: 3}
	for _, whole := range []bool{false, true} {
		s := modeltest.New(t,
			modeltest.Reply{Reasoning: "hm", Hosted: hosted, Text: "I search. ", Stop: "pause_turn", Usage: usage},
			modeltest.Reply{Hosted: hosted[:1], Stop: "pause_turn", Usage: usage},
			modeltest.Reply{Text: "Found.", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: "{}"}}, Usage: usage},
			modeltest.Reply{Text: "Done."})
		s.IgnoreStream = whole
		told := ""
		r := model.Request{Model: "claude-opus-5", Tools: tools(), Messages: []msg.Message{msg.Say(msg.User, "search")}}
		got, err := at(t, s).Stream(context.Background(), r, func(d model.Delta) { told += d.Text })
		if err != nil {
			t.Fatal(err, s.Refused())
		}
		want := model.Reply{Stop: model.StopCalls, Usage: msg.Usage{Input: 30, Output: 12, CacheRead: 9}, Blocks: msg.Blocks{
			got.Blocks[0], msg.Text{Text: "I search. "}, msg.Text{Text: "Found."}, msg.Call{Given: "1", Name: "f", Args: "{}"},
		}}
		if d := cmp.Diff(want, got); d != "" || told != "I search. Found." && !whole {
			t.Errorf("%s\ntold %q", d, told)
		}
		r.Messages = append(r.Messages, msg.Message{Role: msg.Assistant, Provider: "p", Model: r.Model, Blocks: got.Blocks}, msg.Say(msg.User, "on"))
		r.Messages[1].Blocks = r.Messages[1].Blocks[:3]
		if _, err := at(t, s).Stream(context.Background(), r, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestAReplyThatAlwaysPausesEnds(t *testing.T) {
	var script []modeltest.Reply
	for range 50 {
		script = append(script, modeltest.Reply{Text: "wait ", Stop: "pause_turn"})
	}
	s := modeltest.New(t, script...)
	got, err := at(t, s).Stream(context.Background(), model.Request{Model: "claude-opus-5", Messages: []msg.Message{msg.Say(msg.User, "search")}}, nil)
	var e *model.Error
	if n := len(s.Requests()); !errors.As(err, &e) || !e.Final || !strings.Contains(err.Error(), "paused its reply 11 times") || n != mostPauses+1 || got.Stop != "" {
		t.Errorf("%v after %d requests, %+v", err, n, got)
	}
	// Nor is one whole that was paused before it said anything.
	s = modeltest.New(t, modeltest.Reply{Text: " ", Stop: "pause_turn"}, modeltest.Reply{Stop: "pause_turn"})
	for range 2 {
		if got, err := at(t, s).Stream(context.Background(), model.Request{Model: "claude-opus-5", Messages: []msg.Message{msg.Say(msg.User, "search")}}, nil); err == nil || got.Stop != "" {
			t.Errorf("%v %+v", err, got)
		}
	}
}

// A reply that pauses costs a request each time, as large as its limit.
func TestEachContinuationOfAPausedReplyIsMetered(t *testing.T) {
	var script []modeltest.Reply
	for _, n := range []int{15_000, 15_000, 15_000, 4000, 1, 1, 1, 1, 1, 1, 1} { // within the limits they are given
		script = append(script, modeltest.Reply{Text: "wait ", Stop: "pause_turn", Usage: msg.Usage{Input: 1000, Output: n}})
	}
	s := modeltest.New(t, script...)
	limit := money.Dollar / 2
	l := cost.NewLedger(&limit, nil)
	m := cost.Meter(at(t, s), l, cost.Options{Price: money.Price{Input: 2_000_000, Output: 10_000_000}, Name: "--max-cost", Own: MaxOutput("claude-opus-5")})
	_, err := m.Stream(context.Background(), model.Request{Model: "claude-opus-5", Messages: []msg.Message{msg.Say(msg.User, "search")}}, nil)
	all := s.Requests()
	if kindOf(err) != model.KindQuota || len(all) != 4 || l.Account().Spent > limit || l.Account().Held != 0 {
		t.Errorf("%v after %d requests, %+v", err, len(all), l.Account())
	}
	last := 0
	for _, q := range all {
		var body struct {
			Most int `json:"max_tokens"`
		}
		if json.Unmarshal(q.Body, &body) != nil || body.Most <= 0 || last > 0 && body.Most >= last {
			t.Errorf("%s", q.Body)
		}
		last = body.Most
	}
}

func TestWhatMayNotBeContinuedEndsWithTheReason(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "wait ", Stop: "pause_turn"}, modeltest.Reply{Text: "no"})
	enough := errors.New("enough")
	r := model.Request{Model: "claude-opus-5", Messages: []msg.Message{msg.Say(msg.User, "search")}, More: func(soFar model.Reply, bytes int) (int, error) {
		if soFar.Blocks.Text() != "wait " || bytes < len("wait ") {
			t.Errorf("%+v, %d", soFar, bytes)
		}
		return 0, enough
	}}
	if got, err := at(t, s).Stream(context.Background(), r, nil); !errors.Is(err, enough) || got.Stop != "" || len(s.Requests()) != 1 {
		t.Errorf("%v %+v", err, got)
	}
}

func TestARefusalWithoutWordsIsExplained(t *testing.T) {
	for _, c := range []struct {
		reply modeltest.Reply
		want  string
	}{
		{modeltest.Reply{Stop: "refusal", Explained: "It is against the policy."}, "It is against the policy."},
		{modeltest.Reply{Refusal: "I will not.", Explained: "It is against the policy."}, "I will not."},
		{modeltest.Reply{Stop: "refusal"}, ""},
	} {
		for _, whole := range []bool{false, true} {
			s := modeltest.New(t, c.reply)
			s.IgnoreStream = whole
			got, err := at(t, s).Stream(context.Background(), model.Request{Model: "claude-opus-5", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
			if err != nil || got.Stop != model.StopRefusal || got.Blocks.Text() != c.want {
				t.Errorf("%+v: %+v %v", c.reply, got, err)
			}
		}
	}
}

// picture is a picture of a size in pixels.
func picture(t *testing.T, w, h int) msg.Image {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	return msg.Image{MIME: "image/png", Data: b.Bytes()}
}

func TestAPictureOverALimitDoesNotEndTheConversation(t *testing.T) {
	seen := func(x msg.Image) msg.Message { return msg.Message{Role: msg.User, Blocks: msg.Blocks{x}} }
	var many []msg.Message
	for i := range 21 {
		many = append(many, seen(picture(t, 2100, 10+i)), msg.Say(msg.Assistant, "yes"))
	}
	for name, c := range map[string]struct {
		messages []msg.Message
		left     int
	}{
		"too wide":         {[]msg.Message{seen(picture(t, 10, 10)), msg.Say(msg.Assistant, "yes"), seen(picture(t, 8001, 10))}, 1},
		"in a result":      {[]msg.Message{msg.Say(msg.User, "look"), {Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "call00001", Name: "f", Args: "{}"}}}, {Role: msg.User, Blocks: msg.Blocks{msg.Result{Call: "call00001", Blocks: msg.Blocks{picture(t, 8001, 10)}}}}}, 0},
		"one too many":     {many[:41], 20},
		"no picture":       {[]msg.Message{seen(picture(t, 10, 10)), msg.Say(msg.Assistant, "yes"), seen(msg.Image{MIME: "image/png", Data: []byte("<html>")})}, 1},
		"another's format": {[]msg.Message{seen(msg.Image{MIME: "image/svg+xml", Data: []byte("<svg/>")})}, 0},
	} {
		s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"})
		talk(t, at(t, s), model.Request{Model: "claude-opus-5", Tools: tools(), Messages: c.messages}, 2)
		all := s.Requests()
		last := string(all[len(all)-1].Body)
		if len(s.Refused()) != 1 || strings.Count(last, `"base64"`) != c.left || !strings.Contains(last, model.NoPicture) {
			t.Errorf("%s: refused %q, %d pictures left", name, s.Refused(), strings.Count(last, `"base64"`))
		}
	}
}

func TestAThoughtThatIsRefusedWhereItStandsIsLeftOut(t *testing.T) {
	for _, says := range []string{
		"messages.1: The final block in an assistant message cannot be `thinking`.",
		"messages.1.content.0: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.",
	} {
		body := `{"type":"error","error":{"type":"invalid_request_error","message":"` + says + `"}}`
		s := modeltest.New(t, modeltest.Reply{Reasoning: "hm", Text: "a"},
			modeltest.Reply{Fault: modeltest.Fault{Kind: modeltest.FaultStatus, Status: http.StatusBadRequest, Body: body}}, modeltest.Reply{Text: "b"})
		talk(t, at(t, s), model.Request{Model: "claude-opus-5", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, 2)
		all := s.Requests()
		if len(all) != 3 || !strings.Contains(string(all[1].Body), `"thinking":"hm"`) || strings.Contains(string(all[2].Body), `"thinking":"hm"`) {
			t.Errorf("%s: %d requests", says, len(all))
		}
	}
}
