package gemini

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

// kindOf is an error's kind, "" when it has none.
func kindOf(err error) model.Kind {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// answered gives a model an answer of a status and returns what it made of it.
func answered(t *testing.T, status int, kind, body string) (model.Reply, error) {
	t.Helper()
	reply := modeltest.Reply{Fault: modeltest.Fault{Kind: modeltest.FaultStatus, Status: status, Header: http.Header{"Content-Type": {kind}}, Body: body}}
	s := modeltest.New(t, reply, reply)
	m := New(Options{URL: s.URL, Key: modeltest.Key})
	t.Cleanup(func() { _ = m.Close() })
	return m.Stream(context.Background(), model.Request{Model: "gemini-3-flash-preview", Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
}

// stream gives a model the events of a body and returns what it made of them.
func stream(t *testing.T, events ...string) (model.Reply, error) {
	t.Helper()
	return answered(t, 200, "text/event-stream", "data: "+strings.Join(events, "\n\ndata: ")+"\n\n")
}

func parts(list string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + list + `]},"index":0}]}`
}

func finish(reason string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"` + reason + `","index":0}],"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":5,"candidatesTokenCount":4,"thoughtsTokenCount":3,"totalTokenCount":22}}`
}

var used = msg.Usage{Input: 15, Output: 7, CacheRead: 5}

func raw(s string) []byte { return []byte(s) }

func TestPartsAreReadInEveryFormTheyCome(t *testing.T) {
	said := func(stop model.Stop, b ...msg.Block) model.Reply {
		return model.Reply{Usage: used, Stop: stop, Blocks: b}
	}
	stop := finish("STOP")
	for name, c := range map[string]struct {
		events []string
		want   model.Reply
	}{
		"text in pieces":           {[]string{parts(`{"text":"a"}`), parts(`{"text":"b"},{"text":"c"}`), stop}, said(model.StopEnd, msg.Text{Text: "abc"})},
		"finish with the last":     {[]string{parts(`{"text":"a"}`), strings.Replace(stop, `{"text":""}`, `{"text":"b"}`, 1)}, said(model.StopEnd, msg.Text{Text: "ab"})},
		"finish in every chunk":    {[]string{strings.Replace(stop, `{"text":""}`, `{"text":"a"}`, 1), strings.Replace(stop, `{"text":""}`, `{"text":"b"}`, 1)}, said(model.StopEnd, msg.Text{Text: "ab"})},
		"thoughts":                 {[]string{parts(`{"text":"h","thought":true}`), parts(`{"text":"m <","thought":true},{"text":"a","thought":false}`), stop}, said(model.StopEnd, msg.Reasoning{Text: "hm <", Raw: raw(`{"text":"hm <","thought":true}`)}, msg.Text{Text: "a"})},
		"thought, signed":          {[]string{parts(`{"text":"a","thought":true}`), parts(`{"text":"b","thought":true,"thoughtSignature":"S+/="}`), parts(`{"text":"c","thought":true}`), stop}, said(model.StopEnd, msg.Reasoning{Text: "a", Raw: raw(`{"text":"a","thought":true}`)}, msg.Reasoning{Text: "b", Raw: raw(`{"text":"b","thought":true,"thoughtSignature":"S+/="}`)}, msg.Reasoning{Text: "c", Raw: raw(`{"text":"c","thought":true}`)})},
		"text, signed at the end":  {[]string{parts(`{"text":"a"}`), strings.Replace(stop, `{"text":""}`, `{"text":"","thoughtSignature":"S"}`, 1)}, said(model.StopEnd, msg.Text{Text: "a"}, msg.Text{Raw: raw(`{"thoughtSignature":"S"}`)})},
		"text, signed in its part": {[]string{parts(`{"text":"a"}`), parts(`{"text":"b","thoughtSignature":"S"}`), parts(`{"text":"c"}`), stop}, said(model.StopEnd, msg.Text{Text: "a"}, msg.Text{Text: "b", Raw: raw(`{"thoughtSignature":"S"}`)}, msg.Text{Text: "c"})},
		"calls in one chunk":       {[]string{parts(`{"functionCall":{"name":"f","args":{"b":1, "a":2}}},{"functionCall":{"name":"f","args":{}}}`), stop}, said(model.StopCalls, msg.Call{Name: "f", Args: `{"b":1,"a":2}`}, msg.Call{Name: "f", Args: `{}`})},
		"calls in two, with ids":   {[]string{parts(`{"functionCall":{"id":"1","name":"f","args":{}},"thoughtSignature":"S"}`), parts(`{"functionCall":{"id":"2","name":"g"}}`), stop}, said(model.StopCalls, msg.Call{Given: "1", Name: "f", Args: `{}`, Raw: raw(`{"thoughtSignature":"S"}`)}, msg.Call{Given: "2", Name: "g", Args: `{}`})},
		"arguments null":           {[]string{parts(`{"functionCall":{"name":"f","args":null}}`), stop}, said(model.StopCalls, msg.Call{Name: "f", Args: `{}`})},
		"text between calls":       {[]string{parts(`{"functionCall":{"name":"f","args":{}}}`), parts(`{"text":"a"}`), parts(`{"functionCall":{"name":"g","args":{}}}`), stop}, said(model.StopCalls, msg.Call{Name: "f", Args: `{}`}, msg.Text{Text: "a"}, msg.Call{Name: "g", Args: `{}`})},
		"unknown things":           {[]string{`{"modelStatus":{"x":1}}`, parts(`{"inlineData":{"mimeType":"image/png","data":""}},{"executableCode":{"code":"1"}},7`), `{"candidates":[{"index":1,"content":{"parts":[{"text":"x"}]},"finishReason":"SAFETY"}]}`, parts(`{"text":"a","later":1}`), finish("SOMETHING_NEW")}, said(model.StopEnd, msg.Text{Text: "a"})},
		"null everywhere":          {[]string{`{"candidates":null,"promptFeedback":null,"usageMetadata":null,"error":null}`, `{"candidates":[{"content":null,"finishReason":null}]}`, parts(`{"text":"a","thought":null,"thoughtSignature":null,"functionCall":null}`), stop}, said(model.StopEnd, msg.Text{Text: "a"})},
		"cut":                      {[]string{parts(`{"text":"a"}`), finish("MAX_TOKENS")}, said(model.StopLength, msg.Text{Text: "a"})},
		"to be continued":          {[]string{parts(`{"text":"a"}`), finish("CONTINUATION")}, said(model.StopLength, msg.Text{Text: "a"})},
		"filtered":                 {[]string{parts(`{"text":"a"}`), finish("RECITATION")}, said(model.StopRefusal, msg.Text{Text: "a"})},
		"filtered before a word":   {[]string{finish("SAFETY")}, said(model.StopRefusal, msg.Text{Text: "(the reply was blocked: SAFETY)"})},
		"filtered with a reason":   {[]string{strings.Replace(finish("SPII"), `"index"`, `"finishMessage":"names a person.","index"`, 1)}, said(model.StopRefusal, msg.Text{Text: "(the reply was blocked: SPII: names a person)"})},
		"prompt blocked":           {[]string{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":5,"candidatesTokenCount":7}}`}, said(model.StopRefusal, msg.Text{Text: "(the prompt was blocked: PROHIBITED_CONTENT)"})},
		"prompt blocked, other":    {[]string{`{"promptFeedback":{"blockReason":"OTHER","safetyRatings":[]},"usageMetadata":{"promptTokenCount":15,"cachedContentTokenCount":5,"candidatesTokenCount":7}}`}, said(model.StopRefusal, msg.Text{Text: "(the prompt was blocked: OTHER)"})},
	} {
		got, err := stream(t, c.events...)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestACallThatIsSentAgainIsOneCall(t *testing.T) {
	f := func(id string) msg.Call { return msg.Call{Given: id, Name: "f", Args: `{}`} }
	signed := func(id string) msg.Call {
		return msg.Call{Given: id, Name: "f", Args: `{}`, Raw: raw(`{"thoughtSignature":"S"}`)}
	}
	const (
		one, two, bare = `{"functionCall":{"id":"1","name":"f","args":{}}}`, `{"functionCall":{"id":"2","name":"f","args":{}}}`, `{"functionCall":{"name":"f","args":{}}}`
		sealed         = `{"functionCall":{"name":"f","args":{}},"thoughtSignature":"S"}`
	)
	both, text := parts(one+","+two), parts(`{"text":"a"}`)
	for name, c := range map[string]struct {
		events []string
		want   msg.Blocks
	}{
		"the event":                  {[]string{parts(one), parts(one)}, msg.Blocks{f("1")}},
		"the event, words and all":   {[]string{parts(`{"text":"a"},` + one), parts(`{"text":"a"},` + one)}, msg.Blocks{msg.Text{Text: "a"}, f("1")}},
		"an event with two":          {[]string{both, both}, msg.Blocks{f("1"), f("2")}},
		"two, and then each":         {[]string{both, parts(one), parts(two), parts(two + "," + one)}, msg.Blocks{f("1"), f("2")}},
		"after words":                {[]string{parts(one), text, parts(one)}, msg.Blocks{f("1"), msg.Text{Text: "a"}}},
		"with the end":               {[]string{parts(one), strings.Replace(finish("STOP"), `{"text":""}`, one, 1)}, msg.Blocks{f("1")}},
		"no ids, the event":          {[]string{parts(bare), parts(bare)}, msg.Blocks{f("")}},
		"no ids, an event with two":  {[]string{parts(bare + "," + bare), parts(bare + "," + bare)}, msg.Blocks{f(""), f("")}},
		"no ids, two in one":         {[]string{parts(bare + "," + bare)}, msg.Blocks{f(""), f("")}},
		"no ids, events that differ": {[]string{parts(bare), strings.Replace(parts(bare), `"index"`, `"avgLogprobs":-1,"index"`, 1)}, msg.Blocks{f(""), f("")}},
		"no ids, but signed":         {[]string{parts(sealed), parts(sealed + "," + bare)}, msg.Blocks{signed(""), f("")}},
		"other ids":                  {[]string{parts(one), parts(two)}, msg.Blocks{f("1"), f("2")}},
		"one id, other arguments":    {[]string{parts(one), parts(`{"functionCall":{"id":"1","name":"f","args":{"a":1}}}`)}, msg.Blocks{f("1"), msg.Call{Given: "1", Name: "f", Args: `{"a":1}`}}},
		"words that only look alike": {[]string{text, text, parts(one)}, msg.Blocks{msg.Text{Text: "aa"}, f("1")}},
	} {
		got, err := stream(t, append(c.events, finish("STOP"))...)
		if d := cmp.Diff(model.Reply{Usage: used, Stop: model.StopCalls, Blocks: c.want}, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestARepeatedEventOfCallsGivesTheSameCalls(t *testing.T) {
	two := []modeltest.Call{{ID: "a1", Name: "f", Args: `{"a":1}`}, {ID: "a2", Name: "f", Args: `{"a":1}`}}
	for name, ids := range map[string][2]string{"gemini-3-flash-preview": {"a1", "a2"}, "gemini-2.5-flash": {}} {
		s := modeltest.New(t, modeltest.Reply{Text: "I look.", Calls: two, Style: modeltest.Doubled, Bytes: 3})
		m := New(Options{URL: s.URL, Key: modeltest.Key})
		t.Cleanup(func() { _ = m.Close() })
		got, err := m.Stream(context.Background(), model.Request{Model: name, Messages: []msg.Message{msg.Say(msg.User, "hi")}}, nil)
		calls := got.Blocks.Calls()
		if err != nil || len(calls) != 2 || got.Blocks.Text() != "I look." {
			t.Fatalf("%s: %v %+v", name, err, got)
		}
		if calls[0].Given != ids[0] || calls[1].Given != ids[1] {
			t.Errorf("%s: %+v", name, calls)
		}
	}
}

func TestUsageIsTheLastOneThatWasTold(t *testing.T) {
	got, err := stream(t,
		`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":10,"thoughtsTokenCount":3,"toolUsePromptTokenCount":2}}`,
		`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":4}}`)
	if want := (msg.Usage{Input: 13, Output: 7}); err != nil || got.Usage != want {
		t.Errorf("%v %+v", err, got.Usage)
	}
}

func TestOddCountsAreReadAndCostNoReply(t *testing.T) {
	for given, want := range map[string]msg.Usage{
		`{"promptTokenCount":10.0,"candidatesTokenCount":"4","thoughtsTokenCount":null}`: {Input: 10, Output: 4},
		`{"promptTokenCount":"many","candidatesTokenCount":[4]}`:                         {Input: 9},
		`[]`: {Input: 9},
	} {
		got, err := stream(t, `{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":9}}`, `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":`+given+`}`)
		if err != nil || got.Usage != want {
			t.Errorf("%s: %+v %v", given, got.Usage, err)
		}
	}
}

func TestAReplyThatWentWrongIsAnErrorAndNoneOfItsCallsARunnableOne(t *testing.T) {
	call := parts(`{"text":"a"},{"functionCall":{"name":"f","args":{}}}`)
	for name, c := range map[string]struct {
		events []string
		kind   model.Kind
		says   string
	}{
		"end":       {[]string{call}, model.KindNetwork, "broke off"},
		"garbage":   {[]string{call, `{"candidates":`}, model.KindProtocol, "generateContent"},
		"error":     {[]string{call, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Resource has been exhausted (e.g. check quota)."}}`}, model.KindLimit, "check quota"},
		"overload":  {[]string{call, `{"error":{"code":503,"status":"UNAVAILABLE","message":"The model is overloaded."}}`}, model.KindServer, "overloaded"},
		"malformed": {[]string{call, finish("MALFORMED_FUNCTION_CALL")}, model.KindServer, "broke off its reply twice (MALFORMED_FUNCTION_CALL)"},
		"unknown":   {[]string{call, strings.Replace(finish("UNEXPECTED_TOOL_CALL"), `"index"`, `"finishMessage":"no such tool.","index"`, 1)}, model.KindServer, "(UNEXPECTED_TOOL_CALL: no such tool); ask for less at once, or use another model"},
		"too many":  {[]string{call, finish("TOO_MANY_TOOL_CALLS")}, model.KindServer, "TOO_MANY_TOOL_CALLS"},
		"other":     {[]string{call, finish("OTHER")}, model.KindServer, "(OTHER)"},
		"signature": {[]string{call, finish("MISSING_THOUGHT_SIGNATURE")}, model.KindRequest, "start a new conversation"},
	} {
		got, err := stream(t, c.events...)
		if kindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || got.Blocks.Text() != "a" || got.Stop != "" {
			t.Errorf("%s: %v %+v", name, err, got)
		}
	}
}

// The answers are published: https://ai.google.dev/gemini-api/docs/thought-signatures and
// https://github.com/pydantic/pydantic-ai/pull/3300 (the last).
func TestPublishedAnswersAreRead(t *testing.T) {
	got, err := answered(t, 200, "application/json", `{"candidates":[{"content":{"role":"model","parts":[
	  {"functionCall":{"name":"get_current_temperature","args":{"location":"Paris"}},"thoughtSignature":"<Signature_A>"},
	  {"functionCall":{"name":"get_current_temperature","args":{"location":"London"}}}]},"finishReason":"STOP"}]}`)
	want := model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{
		msg.Call{Name: "get_current_temperature", Args: `{"location":"Paris"}`, Raw: raw(`{"thoughtSignature":"<Signature_A>"}`)},
		msg.Call{Name: "get_current_temperature", Args: `{"location":"London"}`},
	}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	_, err = stream(t, `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","index":0}],"usageMetadata":{"promptTokenCount":2595,"promptTokensDetails":[{"modality":"TEXT","tokenCount":2595}],"totalTokenCount":2595}}`)
	if kindOf(err) != model.KindServer {
		t.Error(err)
	}
}

func TestAListOfPiecesInPlaceOfEventsIsRead(t *testing.T) {
	got, err := answered(t, 200, "application/json", "["+parts(`{"text":"a"}`)+",\r\n"+parts(`{"text":"b"}`)+","+finish("STOP")+"]")
	if want := (model.Reply{Usage: used, Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "ab"}}}); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v %+v", err, got)
	}
	for body, kind := range map[string]model.Kind{
		`[]`: model.KindProtocol, `[7]`: model.KindProtocol, `[{"hello":1}]`: model.KindProtocol, "[" + parts(`{"text":"a"}`) + `]`: model.KindProtocol, `[{"error":{"code":503,"message":"x"}}]`: model.KindServer,
		"[" + parts(`{"text":"a"}`) + `,{"error":{"code":429,"message":"x"}}]`: model.KindLimit,
	} {
		if got, err := answered(t, 200, "application/json", body); kindOf(err) != kind || got.Stop != "" {
			t.Errorf("%s: %v %+v", body, err, got)
		}
	}
}

// The bodies are reported ones: https://github.com/RooCodeInc/Roo-Code/issues/3883,
// https://github.com/continuedev/continue/issues/12205, https://github.com/gke-labs/gemini-for-kubernetes-development/issues/1215,
// https://github.com/google-gemini/gemini-cli/issues/19976, https://github.com/dyad-sh/dyad/issues/3626,
// https://github.com/cequence-io/openai-scala-client/issues/109, https://github.com/google-gemini/gemini-cli/issues/4231 and
// https://github.com/PublicAffairs/openai-gemini/issues/92.
func TestRefusalsAreToldApartByTheirDetails(t *testing.T) {
	quota := func(id, value, delay string) string {
		return `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.","status":"RESOURCE_EXHAUSTED","details":[
		  {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_input_token_count","quotaId":"` + id + `","quotaDimensions":{"location":"global","model":"gemini-2.5-flash"},"quotaValue":"` + value + `"}]},
		  {"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Learn more about Gemini API quotas","url":"https://ai.google.dev/gemini-api/docs/rate-limits"}]},
		  {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}]}}`
	}
	for name, c := range map[string]struct {
		status int
		body   string
		kind   model.Kind
		after  time.Duration
	}{
		"a minute's limit":   {429, quota("GenerateContentInputTokensPerModelPerMinute-FreeTier", "250000", "26s"), model.KindLimit, 26 * time.Second},
		"a day's quota":      {429, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250", "26s"), model.KindQuota, 26 * time.Second},
		"a quota of nothing": {429, quota("GenerateContentInputTokensPerModelPerMinute-FreeTier", "0", "26s"), model.KindQuota, 26 * time.Second},
		"a wait in words":    {429, `{"error":{"code":429,"message":"You exceeded your current quota.\n* Quota exceeded for metric: x, limit: 10, model: m\nPlease retry in 55.576865699s.","status":"RESOURCE_EXHAUSTED"}}`, model.KindLimit, 55576865699},
		"limit 0 in words":   {429, `{"error":{"code":429,"message":"You exceeded your current quota. \n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-3.1-pro\nPlease retry in 55.576865699s.","status":"RESOURCE_EXHAUSTED"}}`, model.KindQuota, 55576865699},
		"no wait at all":     {429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help","links":[]}]}}`, model.KindQuota, 0},
		"check quota":        {429, `{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`, model.KindLimit, 0},
		"credits":            {429, `{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing.","status":"RESOURCE_EXHAUSTED"}}`, model.KindQuota, 0},
		"odd details":        {429, `{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[7,null,{"@type":[1]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"soon"},{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[7]}]}}`, model.KindLimit, 0},
		"key":                {400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}},{"@type":"type.googleapis.com/google.rpc.LocalizedMessage","locale":"en-US","message":"API key not valid. Please pass a valid API key."}]}}`, model.KindAuth, 0},
		"no key":             {403, `{"error":{"code":403,"message":"Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.","status":"PERMISSION_DENIED"}}`, model.KindAuth, 0},
		"overflow":           {400, `{"error":{"code":400,"message":"The input token count (3475108) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, model.KindOverflow, 0},
		"overload":           {503, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, model.KindServer, 0},
		"in a list":          {400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"x\": Cannot find field.","status":"INVALID_ARGUMENT"}}]`, model.KindRequest, 0},
	} {
		_, err := answered(t, c.status, "application/json; charset=UTF-8", c.body)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.After != c.after || strings.Contains(e.Text, "\n") {
			t.Errorf("%s: %v, %+v", name, err, e)
		}
	}
}

func TestAGatewaysEndMarkIsNotAnEvent(t *testing.T) {
	if r, err := stream(t, parts(`{"text":"a"}`), finish("STOP"), "[DONE]"); err != nil || r.Stop != model.StopEnd || r.Blocks.Text() != "a" {
		t.Error(r, err)
	}
}
