package modeltest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"jig/internal/model/modeltest"
)

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// post sends a body as the dialect's own client would and returns status and error message.
func post(t *testing.T, s *modeltest.Server, d modeltest.Dialect, body string, header ...string) (int, string) {
	t.Helper()
	path := "/v1/chat/completions"
	switch d {
	case modeltest.Messages:
		path = "/v1/messages"
	case modeltest.Responses:
		path = "/v1/responses"
	}
	r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if d == modeltest.Messages {
		r.Header.Set("anthropic-version", "2023-06-01")
		r.Header.Set("x-api-key", modeltest.Key)
	} else {
		r.Header.Set("Authorization", "Bearer "+modeltest.Key)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Del(header[i])
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	var e struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if res.StatusCode != http.StatusOK && (json.Unmarshal(b, &e) != nil || e.Error.Message == "" || e.Error.Type == "" || (d == modeltest.Messages) != (e.Type == "error")) {
		t.Errorf("not the provider's error shape: %s", b)
	}
	return res.StatusCode, e.Error.Message
}

type refusal struct{ name, body, want string }

func refusals(t *testing.T, d modeltest.Dialect, frame string, cases []refusal) {
	t.Helper()
	s := modeltest.New(t)
	for _, c := range cases {
		body := c.body
		if !strings.HasPrefix(body, "{") {
			body = strings.Replace(frame, "…", body, 1)
		}
		if !json.Valid([]byte(body)) && c.name != "malformed" {
			t.Errorf("%s: the case itself is malformed: %s", c.name, body)
		}
		status, message := post(t, s, d, body)
		if status != 400 || !strings.Contains(message, c.want) {
			t.Errorf("%s: %d %q, want %q", c.name, status, message, c.want)
		}
	}
}

func TestChatRefusesWhatTheReferenceRefuses(t *testing.T) {
	const frame = `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}…]}`
	const call = `,{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const answer = `,{"role":"tool","tool_call_id":"c1","content":"ok"}`
	with := func(settings string) string {
		return `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],` + settings + `}`
	}
	tools := func(f string) string { return with(`"tools":[{"type":"function","function":` + f + `}]`) }
	refusals(t, modeltest.Chat, frame, []refusal{
		{"malformed", `{"model":`, "could not parse the JSON body"},
		{"no model", `{"messages":[]}`, "you must provide a model parameter"},
		{"no messages", `{"model":"m"}`, "Missing required parameter: 'messages'."},
		{"empty messages", `{"model":"m","messages":[]}`, "Invalid 'messages': empty array."},
		{"messages not a list", `{"model":"m","messages":"x"}`, "Invalid type for 'messages': expected an array of objects, but got a string"},
		{"message not an object", `,"x"`, "Invalid type for 'messages[1]'"},
		{"no role", `,{"content":"x"}`, "Missing required parameter: 'messages[1].role'."},
		{"unknown role", `,{"role":"robot","content":"x"}`, "Invalid value: 'robot'."},
		{"no content", `,{"role":"user"}`, "Invalid value for 'content': expected a string, got null."},
		{"assistant says nothing", `,{"role":"assistant","content":null}`, "Invalid value for 'content': expected a string, got null."},
		{"content a number", `,{"role":"user","content":7}`, "Invalid type for 'messages[1].content'"},
		{"content empty list", `,{"role":"user","content":[]}`, "Invalid 'messages[1].content': empty array."},
		{"part without type", `,{"role":"user","content":[{"text":"x"}]}`, "Missing required parameter: 'messages[1].content[0].type'."},
		{"part unknown", `,{"role":"user","content":[{"type":"smell"}]}`, "Invalid value: 'smell'."},
		{"image outside user", call + `,{"role":"tool","tool_call_id":"c1","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}}]}`, "Image URLs are only allowed for messages with role 'user'"},
		{"image of a strange kind", `,{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/bmp;base64,` + png + `"}}]}`, "unsupported image"},
		{"image that is none", `,{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,PGh0bWw+"}}]}`, "unsupported image"},
		{"image broken", `,{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,***"}}]}`, "Invalid base64"},
		{"image bare", `,{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + png + `"}}]}`, "Invalid image URL"},
		{"result without a call", answer, "messages with role 'tool' must be a response to a "},
		{"result of another call", call + `,{"role":"tool","tool_call_id":"c2","content":"x"}`, "'tool_call_id' of 'c2' not found in 'tool_calls' of previous message"},
		{"result twice", call + answer + answer, "Duplicate value for 'tool_call_id'"},
		{"result without id", call + `,{"role":"tool","content":"x"}`, "Missing required parameter: 'messages[2].tool_call_id'."},
		{"call without result", call, "must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: c1"},
		{"call answered too late", call + `,{"role":"user","content":"x"}` + answer, "did not have response messages: c1"},
		{"calls empty", `,{"role":"assistant","content":"x","tool_calls":[]}`, "Invalid 'messages[1].tool_calls': empty array."},
		{"call id repeated", strings.Replace(call, `}}]`, `}},{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]`, 1) + answer, "Duplicate value for 'tool_call_id' of 'c1'"},
		{"call id too long", strings.Replace(call, "c1", strings.Repeat("x", 41), 1), "string too long. Expected a string with maximum length 40, but got a string with length 41"},
		{"call without id", strings.Replace(call, `"id":"c1",`, "", 1), "Missing required parameter: 'messages[1].tool_calls[0].id'."},
		{"call of unknown type", strings.Replace(call, `"type":"function"`, `"type":"x"`, 1), "Invalid value: 'x'."},
		{"call with a bad name", strings.Replace(call, `"name":"f"`, `"name":"a.b"`, 1), "string does not match pattern"},
		{"call with arguments not a string", strings.Replace(call, `"arguments":"{}"`, `"arguments":{}`, 1), "Invalid type for 'messages[1].tool_calls[0].function.arguments'"},
		{"unknown key", with(`"max_output":1`), "Unknown parameter: 'max_output'."},
		{"stream not a boolean", with(`"stream":"yes"`), "Invalid type for 'stream': expected a boolean, but got a string"},
		{"stream options without stream", with(`"stream_options":{"include_usage":true}`), "'stream_options' parameter is only allowed when 'stream' is enabled"},
		{"stream options unknown", with(`"stream":true,"stream_options":{"x":1}`), "Unknown parameter: 'stream_options.x'."},
		{"temperature too high", with(`"temperature":2.1`), "Invalid 'temperature': decimal above maximum value."},
		{"temperature a string", with(`"temperature":"hot"`), "Invalid type for 'temperature': expected a decimal"},
		{"top_p negative", with(`"top_p":-1`), "Invalid 'top_p': decimal below minimum value."},
		{"max tokens 0", with(`"max_tokens":0`), "integer below minimum value"},
		{"max tokens 1.5", with(`"max_tokens":1.5`), "Invalid type for 'max_tokens': expected an integer, but got a decimal number"},
		{"effort unknown", with(`"reasoning_effort":"extreme"`), "Invalid value: 'extreme'."},
		{"effort for a plain model", with(`"reasoning_effort":"low"`), "Unrecognized request argument supplied: reasoning_effort"},
		{"max_tokens for a reasoning model", `{"model":"gpt-5","messages":[{"role":"user","content":"x"}],"max_tokens":5}`, "Use 'max_completion_tokens' instead"},
		{"temperature for a reasoning model", `{"model":"o3","messages":[{"role":"user","content":"x"}],"temperature":0.5}`, "Only the default (1) value is supported"},
		{"tools empty", with(`"tools":[]`), "Invalid 'tools': empty array."},
		{"tool choice without tools", with(`"tool_choice":"auto"`), "'tool_choice' is only allowed when 'tools' are specified"},
		{"parallel calls without tools", with(`"parallel_tool_calls":true`), "only allowed when 'tools' are specified"},
		{"tool choice unknown", with(`"tool_choice":"maybe","tools":[{"type":"function","function":{"name":"f"}}]`), "Invalid value: 'maybe'."},
		{"tool choice of no tool", with(`"tool_choice":{"type":"function","function":{"name":"g"}},"tools":[{"type":"function","function":{"name":"f"}}]`), "no function named 'g'"},
		{"tool without function", with(`"tools":[{"type":"function"}]`), "Missing required parameter: 'tools[0].function'."},
		{"tool without name", tools(`{}`), "Missing required parameter: 'tools[0].function.name'."},
		{"tool with a bad name", tools(`{"name":"a b"}`), "string does not match pattern"},
		{"tool with a long name", tools(`{"name":"` + strings.Repeat("x", 65) + `"}`), "maximum length 64"},
		{"tool with an unknown key", tools(`{"name":"f","input_schema":{}}`), "Unknown parameter: 'tools[0].function.input_schema'."},
		{"schema without type", tools(`{"name":"f","parameters":{"properties":{}}}`), `schema must be a JSON Schema of 'type: "object"', got 'type: "None"'`},
		{"schema of another type", tools(`{"name":"f","parameters":{"type":"string"}}`), `got 'type: "string"'`},
	})
}

func TestMessagesRefusesWhatTheReferenceRefuses(t *testing.T) {
	const frame = `{"model":"claude-haiku-4-5","max_tokens":9000,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}…]}`
	const call = `,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}`
	const result = `{"type":"tool_result","tool_use_id":"c1","content":"ok"}`
	const answer = `,{"role":"user","content":[` + result + `]}`
	model := func(name, settings string) string {
		return `{"model":"` + name + `","max_tokens":9000,"messages":[{"role":"user","content":"hi"}],` + settings + `}`
	}
	with := func(settings string) string { return model("claude-haiku-4-5", settings) }
	user := func(block string) string { return `,{"role":"user","content":[` + block + `]}` }
	said := func(block string) string {
		return `,{"role":"assistant","content":[` + block + `]},{"role":"user","content":"x"}`
	}
	image := func(mime, data string) string {
		return user(`{"type":"image","source":{"type":"base64","media_type":"` + mime + `","data":"` + data + `"}}`)
	}
	marked := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	refusals(t, modeltest.Messages, frame, []refusal{
		{"malformed", `{"model":`, "not valid JSON"},
		{"no model", `{"max_tokens":1,"messages":[]}`, "model: Field required"},
		{"no max_tokens", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "max_tokens: Field required"},
		{"no messages", `{"model":"m","max_tokens":1}`, "messages: Field required"},
		{"empty messages", `{"model":"m","max_tokens":1,"messages":[]}`, "messages: at least one message is required"},
		{"messages not a list", `{"model":"m","max_tokens":1,"messages":{}}`, "messages: Input should be a valid list"},
		{"unknown key", with(`"stream_options":{}`), "stream_options: Extra inputs are not permitted"},
		{"max_tokens a string", `{"model":"m","max_tokens":"1","messages":[{"role":"user","content":"x"}]}`, "max_tokens: Input should be a valid integer"},
		{"max_tokens too many", `{"model":"claude-haiku-4-5","max_tokens":64001,"messages":[{"role":"user","content":"x"}]}`, "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5"},
		{"stream not a boolean", with(`"stream":1`), "stream: Input should be a valid boolean"},
		{"temperature too high", with(`"temperature":1.1`), "temperature: range: 0..1"},
		{"temperature a string", with(`"temperature":"hot"`), "temperature: Input should be a valid number"},
		{"temperature for a new model", model("claude-opus-5", `"temperature":0.5`), "`temperature` is deprecated for this model."},
		{"top_p with thinking", with(`"top_p":0.5,"thinking":{"type":"enabled","budget_tokens":2000}`), "`top_p` must be greater than or equal to 0.95"},
		{"temperature with thinking", with(`"temperature":0.5,"thinking":{"type":"enabled","budget_tokens":2000}`), "`temperature` may only be set to 1"},
		{"thinking of unknown type", with(`"thinking":{"type":"deep"}`), "Input tag 'deep' found using 'type'"},
		{"budget missing", with(`"thinking":{"type":"enabled"}`), "thinking.enabled.budget_tokens: Field required"},
		{"budget too small", with(`"thinking":{"type":"enabled","budget_tokens":1023}`), "greater than or equal to 1024"},
		{"budget over max_tokens", with(`"thinking":{"type":"enabled","budget_tokens":9000}`), "`max_tokens` must be greater than `thinking.budget_tokens`"},
		{"budget for a new model", model("claude-opus-4-7", `"thinking":{"type":"enabled","budget_tokens":2000}`), `"thinking.type.enabled" is not supported for this model.`},
		{"adaptive for an old model", with(`"thinking":{"type":"adaptive"}`), "adaptive thinking is not supported on this model"},
		{"adaptive with a budget", model("claude-opus-5", `"thinking":{"type":"adaptive","budget_tokens":2000}`), "thinking.adaptive.budget_tokens: Extra inputs are not permitted"},
		{"disabled where it is always on", model("claude-fable-5-1", `"thinking":{"type":"disabled"}`), "not supported for this model"},
		{"effort for an old model", with(`"output_config":{"effort":"low"}`), "This model does not support the effort parameter."},
		{"effort unknown", model("claude-opus-5", `"output_config":{"effort":"minimal"}`), "output_config.effort: Input should be"},
		{"effort xhigh before 4.7", model("claude-opus-4-6", `"output_config":{"effort":"xhigh"}`), "not supported for this model"},
		{"tool without schema", with(`"tools":[{"name":"f"}]`), "tools.0.custom.input_schema: Field required"},
		{"schema without type", with(`"tools":[{"name":"f","input_schema":{}}]`), "tools.0.custom.input_schema.type: Field required"},
		{"schema of another type", with(`"tools":[{"name":"f","input_schema":{"type":"array"}}]`), "Input should be 'object'"},
		{"schema with a union", with(`"tools":[{"name":"f","input_schema":{"type":"object","anyOf":[{}]}}]`), "does not support oneOf, allOf, or anyOf at the top level"},
		{"tool with a bad name", with(`"tools":[{"name":"a.b","input_schema":{"type":"object"}}]`), "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
		{"tool with a long name", with(`"tools":[{"name":"` + strings.Repeat("x", 129) + `","input_schema":{"type":"object"}}]`), "String should have at most 128 characters"},
		{"tool twice", with(`"tools":[{"name":"f","input_schema":{"type":"object"}},{"name":"f","input_schema":{"type":"object"}}]`), "Tool names must be unique"},
		{"tool with an unknown key", with(`"tools":[{"name":"f","parameters":{},"input_schema":{"type":"object"}}]`), "tools.0.custom.parameters: Extra inputs are not permitted"},
		{"choice without tools", with(`"tool_choice":{"type":"any"}`), "may only be specified while providing tools"},
		{"choice of no tool", with(`"tool_choice":{"type":"tool","name":"g"}`), "Tool 'g' not found in provided tools"},
		{"system empty text", with(`"system":[{"type":"text","text":""}]`), "system: text content blocks must be non-empty"},
		{"system a number", with(`"system":1`), "system: Input should be a valid string or list"},
		{"system role", `,{"role":"system","content":"x"}`, `Unexpected role "system"`},
		{"unknown role", `,{"role":"tool","content":"x"}`, `Unexpected role "tool"`},
		{"message with an unknown key", `,{"role":"user","content":"x","name":"y"}`, "messages.1.name: Extra inputs are not permitted"},
		{"no content", `,{"role":"user"}`, "messages.1.content: Field required"},
		{"empty user content", `,{"role":"user","content":""}`, "user messages must have non-empty content"},
		{"empty text", user(`{"type":"text","text":""}`), "text content blocks must be non-empty"},
		{"blank text", said(`{"type":"text","text":" \n"}`), "text content blocks must contain non-whitespace text"},
		{"block of unknown type", user(`{"type":"smell"}`), "Input tag 'smell' found using 'type'"},
		{"block with an unknown key", user(`{"type":"text","text":"x","id":"1"}`), "messages.1.content.0.text.id: Extra inputs are not permitted"},
		{"image of a strange kind", image("image/bmp", png), "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"},
		{"image not base64", image("image/png", "***"), "invalid base64 data"},
		{"image of another kind", image("image/jpeg", png), "does not appear to be a valid image/jpeg image"},
		{"image too big", image("image/png", strings.Repeat("AAAA", 5<<18+1)), "image exceeds 5 MB maximum"},
		{"call without result", call, "`tool_use` ids were found without `tool_result` blocks immediately after: c1"},
		{"call answered by words", call + `,{"role":"user","content":"x"}`, "`tool_use` ids were found without"},
		{"words before the result", call + user(`{"type":"text","text":"x"},`+result), "`tool_use` ids were found without"},
		{"call answered too late", call + `,{"role":"assistant","content":"x"}` + answer, "`tool_use` ids were found without"},
		{"result without a call", answer, "unexpected `tool_use_id` found in `tool_result` blocks: c1"},
		{"result twice", call + user(result+","+result), "each tool_use must have a single result"},
		{"call id repeated", call + answer + call + answer, "`tool_use` ids must be unique"},
		{"call with a bad id", strings.Replace(call, "c1", "a:1", 1), "tool_use.id: String should match pattern"},
		{"call with a bad name", strings.Replace(call, `"f"`, `"a.b"`, 1), "tool_use.name: String should match pattern"},
		{"call with a string for input", strings.Replace(call, `{}`, `"{}"`, 1), "tool_use.input: Input should be a valid dictionary"},
		{"call by the user", user(`{"type":"tool_use","id":"c1","name":"f","input":{}}`), "`tool_use` blocks can only be in `assistant` messages"},
		{"result by the assistant", said(result), "`tool_result` blocks can only be in `user` messages"},
		{"failed result with a picture", call + user(`{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+png+`"}}]}`), "all content must be type \"text\" if `is_error` is true"},
		{"result with an empty text", call + user(`{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":""}]}`), "text content blocks must be non-empty"},
		{"calls without tools", strings.Replace(strings.Replace(frame, `"tools":[{"name":"f","input_schema":{"type":"object"}}],`, "", 1), "…", call+answer, 1), "must define tools"},
		{"thinking with a foreign signature", said(`{"type":"thinking","thinking":"x","signature":"y"}`), "Invalid `signature` in `thinking` block"},
		{"thinking without a signature", said(`{"type":"thinking","thinking":"x"}`), "thinking.signature: Field required"},
		{"redacted thinking made up", said(`{"type":"redacted_thinking","data":"y"}`), "Invalid `data` in `redacted_thinking` block"},
		{"first message not the user's", `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":"x"},{"role":"user","content":"x"}]}`, `first message must use the "user" role`},
		{"prefill on a new model", `{"model":"claude-sonnet-4-6","max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"x"}]}`, "does not support assistant message prefill"},
		{"prefill with a trailing space", `,{"role":"assistant","content":"x "}`, "final assistant content cannot end with trailing whitespace"},
		{"budget without reasoning before the results", strings.Replace(strings.Replace(frame, "…", call+answer, 1), `"tools"`, `"thinking":{"type":"enabled","budget_tokens":2000},"tools"`, 1), "Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{"five cache marks", user(strings.Repeat(marked+",", 4) + marked), "A maximum of 4 blocks with cache_control may be provided. Found 5."},
	})
}

func TestWhatTheReferenceAllowsIsAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		d    modeltest.Dialect
		body string
	}{
		"users in a row":            {modeltest.Messages, `{"model":"claude-opus-5","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`},
		"assistants in a row":       {modeltest.Messages, `{"model":"claude-opus-5","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}]}`},
		"empty assistant list":      {modeltest.Messages, `{"model":"claude-opus-5","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[]},{"role":"user","content":"d"}]}`},
		"results over two messages": {modeltest.Messages, `{"model":"claude-opus-5","max_tokens":1,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}},{"type":"tool_use","id":"2","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"2"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"},{"type":"text","text":"x"}]}]}`},
		"prefill on an old model":   {modeltest.Messages, `{"model":"claude-haiku-4-5","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`},
		"trailing assistant":        {modeltest.Chat, `{"model":"gpt-4o","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`},
		"calls without tools":       {modeltest.Chat, `{"model":"gpt-4o","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{"}}]},{"role":"tool","tool_call_id":"1","content":""}]}`},
		"empty words":               {modeltest.Chat, `{"model":"gpt-4o","messages":[{"role":"user","content":""}]}`},
	} {
		s := modeltest.New(t, modeltest.Reply{Text: "ok"})
		if status, message := post(t, s, c.d, c.body); status != 200 {
			t.Errorf("%s: %d %s", name, status, message)
		}
	}
}

func TestHeadersAndAddressesAreChecked(t *testing.T) {
	s := modeltest.New(t)
	chat := `{"model":"gpt-4o","messages":[{"role":"user","content":"a"}]}`
	messages := `{"model":"claude-opus-5","max_tokens":1,"messages":[{"role":"user","content":"a"}]}`
	for name, c := range map[string]struct {
		d      modeltest.Dialect
		body   string
		header []string
		status int
		want   string
	}{
		"chat without key":                 {modeltest.Chat, chat, []string{"Authorization", ""}, 401, "You didn't provide an API key"},
		"chat with a wrong key":            {modeltest.Chat, chat, []string{"Authorization", "Bearer sk-wrong"}, 401, "Incorrect API key provided"},
		"chat as plain text":               {modeltest.Chat, chat, []string{"Content-Type", "text/plain"}, 400, "could not parse"},
		"responses without key":            {modeltest.Responses, `{}`, []string{"Authorization", ""}, 401, "You didn't provide an API key"},
		"responses as plain text":          {modeltest.Responses, `{}`, []string{"Content-Type", "text/plain"}, 400, "could not parse"},
		"messages without key":             {modeltest.Messages, messages, []string{"x-api-key", ""}, 401, "x-api-key header is required"},
		"messages with a wrong key":        {modeltest.Messages, messages, []string{"x-api-key", "sk-wrong"}, 401, "invalid x-api-key"},
		"messages without version":         {modeltest.Messages, messages, []string{"anthropic-version", ""}, 400, "anthropic-version: header is required"},
		"messages of a version":            {modeltest.Messages, messages, []string{"anthropic-version", "2024-01-01"}, 400, "is not a valid version"},
		"messages with a key as bearer":    {modeltest.Messages, `{}`, []string{"x-api-key", "", "Authorization", "Bearer " + modeltest.Key}, 400, "model: Field required"},
		"messages too new for temperature": {modeltest.Messages, strings.Replace(messages, "{", `{"temperature":1,`, 1), []string{"anthropic-version", "2026-10-21"}, 400, "temperature: Extra inputs are not permitted"},
		"messages too large":               {modeltest.Messages, `{"model":"` + strings.Repeat("x", 32<<20) + `"}`, nil, 413, "exceeds the maximum size"},
	} {
		if status, message := post(t, s, c.d, c.body, c.header...); status != c.status || !strings.Contains(message, c.want) {
			t.Errorf("%s: %d %q", name, status, message)
		}
	}
	for path, want := range map[string]int{"/v1/v1/chat/completions": 404, "/chat/completions": 404, "/v1/chat/completions": 405, "/v1/messages": 405, "/messages": 404, "/v1/responses": 405, "/responses": 404} {
		res, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, res.StatusCode, want)
		}
	}
	if n := len(s.Refused()); n != 19 {
		t.Errorf("%d refusals recorded", n)
	}
}
