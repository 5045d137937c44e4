package modeltest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/model/openresponses"
	"jig/internal/msg"
)

func TestResponsesRefusesWhatTheReferenceRefuses(t *testing.T) {
	const frame = `{"model":"m","store":false,"input":[{"role":"user","content":"hi"}…]}`
	const call = `,{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	const answer = `,{"type":"function_call_output","call_id":"c1","output":"ok"}`
	const thought = `,{"type":"reasoning","id":"rs_9","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`
	of := func(name, settings string) string { return `{"model":"` + name + `","input":"hi",` + settings + `}` }
	with := func(settings string) string { return of("m", settings) }
	said := func(fields string) string { return `,{"type":"message","role":"assistant",` + fields + `}` }
	tool := func(fields string) string {
		return with(`"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false` + fields + `}]`)
	}
	schema := func(s, strict string) string {
		return with(`"tools":[{"type":"function","name":"f","parameters":` + s + strict + `}]`)
	}
	image := func(fields string) string {
		return `,{"role":"user","content":[{"type":"input_image",` + fields + `}]}`
	}
	refusals(t, modeltest.Responses, frame, []refusal{
		{"malformed", `{"model":`, "could not parse the JSON body"},
		{"no model", `{"input":"hi"}`, "Missing required parameter: 'model'."},
		{"no input", `{"model":"m"}`, "Missing required parameter: 'input'."},
		{"input a number", `{"model":"m","input":7}`, "Invalid type for 'input': expected one of a string or array of objects, but got an integer"},
		{"item not an object", `,"x"`, "Invalid type for 'input[1]'"},
		{"item without type", `,{"content":"x"}`, "Missing required parameter: 'input[1].type'."},
		{"item unknown", `,{"type":"dream"}`, "Invalid value: 'dream'."},
		{"unknown key", with(`"max_tokens":100`), "Unknown parameter: 'max_tokens'."},
		{"messages", `{"model":"m","input":"x","messages":[]}`, "Unknown parameter: 'messages'."},
		{"unknown role", `,{"role":"tool","content":"x"}`, "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', 'user'."},
		{"no content", `,{"role":"user"}`, "Missing required parameter: 'input[1].content'."},
		{"content a number", `,{"role":"user","content":7}`, "Invalid type for 'input[1].content'"},
		{"message with an unknown key", `,{"role":"user","content":"x","name":"y"}`, "Unknown parameter: 'input[1].name'."},
		{"phase of a user", `,{"role":"user","content":"x","phase":"commentary"}`, "Unknown parameter: 'input[1].phase'."},
		{"part without type", `,{"role":"user","content":[{"text":"x"}]}`, "Missing required parameter: 'input[1].content[0].type'."},
		{"chat's part", `,{"role":"user","content":[{"type":"text","text":"x"}]}`, "Invalid value: 'text'. Supported values are: 'input_text'"},
		{"the user's part by the assistant", said(`"content":[{"type":"input_text","text":"x"}]`), "Invalid value: 'input_text'. Supported values are: 'output_text', 'refusal'."},
		{"part without text", `,{"role":"user","content":[{"type":"input_text"}]}`, "Missing required parameter: 'input[1].content[0].text'."},
		{"message with a strange id", said(`"id":"item_1","status":"completed","content":[]`), "Expected an ID that begins with 'msg'."},
		{"message with an id, not whole", said(`"id":"msg_1","content":"x"`), "Missing required parameter: 'input[1].status'."},
		{"message with an id, plain", said(`"id":"msg_1","status":"completed","content":"x"`), "Invalid type for 'input[1].content': expected an array of objects"},
		{"message with an id, no annotations", said(`"id":"msg_1","status":"completed","content":[{"type":"output_text","text":"x"}]`), "Missing required parameter: 'input[1].content[0].annotations'."},
		{"image of chat's form", image(`"image_url":{"url":"data:image/png;base64,` + png + `"}`), "Invalid type for 'input[1].content[0].image_url': expected a string, but got an object"},
		{"image of a strange kind", image(`"image_url":"data:image/bmp;base64,` + png + `"`), "unsupported image"},
		{"image broken", image(`"image_url":"data:image/png;base64,***"`), "Invalid base64"},
		{"image in strange detail", image(`"detail":"huge","image_url":"data:image/png;base64,` + png + `"`), "Invalid value: 'huge'."},
		{"result without a call", answer, "No tool call found for function call output with call_id c1."},
		{"result before its call", answer + call, "No tool call found for function call output with call_id c1."},
		{"call without result", call, "No tool output found for function call c1."},
		{"result twice", call + answer + answer, "Duplicate function call output with call_id c1."},
		{"call id repeated", call + answer + call + answer, "Duplicate 'call_id': c1"},
		{"call without call_id", `,{"type":"function_call","id":"fc_1","name":"f","arguments":"{}"}`, "Missing required parameter: 'input[1].call_id'."},
		{"call with chat's id", strings.Replace(call, `"call_id"`, `"id":"call_1","call_id"`, 1), "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'."},
		{"call id too long", strings.Replace(call, "c1", strings.Repeat("x", 65), 1), "string too long. Expected a string with maximum length 64, but got a string with length 65"},
		{"call id empty", strings.Replace(call, "c1", "", 1), "empty string"},
		{"call with a bad name", strings.Replace(call, `"f"`, `"a.b"`, 1), "string does not match pattern"},
		{"call with arguments not a string", strings.Replace(call, `"{}"`, `{}`, 1), "Invalid type for 'input[1].arguments': expected a string, but got an object"},
		{"call with a strange status", strings.Replace(call, `"name"`, `"status":"done","name"`, 1), "Invalid value: 'done'."},
		{"result without output", call + `,{"type":"function_call_output","call_id":"c1"}`, "Missing required parameter: 'input[2].output'."},
		{"result with is_error", call + strings.Replace(answer, `"output"`, `"is_error":true,"output"`, 1), "Unknown parameter: 'input[2].is_error'."},
		{"result with the assistant's part", call + strings.Replace(answer, `"ok"`, `[{"type":"output_text","text":"x"}]`, 1), "Invalid value: 'output_text'."},
		{"reasoning without id", strings.Replace(thought, `"id":"rs_9",`, "", 1), "Missing required parameter: 'input[1].id'."},
		{"reasoning without summary", strings.Replace(thought, `"summary":[],`, "", 1), "Missing required parameter: 'input[1].summary'."},
		{"reasoning with a plain summary", strings.Replace(thought, `"summary":[]`, `"summary":"x"`, 1), "Invalid type for 'input[1].summary'"},
		{"reasoning with chat's key", strings.Replace(thought, `"summary"`, `"reasoning_content":"x","summary"`, 1), "Unknown parameter: 'input[1].reasoning_content'."},
		{"reasoning at the end", thought, "Item 'rs_9' of type 'reasoning' was provided without its required following item."},
		{"reasoning before the user", thought + `,{"role":"user","content":"x"}`, "without its required following item"},
		{"reasoning made up", strings.Replace(thought, `"summary"`, `"encrypted_content":"x","summary"`, 1) + said(`"content":"x"`), "The encrypted content for item rs_9 could not be verified."},
		{"stream not a boolean", with(`"stream":"yes"`), "Invalid type for 'stream': expected a boolean"},
		{"chat's stream options", with(`"stream":true,"stream_options":{"include_usage":true}`), "Unknown parameter: 'stream_options.include_usage'."},
		{"stream options without stream", with(`"stream_options":{}`), "only allowed when 'stream' is enabled"},
		{"include unknown", with(`"include":["reasoning"]`), "Invalid value: 'reasoning'."},
		{"earlier response", with(`"previous_response_id":"resp_1"`), "Previous response with id 'resp_1' not found."},
		{"temperature too high", with(`"temperature":2.1`), "Invalid 'temperature': decimal above maximum value."},
		{"top_p negative", with(`"top_p":-1`), "Invalid 'top_p': decimal below minimum value."},
		{"max output 15", with(`"max_output_tokens":15`), "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead."},
		{"effort unknown", with(`"reasoning":{"effort":"extreme"}`), "Invalid value: 'extreme'."},
		{"effort of chat's", with(`"reasoning_effort":"low"`), "Unknown parameter: 'reasoning_effort'."},
		{"reasoning unknown", with(`"reasoning":{"budget":1}`), "Unknown parameter: 'reasoning.budget'."},
		{"summary unknown", with(`"reasoning":{"summary":"none"}`), "Invalid value: 'none'."},
		{"effort of another model", of("gpt-5.1", `"reasoning":{"effort":"minimal"}`), "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', 'high'."},
		{"effort for a plain model", of("gpt-4o", `"reasoning":{"effort":"low"}`), "Unsupported parameter: 'reasoning.effort' is not supported with this model."},
		{"thoughts of a plain model", of("gpt-4o", `"include":["reasoning.encrypted_content"]`), "Encrypted content is not supported with this model."},
		{"temperature while it reasons", of("gpt-5.2", `"temperature":0.5`), "Unsupported parameter: 'temperature' is not supported with this model."},
		{"chat's tool", with(`"tools":[{"type":"function","function":{"name":"f"}}]`), "Unknown parameter: 'tools[0].function'."},
		{"tool without type", with(`"tools":[{"name":"f"}]`), "Missing required parameter: 'tools[0].type'."},
		{"tool without parameters", with(`"tools":[{"type":"function","name":"f"}]`), "Missing required parameter: 'tools[0].parameters'."},
		{"tool with an unknown key", tool(`,"input_schema":{}`), "Unknown parameter: 'tools[0].input_schema'."},
		{"tool with a number for a description", tool(`,"description":1`), "Invalid type for 'tools[0].description'"},
		{"tool choice unknown", with(`"tool_choice":"maybe"`), "Invalid value: 'maybe'."},
		{"schema without type", schema(`{"properties":{}}`, `,"strict":false`), `got 'type: "None"'`},
		{"schema without properties", schema(`{"type":"object"}`, `,"strict":false`), "object schema missing properties"},
		{"schema not strict by default", schema(`{"type":"object","properties":{"a":{}}}`, ``), "'additionalProperties' is required to be supplied and to be false."},
		{"schema strict with an option", schema(`{"type":"object","additionalProperties":false,"properties":{"a":{}}}`, `,"strict":true`), "Missing 'a'."},
	})
}

func TestWhatResponsesAllowsIsAllowed(t *testing.T) {
	for name, body := range map[string]string{
		"a string":              `{"model":"gpt-4o","input":"hi","instructions":"Be brief.","max_output_tokens":16,"temperature":0,"top_p":1}`,
		"roles":                 `{"model":"m","input":[{"role":"system","content":"a"},{"role":"developer","content":"b"},{"type":"message","role":"user","content":[{"type":"input_text","text":"c"}]},{"role":"assistant","content":"d"}]}`,
		"words between":         `{"model":"m","input":[{"type":"function_call","call_id":"1","name":"f","arguments":"{"},{"role":"assistant","content":"x"},{"role":"user","content":"y"},{"type":"function_call_output","call_id":"1","output":""}]}`,
		"a picture in a result": `{"model":"m","input":[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_image","image_url":"data:image/png;base64,` + png + `"}]}]}`,
		"a strict tool":         `{"model":"m","input":"x","tools":[{"type":"function","name":"f","strict":true,"parameters":{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}}],"tool_choice":"required"}`,
		"stored reasoning":      `{"model":"m","store":true,"input":[{"type":"reasoning","id":"rs_9","summary":[]},{"role":"assistant","content":"x"}]}`,
	} {
		s := modeltest.New(t, modeltest.Reply{Text: "ok"})
		if status, message := post(t, s, modeltest.Responses, body); status != 200 {
			t.Errorf("%s: %d %s", name, status, message)
		}
	}
}

// given plays one reply and returns its items, as the server wants them back.
func given(t *testing.T, s *modeltest.Server) []string {
	t.Helper()
	s.IgnoreStream = true
	m := open(t, openresponses.New(openresponses.Options{Provider: "p", URL: s.URL, Key: modeltest.Key}))
	reply, err := m.Stream(context.Background(), model.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range reply.Blocks {
		switch b := b.(type) {
		case msg.Reasoning:
			out = append(out, string(b.Raw))
		case msg.Text:
			out = append(out, string(b.Raw))
		case msg.Call:
			out = append(out, string(b.Raw))
		}
	}
	return out
}

func TestReasoningAndWhatItLedToBelongTogether(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Reasoning: "hm", Calls: []modeltest.Call{{ID: "c1", Name: "f", Args: "{}"}}})
	items := given(t, s)
	thought := items[0]
	var h struct{ ID string }
	if err := json.Unmarshal([]byte(items[1]), &h); err != nil {
		t.Fatal(err)
	}
	call := `{"type":"function_call","id":"` + h.ID + `","call_id":"c1","name":"f","arguments":"{}"}`
	anonymous := `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	answer := `{"type":"function_call_output","call_id":"c1","output":"ok"}`
	for name, c := range map[string]struct {
		input  []string
		status int
		want   string
	}{
		"as given":              {[]string{thought, call, answer}, 200, ""},
		"neither":               {[]string{anonymous, answer}, 200, ""},
		"the call alone":        {[]string{call, answer}, 400, "of type 'function_call' was provided without its required 'reasoning' item: 'rs_1a'."},
		"a call without its id": {[]string{thought, anonymous, answer}, 400, "without its required following item"},
		"words in between":      {[]string{thought, `{"role":"assistant","content":"x"}`, call, answer}, 400, "without its required following item"},
		"altered":               {[]string{strings.Replace(thought, `"encrypted_content":"`, `"encrypted_content":"A`, 1), call, answer}, 400, "could not be verified"},
		"another's":             {[]string{strings.Replace(thought, `rs_1a`, `rs_8a`, 1), call, answer}, 400, "could not be verified"},
		"without its content":   {[]string{`{"type":"reasoning","id":"rs_1a","summary":[],"encrypted_content":null}`, call, answer}, 404, "Items are not persisted when `store` is set to false."},
	} {
		s.Add(modeltest.Reply{Text: "ok"})
		status, message := post(t, s, modeltest.Responses, `{"model":"m","store":false,"input":[`+strings.Join(c.input, ",")+`]}`)
		if status != c.status || !strings.Contains(message, c.want) {
			t.Errorf("%s: %d %q", name, status, message)
		}
	}
}

func TestAFailedReplyIsAnErrorWithWhatHadCome(t *testing.T) {
	for body, want := range map[string]model.Kind{
		"": model.KindServer, `{"code":"rate_limit_exceeded","message":"slow down"}`: model.KindLimit, `{"code":"insufficient_quota","message":"none left"}`: model.KindQuota,
		`{"code":"context_length_exceeded","message":"too long"}`: model.KindOverflow, `{"code":"invalid_prompt","message":"no"}`: model.KindRequest,
	} {
		s := modeltest.New(t, modeltest.Reply{Text: "some words", Fault: modeltest.Fault{Kind: modeltest.FaultFailed, After: 5, Body: body}})
		got, err := ask(open(t, openresponses.New(openresponses.Options{URL: s.URL, Key: modeltest.Key})), "m")
		sentence(t, "failed "+body, err, want)
		if got.Blocks.Text() != "some w" || got.Stop != "" {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
