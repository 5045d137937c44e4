package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/model/gemini"
	"jig/internal/model/modeltest"
)

// postGemini sends a body as the dialect's own client would and returns status and error message.
func postGemini(t *testing.T, s *modeltest.Server, path, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("x-goog-api-key", modeltest.Key)
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
		Error struct {
			Code            int
			Message, Status string
		}
	}
	if res.StatusCode != http.StatusOK && (json.Unmarshal(b, &e) != nil || e.Error.Code != res.StatusCode || e.Error.Message == "" || e.Error.Status == "") {
		t.Errorf("not the provider's error shape: %s", b)
	}
	return res.StatusCode, e.Error.Message
}

func generate(model string) string {
	return "/v1beta/models/" + model + ":streamGenerateContent?alt=sse"
}

const (
	gCall   = `,{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}`
	gAnswer = `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"}}}]}`
	gDot    = `{"inlineData":{"mimeType":"image/png","data":"` + png + `"}}`
)

func gUser(part string) string  { return `,{"role":"user","parts":[` + part + `]}` }
func gModel(part string) string { return `,{"role":"model","parts":[` + part + `]}` }

// gWith puts turns after a first one, or settings beside it.
func gWith(more string) string {
	const first = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}`
	switch {
	case strings.HasPrefix(more, "{"):
		return more
	case strings.HasPrefix(more, `"`):
		return first + "]," + more + "}"
	}
	return first + more + "]}"
}

func TestGenerateContentRefusesWhatTheReferenceRefuses(t *testing.T) {
	tools := func(f string) string { return `"tools":[{"functionDeclarations":[` + f + `]}]` }
	config := func(c string) string { return `"generationConfig":{` + c + `}` }
	think := func(c string) string { return config(`"thinkingConfig":{` + c + `}`) }
	with := func(r string) string {
		return gCall + gUser(`{"functionResponse":{"name":"f","response":{},"parts":[`+r+`]}}`)
	}
	signed := func(kind string) string {
		return strings.Replace(kind, `}}]`, `},"thoughtSignature":"c3RvbGVu"}]`, 1)
	}
	s := modeltest.New(t)
	for _, c := range []struct{ name, model, body, want string }{
		{"malformed", "", `{"contents":`, "Invalid JSON payload received"},
		{"no contents", "", `{}`, "contents is not specified"},
		{"contents empty", "", `{"contents":[]}`, "contents is not specified"},
		{"contents a string", "", `{"contents":"x"}`, "Invalid value at 'contents'"},
		{"content a string", "", `,"x"`, "Invalid value at 'contents[1]'"},
		{"role of another dialect", "", `,{"role":"assistant","parts":[{"text":"x"}]}`, "Please use a valid role: user, model."},
		{"role of old", "", `,{"role":"function","parts":[{"text":"x"}]}`, "Please use a valid role"},
		{"no parts", "", `,{"role":"user","parts":[]}`, "contents[1].parts: contents.parts must not be empty."},
		{"unknown field", "", `"maxTokens":1`, `Unknown name "maxTokens": Cannot find field.`},
		{"unknown field of a turn", "", `,{"role":"user","parts":[{"text":"x"}],"name":"y"}`, `Unknown name "name" at 'contents[1]': Cannot find field.`},
		{"unknown field of a part", "", gUser(`{"text":"x","type":"text"}`), `Unknown name "type" at 'contents[1].parts[0]'`},
		{"part of nothing", "", gUser(`{}`), "required oneof field 'data' must have one initialized field"},
		{"part of two things", "", gUser(`{"text":"x","inlineData":{"mimeType":"image/png","data":"` + png + `"}}`), "required oneof field 'data'"},
		{"text empty", "", gUser(`{"text":""}`), "must have a text parameter"},
		{"text a number", "", gUser(`{"text":7}`), "(TYPE_STRING), 7"},
		{"thought a string", "", gModel(`{"text":"x","thought":"yes"}`), "(TYPE_BOOL)"},
		{"signature not base64", "", gModel(`{"text":"x","thoughtSignature":"***"}`), "(TYPE_BYTES)"},
		{"picture of a strange kind", "", gUser(strings.Replace(gDot, "png", "gif", 1)), "Unsupported MIME type: image/gif"},
		{"picture of another kind", "", gUser(strings.Replace(gDot, "png", "jpeg", 1)), "Unable to process input image"},
		{"picture not base64", "", gUser(`{"inlineData":{"mimeType":"image/png","data":"***"}}`), "(TYPE_BYTES)"},
		{"picture with a name", "", gUser(strings.Replace(gDot, `"data"`, `"displayName":"x","data"`, 1)), `Unknown name "displayName"`},
		{"call by the user", "", gUser(`{"functionCall":{"name":"f","args":{}}}`), "a function call is the model's"},
		{"call without a name", "", gModel(`{"functionCall":{"args":{}}}`) + gAnswer, "Invalid function name"},
		{"call with a string for arguments", "", strings.Replace(gCall, `{}`, `"{}"`, 1) + gAnswer, "google.protobuf.Struct"},
		{"call with a key of another dialect", "", strings.Replace(gCall, `"args"`, `"arguments"`, 1), `Unknown name "arguments"`},
		{"result by the model", "", gModel(`{"functionResponse":{"name":"f","response":{}}}`), "a function response is the user's"},
		{"result without a name", "", gCall + gUser(`{"functionResponse":{"response":{}}}`), "Name cannot be empty"},
		{"result a string", "", gCall + gUser(`{"functionResponse":{"name":"f","response":"x"}}`), "google.protobuf.Struct"},
		{"result missing", "", gCall + gUser(`{"text":"x"}`), "number of function response parts is equal to the number of function call parts"},
		{"result missing at the end", "", gCall, "number of function response parts"},
		{"result too late", "", gCall + gUser(`{"text":"x"}`) + gAnswer, "number of function response parts"},
		{"result too often", "", gCall + strings.Replace(gAnswer, `}]}`, `},{"functionResponse":{"name":"f","response":{}}}]}`, 1), "number of function response parts"},
		{"result beside words", "", gCall + strings.Replace(gAnswer, `}]}`, `},{"text":"x"}]}`, 1), "number of function response parts"},
		{"result of no call", "", gAnswer, "function response turn comes immediately after a function call turn"},
		{"result of another name", "", gCall + strings.Replace(gAnswer, `"f"`, `"g"`, 1), "its call is of f"},
		{"result without the call's id", "", strings.Replace(gCall, `"name"`, `"id":"1","name"`, 1) + gAnswer, "its call is of f 1"},
		{"call after a call", "", gModel(`{"text":"x"}`) + gCall + gAnswer, "function call turn comes immediately after a user turn"},
		{"call first", "", `{"contents":[` + gCall[1:] + gAnswer + `]}`, "function call turn comes immediately after a user turn"},
		{"picture in a result, before 3", "gemini-2.5-pro", with(gDot), "`function_response.parts` is not supported for this model"},
		{"text in a result's parts", "gemini-3-flash-preview", with(`{"text":"x"}`), `Unknown name "text" at 'contents[2].parts[0].function_response.parts[0]'`},
		{"gif in a result's parts", "gemini-3-flash-preview", with(strings.Replace(gDot, "png", "gif", 1)), "Unsupported MIME type"},
		{"call unsigned, from 3", "gemini-3-flash-preview", gCall + gAnswer, "Function call is missing a thought_signature in functionCall parts."},
		{"second step unsigned, from 3", "gemini-4-argon", strings.Replace(gCall, `}}]`, `},"thoughtSignature":"skip_thought_signature_validator"}]`, 1) + gAnswer + gCall + gAnswer, "`default_api:f` , position 1"},
		{"signature of another", "", signed(gCall) + gAnswer, "Corrupted thought signature."},
		{"model last, from 3.6", "gemini-3.6-flash", gModel(`{"text":"x"}`), "Requests ending with a model turn are not supported."},
		{"system a string", "", `"systemInstruction":"x"`, "Invalid value at 'system_instruction'"},
		{"system empty", "", `"systemInstruction":{"parts":[]}`, "must not be empty"},
		{"system a picture", "", `"systemInstruction":{"parts":[` + gDot + `]}`, "system instruction must be text"},
		{"temperature a string", "", config(`"temperature":"hot"`), `Invalid value at 'generation_config.temperature' (TYPE_FLOAT), "hot"`},
		{"temperature too high", "", config(`"temperature":2.1`), "[0.0, 2.0]"},
		{"top_p too high", "", config(`"topP":1.1`), "[0.0, 1.0]"},
		{"limit 0", "", config(`"maxOutputTokens":0`), "must be positive"},
		{"limit 1.5", "", config(`"maxOutputTokens":1.5`), "(TYPE_INT32), 1.5"},
		{"setting unknown", "", config(`"max_tokens":1`), `Unknown name "max_tokens" at 'generation_config'`},
		{"thinking unknown", "", think(`"effort":"high"`), `Unknown name "effort" at 'generation_config.thinking_config'`},
		{"thinking of an old model", "gemini-2.0-flash", think(`"thinkingBudget":0`), "Thinking is not enabled"},
		{"budget and level", "gemini-3-flash-preview", think(`"thinkingBudget":0,"thinkingLevel":"LOW"`), "only set only one of thinking budget and thinking level"},
		{"budget 0 for Pro", "gemini-2.5-pro", think(`"thinkingBudget":0`), "Budget 0 is invalid. This model only works in thinking mode."},
		{"budget too high", "gemini-2.5-flash", think(`"thinkingBudget":52428`), "The thinking budget (52428) is invalid."},
		{"budget too low", "gemini-2.5-flash-lite", think(`"thinkingBudget":100`), "The thinking budget (100) is invalid."},
		{"budget a fraction", "gemini-2.5-flash", think(`"thinkingBudget":19660.8`), "(TYPE_INT32), 19660.8"},
		{"level unknown", "gemini-3-flash-preview", think(`"thinkingLevel":"MAX"`), "ThinkingLevel"},
		{"level before 3", "gemini-2.5-pro", think(`"thinkingLevel":"LOW"`), "Thinking level is not supported for this model."},
		{"level minimal for Pro", "gemini-3.1-pro-preview", think(`"thinkingLevel":"MINIMAL"`), "Thinking level MINIMAL is not supported for this model."},
		{"level minimal from 3.7", "gemini-3.7-flash", think(`"thinkingLevel":"minimal"`), "Thinking level MINIMAL is not supported for this model."},
		{"level medium for the first Pro", "gemini-3-pro-preview", think(`"thinkingLevel":"MEDIUM"`), "Thinking level MEDIUM is not supported"},
		{"tools an object", "", `"tools":{}`, "Invalid value at 'tools'"},
		{"tool of another dialect", "", `"tools":[{"type":"function"}]`, `Unknown name "type" at 'tools[0]'`},
		{"no functions", "", tools(""), "required one_of 'tool_type'"},
		{"function with a bad name", "", tools(`{"name":"2x"}`), "tools[0].function_declarations[0].name: Invalid function name"},
		{"function twice", "", tools(`{"name":"f"},{"name":"f"}`), "Duplicate function declaration found: f"},
		{"function with a key of another dialect", "", tools(`{"name":"f","input_schema":{}}`), `Unknown name "input_schema"`},
		{"both schemas", "", tools(`{"name":"f","parameters":{"type":"object"},"parametersJsonSchema":{"type":"object"}}`), "mutually exclusive"},
		{"schema of no object", "", tools(`{"name":"f","parametersJsonSchema":{"type":"string"}}`), "schema must describe an object"},
		{"JSON Schema where OpenAPI is wanted", "", tools(`{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","additionalProperties":false}}}}}`), `Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters.properties[a].items'`},
		{"a list of types", "", tools(`{"name":"f","parameters":{"type":["object","null"]}}`), "Proto field is not repeating, cannot start list."},
		{"tool choice without tools", "", `"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}`, "Function calling config is set without function_declarations."},
	} {
		body := gWith(c.body)
		if !json.Valid([]byte(body)) && c.name != "malformed" {
			t.Errorf("%s: the case itself is malformed: %s", c.name, body)
		}
		if c.model == "" {
			c.model = "gemini-2.5-flash"
		}
		if status, message := postGemini(t, s, generate(c.model), body); status != 400 || !strings.Contains(message, c.want) {
			t.Errorf("%s: %d %q, want %q", c.name, status, message, c.want)
		}
	}
}

func TestGenerateContentAllowsWhatTheReferenceAllows(t *testing.T) {
	for name, c := range map[string]struct{ model, body string }{
		"users in a row":          {"gemini-3-flash-preview", gUser(`{"text":"x"}`)},
		"words after the results": {"gemini-2.5-flash", gCall + gAnswer + gUser(`{"text":"x"},`+gDot)},
		"calls of former turns":   {"gemini-3-flash-preview", gCall + gAnswer + gModel(`{"text":"x"}`) + gUser(`{"text":"y"}`)},
		"calls without tools":     {"gemini-2.5-flash", gCall + gAnswer},
		"model last":              {"gemini-2.5-flash", gModel(`{"text":"x"}`)},
		"level in small letters":  {"gemini-3-flash-preview", `"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}`},
		"a budget for a new one":  {"gemini-3-flash-preview", `"generationConfig":{"thinkingConfig":{"thinkingBudget":-1}}`},
		"an OpenAPI schema":       {"gemini-2.5-flash", `"tools":[{"functionDeclarations":[{"name":"a.b:c-d","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}}]}]`},
		// https://ai.google.dev/gemini-api/docs/thought-signatures, with a signature that is taken unseen
		"the published conversation": {"gemini-3-pro-preview", `{"contents":[{"role":"user","parts":[{"text":"Check flight status for AA100 and book a taxi 2 hours before if delayed."}]},
			{"role":"model","parts":[{"functionCall":{"name":"check_flight","args":{"flight":"AA100"}},"thoughtSignature":"context_engineering_is_the_way_to_go"}]},
			{"role":"user","parts":[{"functionResponse":{"name":"check_flight","response":{"status":"delayed","departure_time":"12 PM"}}}]},
			{"role":"model","parts":[{"functionCall":{"name":"book_taxi","args":{"time":"10 AM"}},"thoughtSignature":"skip_thought_signature_validator"}]},
			{"role":"user","parts":[{"functionResponse":{"name":"book_taxi","response":{"booking_status":"success"}}}]}],
			"tools":[{"functionDeclarations":[{"name":"check_flight","description":"Gets the current status of a flight","parameters":{"type":"object","properties":{"flight":{"type":"string","description":"The flight number to check"}},"required":["flight"]}}]}]}`},
	} {
		s := modeltest.New(t, modeltest.Reply{Text: "ok"})
		if status, message := postGemini(t, s, generate(c.model), gWith(c.body)); status != 200 {
			t.Errorf("%s: %d %s", name, status, message)
		}
	}
}

func TestGenerateContentChecksKeysAndAddresses(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b"})
	s.Models = []string{"gemini-3-flash-preview"}
	at := generate("gemini-3-flash-preview")
	for _, c := range []struct {
		path   string
		header []string
		status int
		want   string
	}{
		{at, []string{"x-goog-api-key", ""}, 403, "Method doesn't allow unregistered callers"},
		{at, []string{"x-goog-api-key", "wrong"}, 400, "API key not valid"},
		{at + "&key=" + modeltest.Key, []string{"x-goog-api-key", ""}, 200, ""},
		{"/v1beta/models/gemini-3-flash-preview:generateContent", nil, 200, ""},
		{at, []string{"Content-Type", "text/plain"}, 400, "Invalid JSON payload"},
		{generate("gemini-99"), nil, 404, "models/gemini-99 is not found for API version v1beta"},
		{"/v1/models/gemini-3-flash-preview:streamGenerateContent?alt=sse", nil, 404, "not found"},
		{"/v1beta/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse", nil, 404, "not found"},
		{"/v1beta/models/gemini-3-flash-preview:streamGenerateContent", nil, 400, "only alt=sse"},
	} {
		if status, message := postGemini(t, s, c.path, gWith(""), c.header...); status != c.status || !strings.Contains(message, c.want) {
			t.Errorf("%s: %d %q", c.path, status, message)
		}
	}
}

// giveGemini lets the dialect read a body.
func giveGemini(body io.Reader) (model.Reply, error) {
	return ask(gemini.New(gemini.Options{URL: "http://h", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}, nil
	})}), "m")
}

func gParts(list string) string { return data(`{"candidates":[{"content":{"parts":[` + list + `]}}]}`) }

func TestAnEndlessReplyOfGenerateContentIsGivenUp(t *testing.T) {
	x := strings.Repeat("x", 2*mega)
	for name, c := range map[string]struct {
		body *endless
		says string
	}{
		// Every kind of content alone stays below the limit: only their sum passes it.
		"bytes": {&endless{rest: gParts(`{"text":"a"}`), events: []string{
			gParts(`{"text":"` + x + `"}`), gParts(`{"text":"` + x + `","thought":true}`), gParts(`{"text":"a","thoughtSignature":"` + x + `"}`),
			gParts(`{"functionCall":{"name":"f","args":{"a":"` + x + `"}}}`), gParts(`{"functionCall":{"id":"` + x + `","name":"` + x + `"}}`),
			gParts(`{"functionCall":{"name":"f"},"thoughtSignature":"` + x + `"}`),
		}}, "more than 64 MiB"},
		"calls":         {&endless{events: []string{gParts(`{"functionCall":{"name":"f"}}`)}}, "more than 10000 blocks and calls"},
		"parts":         {&endless{events: []string{gParts(`{"text":"","thoughtSignature":"S"}`)}}, "more than 10000 blocks and calls"},
		"calls at once": {&endless{rest: gParts(strings.Repeat(`{"functionCall":{"name":"f"}},`, 20_000) + `{}`), events: []string{"\n"}}, "more than 10000 blocks and calls"},
		"nothings":      {&endless{rest: gParts(strings.Repeat("{},", 2_000_000) + "{}"), events: []string{"\n"}}, "more than 1048576 values"},
		"a list":        {&endless{rest: `[` + strings.Repeat("{},", 2_000_000) + "{}]", events: []string{strings.Repeat(" ", mega)}}, "more than"},
	} {
		got, err := giveGemini(c.body)
		sentence(t, name, err, model.KindProtocol, c.says)
		if c.body.read > 72*mega || len(got.Blocks) > 10_000 {
			t.Errorf("%s: given up after %d bytes, %d blocks", name, c.body.read, len(got.Blocks))
		}
	}
}

func TestHalfACharacterOfGenerateContentIsHandedOnAsValidText(t *testing.T) {
	got, err := giveGemini(strings.NewReader(gParts(`{"text":"a\ud83d"}`) + gParts(`{"text":"\ude00"}`) + gParts("{\"text\":\"\xf0\x9f\"}") +
		gParts("{\"functionCall\":{\"name\":\"f\",\"args\":{\"b\":\"\xff\"}}}") + data(`{"candidates":[{"finishReason":"STOP"}]}`)))
	if err != nil || len(got.Blocks) != 2 {
		t.Fatalf("%v %+v", err, got)
	}
	text, args := got.Blocks.Text(), got.Blocks.Calls()[0].Args
	if !strings.HasPrefix(text, "a\ufffd\ufffd\ufffd") || !utf8.ValidString(text) || args != "{\"b\":\"\ufffd\"}" {
		t.Errorf("%q %q", text, args)
	}
}

func TestSignaturesOfAnotherPartAreCorrupted(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Signature: "QUJD", Calls: []modeltest.Call{{ID: "1", Name: "f", Args: `{"b":1,"a":2}`}}}, modeltest.Reply{Text: "ok"})
	at := generate("gemini-3-flash-preview")
	if status, message := postGemini(t, s, at, gWith("")); status != 200 {
		t.Fatal(message)
	}
	back := func(id, args string) string {
		return gWith(fmt.Sprintf(`,{"role":"model","parts":[{"functionCall":{"id":%q,"name":"f","args":%s},"thoughtSignature":"QUJD"}]},{"role":"user","parts":[{"functionResponse":{"id":%q,"name":"f","response":{}}}]}`, id, args, id))
	}
	for _, body := range []string{back("1", `{"b":1}`), back("2", `{"b":1,"a":2}`)} {
		if status, message := postGemini(t, s, at, body); status != 400 || message != "Corrupted thought signature." {
			t.Errorf("%d %s", status, message)
		}
	}
	if status, message := postGemini(t, s, at, back("1", `{"a":2,"b":1}`)); status != 200 {
		t.Error(message)
	}
}
