package modeltest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

// noPNG is a page that was saved as a picture.
func noPNG() msg.Image { return msg.Image{MIME: "image/png", Data: []byte("<!doctype html><p>gone")} }

func TestAPictureThatIsRefusedDoesNotEndTheConversation(t *testing.T) {
	called := msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "call00001", Name: "f", Args: "{}"}}}
	yes := msg.Say(msg.Assistant, "yes")
	by := func(b ...msg.Block) msg.Message { return msg.Message{Role: msg.User, Blocks: b} }
	for _, cl := range clients() {
		for name, c := range map[string]struct {
			messages       []msg.Message
			refused, words int
		}{
			"by the user":  {[]msg.Message{by(picture(t)), yes, by(msg.Text{Text: "and"}, noPNG())}, 1, 1},
			"in a result":  {[]msg.Message{by(picture(t)), called, by(msg.Result{Call: "call00001", Blocks: msg.Blocks{noPNG()}})}, 1, 1},
			"below a good": {[]msg.Message{by(noPNG()), yes, by(picture(t))}, 2, 2}, // which goes first, as the last that came
		} {
			s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"})
			m := cl.make(t, s)
			r := model.Request{Model: cl.model, Tools: []model.Tool{tool("f")}, Messages: c.messages}
			for range 2 {
				if _, err := m.Stream(context.Background(), r, nil); err != nil {
					t.Fatalf("%s, %s: %v", cl.name, name, err)
				}
				r.Messages = append(r.Messages, yes, msg.Say(msg.User, "on"))
			}
			all := s.Requests()
			last := string(all[len(all)-1].Body)
			if len(s.Refused()) != c.refused || strings.Count(last, model.NoPicture) != c.words || strings.Contains(last, png) != (c.words == 1) {
				t.Errorf("%s, %s: refused %q, then %s", cl.name, name, s.Refused(), last)
			}
		}
	}
}

// The wordings were reported from services: https://github.com/google-gemini/gemini-cli/issues/27244
// https://github.com/NousResearch/hermes-agent/issues/69078
// https://github.com/langchain-ai/langchain-google/pull/684
func TestARefusalOfPicturesIsKnownByItsWords(t *testing.T) {
	for says, one := range map[string]bool{
		"Provided image is not valid.": true, "Invalid PNG image": true,
		"Image input modality is not enabled for models/m": false,
	} {
		for _, cl := range clients() {
			fault := modeltest.Fault{Kind: modeltest.FaultStatus, Status: http.StatusBadRequest, Body: `{"type":"error","error":{"type":"invalid_request_error","code":400,"status":"INVALID_ARGUMENT","message":"` + says + `"}}`}
			s := modeltest.New(t, modeltest.Reply{Fault: fault}, modeltest.Reply{Text: "a"})
			r := model.Request{Model: cl.model}
			for range 3 {
				r.Messages = append(r.Messages, msg.Message{Role: msg.User, Blocks: msg.Blocks{picture(t)}}, msg.Say(msg.Assistant, "yes"))
			}
			r.Messages[4].Blocks = msg.Blocks{msg.Image{MIME: "image/png", Data: append(picture(t).Data, 0)}}
			_, err := cl.make(t, s).Stream(context.Background(), model.Request{Model: cl.model, Messages: r.Messages[:5]}, nil)
			all := s.Requests()
			if n := strings.Count(string(all[len(all)-1].Body), model.NoPicture); err != nil || len(all) != 2 || n != map[bool]int{true: 1, false: 3}[one] {
				t.Errorf("%s, %s: %v after %d requests, %d pictures left out", cl.name, says, err, len(all), n)
			}
		}
	}
}

// A model's name stands in the sentence, as a part of the address.
func TestAModelWithPicturesInItsNameKeepsThem(t *testing.T) {
	for _, cl := range clients() {
		id := "imagen-vision-image"
		fault := modeltest.Fault{Kind: modeltest.FaultStatus, Status: http.StatusBadRequest, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"` + id + ` takes no such tool"}}`}
		s := modeltest.New(t, modeltest.Reply{Fault: fault}, modeltest.Reply{Text: "a"})
		_, err := cl.make(t, s).Stream(context.Background(), model.Request{Model: id, Messages: []msg.Message{{Role: msg.User, Blocks: msg.Blocks{picture(t)}}}}, nil)
		if err == nil || len(s.Requests()) != 1 {
			t.Errorf("%s: %v after %d requests", cl.name, err, len(s.Requests()))
		}
	}
}
