package openresponses

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/msg"
)

// What follows is transcribed from the examples that the API's publishers give, spaces and missing
// fields included. Where an example shows one event, others of the same page stand around it.

// https://platform.openai.com/docs/guides/function-calling#streaming
const weather = `{"type":"response.output_item.added","response_id":"resp_1234xyz","output_index":0,"item":{"type":"function_call","id":"fc_1234xyz","call_id":"call_1234xyz","name":"get_weather","arguments":""}}
{"type":"response.function_call_arguments.delta","response_id":"resp_1234xyz","item_id":"fc_1234xyz","output_index":0,"delta":"{\""}
{"type":"response.function_call_arguments.delta","response_id":"resp_1234xyz","item_id":"fc_1234xyz","output_index":0,"delta":"location"}
{"type":"response.function_call_arguments.delta","response_id":"resp_1234xyz","item_id":"fc_1234xyz","output_index":0,"delta":"\":\""}
{"type":"response.function_call_arguments.delta","response_id":"resp_1234xyz","item_id":"fc_1234xyz","output_index":0,"delta":"Paris"}
{"type":"response.function_call_arguments.delta","response_id":"resp_1234xyz","item_id":"fc_1234xyz","output_index":0,"delta":","}
{"type":"response.function_call_arguments.delta","response_id":"resp_1234xyz","item_id":"fc_1234xyz","output_index":0,"delta":" France"}
{"type":"response.function_call_arguments.delta","response_id":"resp_1234xyz","item_id":"fc_1234xyz","output_index":0,"delta":"\"}"}
{"type":"response.function_call_arguments.done","response_id":"resp_1234xyz","item_id":"fc_1234xyz","output_index":0,"arguments":"{\"location\":\"Paris, France\"}"}
{"type":"response.output_item.done","response_id":"resp_1234xyz","output_index":0,"item":{"type":"function_call","id":"fc_1234xyz","call_id":"call_1234xyz","name":"get_weather","arguments":"{\"location\":\"Paris, France\"}"}}`

// https://platform.openai.com/docs/api-reference/responses-streaming, one constant per heading or two.
const (
	created   = `{"type": "response.created", "response": {"id": "resp_67ccfcdd16748190a91872c75d38539e09e4d4aac714747c", "object": "response", "created_at": 1741487325, "status": "in_progress", "error": null, "incomplete_details": null, "output": [], "usage": null}, "sequence_number": 1}`
	queued    = `{"type": "response.queued", "response": {"id": "res_123", "status": "queued", "created_at": "2021-01-01T00:00:00Z", "updated_at": "2021-01-01T00:00:00Z"}, "sequence_number": 1}`
	completed = `{"type": "response.completed", "response": {"id": "resp_123", "object": "response", "created_at": 1740855869, "status": "completed", "error": null, "incomplete_details": null, "input": [], "instructions": null, "max_output_tokens": null, "model": "gpt-4o-mini-2024-07-18", "output": [{"id": "msg_123", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "In a shimmering forest", "annotations": []}]}], "previous_response_id": null, "reasoning_effort": null, "store": false, "temperature": 1, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1, "truncation": "disabled", "usage": {"input_tokens": 0, "output_tokens": 0, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 0}, "user": null, "metadata": {}}, "sequence_number": 1}`
	failure   = `{"type": "response.failed", "response": {"id": "resp_123", "object": "response", "created_at": 1740855869, "status": "failed", "error": {"code": "server_error", "message": "The model failed to generate a response."}, "incomplete_details": null, "instructions": null, "output": [], "usage": null, "user": null, "metadata": {}}}`
	cutShort  = `{"type": "response.incomplete", "response": {"id": "resp_123", "object": "response", "created_at": 1740855869, "status": "incomplete", "error": null,  "incomplete_details": {"reason": "max_tokens"}, "output": [], "usage": null, "user": null, "metadata": {}}, "sequence_number": 1}`
	mistake   = `{"type": "error", "code": "ERR_SOMETHING", "message": "Something went wrong", "param": null, "sequence_number": 1}`

	messageAdded = `{"type": "response.output_item.added", "output_index": 0, "item": {"id": "msg_123", "status": "in_progress", "type": "message", "role": "assistant", "content": []}, "sequence_number": 1}`
	messageDone  = `{"type": "response.output_item.done", "output_index": 0, "item": {"id": "msg_123", "status": "completed", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "In a shimmering forest", "annotations": []}]}, "sequence_number": 1}`
	partAdded    = `{"type": "response.content_part.added", "item_id": "msg_123", "output_index": 0, "content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}, "sequence_number": 1}`
	partDone     = `{"type": "response.content_part.done", "item_id": "msg_123", "output_index": 0, "content_index": 0, "sequence_number": 1, "part": {"type": "output_text", "text": "In a shimmering forest", "annotations": []}}`
	textDelta    = `{"type": "response.output_text.delta", "item_id": "msg_123", "output_index": 0, "content_index": 0, "delta": "In", "sequence_number": 1}`
	textDone     = `{"type": "response.output_text.done", "item_id": "msg_123", "output_index": 0, "content_index": 0, "text": "In a shimmering forest", "sequence_number": 1}`
	refusalDelta = `{"type": "response.refusal.delta", "item_id": "msg_123", "output_index": 0, "content_index": 0, "delta": "refusal text so far", "sequence_number": 1}`
	annotation   = `{"type": "response.output_text.annotation.added", "item_id": "item-abc", "output_index": 0, "content_index": 0, "annotation_index": 0, "annotation": {"type": "text_annotation", "text": "This is a test annotation", "start": 0, "end": 10}, "sequence_number": 1}`
	search       = `{"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_123", "sequence_number": 0}`

	summaryAdded = `{"type": "response.reasoning_summary_part.added", "item_id": "rs_6806bfca0b2481918a5748308061a2600d3ce51bdffd5476", "output_index": 0, "summary_index": 0, "part": {"type": "summary_text", "text": ""}, "sequence_number": 1}`
	summaryDelta = `{"type": "response.reasoning_summary_text.delta", "item_id": "rs_6806bfca0b2481918a5748308061a2600d3ce51bdffd5476", "output_index": 0, "summary_index": 0, "delta": "**Responding to a greeting**\n\nThe user just said, \"Hello!\"", "sequence_number": 1}`
	summaryDone  = `{"type": "response.reasoning_summary_text.done", "item_id": "rs_6806bfca0b2481918a5748308061a2600d3ce51bdffd5476", "output_index": 0, "summary_index": 0, "text": "**Responding to a greeting**\n\nThe user just said, \"Hello!\"", "sequence_number": 1}`
	thoughtDelta = `{"type": "response.reasoning_text.delta", "item_id": "rs_123", "output_index": 0, "content_index": 0, "delta": "The", "sequence_number": 1}`
)

// https://www.openresponses.org/specification#streaming-http-responses: its text delta has an index
// of an item that nothing announced, and its streams end with a mark of their own.
const specified = `{ "type":"response.output_text.delta","sequence_number":10,"item_id":"msg_07315d23576898080068e95daa2e34819685fb0a98a0503f78","output_index":0,"content_index":0,"delta":" a","logprobs":[],"obfuscation":"Wd6S45xQ7SyQLT"}`

func TestThePublishedExamplesAreRead(t *testing.T) {
	said := func(s string) msg.Blocks { return msg.Blocks{msg.Text{Text: s}} }
	for name, c := range map[string]struct {
		events []string
		want   model.Reply
	}{
		"a function call": {append(lines(weather), completed), model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{
			msg.Call{Given: "call_1234xyz", Name: "get_weather", Args: `{"location":"Paris, France"}`}}}},
		"a message":           {[]string{queued, created, messageAdded, partAdded, textDelta, textDone, partDone, messageDone, completed}, model.Reply{Stop: model.StopEnd, Blocks: said("In a shimmering forest")}},
		"only the last event": {[]string{completed}, model.Reply{Stop: model.StopEnd, Blocks: said("In a shimmering forest")}},
		"one text delta":      {[]string{textDelta, annotation, search, cutShort}, model.Reply{Stop: model.StopLength, Blocks: said("In")}},
		"a refusal":           {[]string{messageAdded, refusalDelta, `{"type":"response.completed","response":{"status":"completed"}}`}, model.Reply{Stop: model.StopRefusal, Blocks: said("refusal text so far")}},
		"cut":                 {[]string{created, cutShort}, model.Reply{Stop: model.StopLength}},
		"a summary":           {[]string{summaryAdded, summaryDelta, summaryDone, cutShort}, model.Reply{Stop: model.StopLength, Blocks: msg.Blocks{msg.Reasoning{Text: "**Responding to a greeting**\n\nThe user just said, \"Hello!\""}}}},
		"open reasoning":      {[]string{thoughtDelta, cutShort}, model.Reply{Stop: model.StopLength, Blocks: msg.Blocks{msg.Reasoning{Text: "The"}}}},
		"specified":           {[]string{specified, `{"type":"response.completed","response":{}}`, "[DONE]"}, model.Reply{Stop: model.StopEnd, Blocks: said(" a")}},
	} {
		got, err := stream(t, c.events...)
		if d := cmp.Diff(c.want, bare(got)); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	for name, c := range map[string]struct {
		event string
		kind  model.Kind
	}{"failed": {failure, model.KindServer}, "error": {mistake, model.KindServer}} {
		got, err := stream(t, created, messageAdded, textDelta, c.event)
		if kindOf(err) != c.kind || got.Blocks.Text() != "In" || got.Stop != "" {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}
