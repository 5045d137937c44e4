package modeltest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The rules of chat completions. Shapes, required fields, types and enumerations are those of
// https://github.com/openai/openai-openapi (CreateChatCompletionRequest) and of the field comments
// in https://github.com/openai/openai-go (chatcompletion.go); what is more than that names its own
// source.

// chatKeys are the top-level parameters; any other is refused as unknown.
var chatKeys = strings.Fields(`audio frequency_penalty function_call functions logit_bias logprobs
	max_completion_tokens max_tokens messages metadata modalities model moderation n
	parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options
	prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier
	stop store stream stream_options temperature tool_choice tools top_logprobs top_p user
	verbosity web_search_options`)

func chatProblem(param, code, format string, a ...any) *problem {
	return &problem{status: 400, kind: "invalid_request_error", code: code, param: param, message: fmt.Sprintf(format, a...)}
}

func missing(param string) *problem {
	return chatProblem(param, "missing_required_parameter", "Missing required parameter: '%s'.", param)
}

func wrongType(param, want string, got any) *problem {
	return chatProblem(param, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", param, want, typeName(got))
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case object:
		return "an object"
	case list:
		return "an array"
	default:
		if _, ok := isInt(v); ok {
			return "an integer"
		}
		return "a decimal number"
	}
}

// checkChat returns the request's fields, or why it is refused, in the order in which the service
// looks: address, key, body, required fields, unknown fields, values, and the conversation last.
func (s *Server) checkChat(r *http.Request, body []byte) (object, *problem) {
	q, p := s.checkBody(r, body, "/v1/chat/completions")
	if p != nil {
		return nil, p
	}
	model, ok := q["model"].(string)
	if !ok || model == "" {
		return nil, chatProblem("", "", "you must provide a model parameter")
	}
	if _, ok := q["messages"]; !ok {
		return nil, missing("messages")
	}
	for _, k := range slices.Sorted(keys(q)) {
		if !slices.Contains(chatKeys, k) {
			return nil, chatProblem(k, "unknown_parameter", "Unknown parameter: '%s'.", k)
		}
	}
	for _, check := range []func() *problem{
		func() *problem { return s.knows(model) },
		func() *problem { return s.chatMessages(q) },
		func() *problem { return chatTools(q) },
		func() *problem { return chatSettings(q, model) },
		func() *problem { return s.Chat.check(q) },
		func() *problem { return s.chatConversation(q["messages"].(list)) },
	} {
		if p := check(); p != nil {
			return nil, p
		}
	}
	return q, nil
}

// checkBody checks what all requests to this vendor have in common: address, key and JSON.
func (s *Server) checkBody(r *http.Request, body []byte, path string) (object, *problem) {
	if r.URL.Path != path {
		return nil, &problem{status: 404, kind: "invalid_request_error", message: fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path)}
	}
	if r.Method != http.MethodPost {
		return nil, &problem{status: 405, kind: "invalid_request_error", code: "method_not_supported", message: "Not allowed to " + r.Method + " on " + r.URL.Path + "."}
	}
	// https://platform.openai.com/docs/guides/error-codes
	switch auth := r.Header.Get("Authorization"); {
	case auth == "" && !s.Keyless:
		return nil, &problem{status: 401, kind: "invalid_request_error", message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."}
	case auth != "" && auth != "Bearer "+Key:
		return nil, &problem{status: 401, kind: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key provided: " + strings.TrimPrefix(auth, "Bearer ") + ". You can find your API key at https://platform.openai.com/account/api-keys."}
	}
	if len(body) > maxBody {
		return nil, &problem{status: 413, kind: "invalid_request_error", message: "Request body too large."}
	}
	v, err := decode(body)
	q, ok := v.(object)
	if err != nil || !ok || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil, chatProblem("", "", "We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.")
	}
	return q, nil
}

func (s *Server) knows(model string) *problem {
	if len(s.Models) > 0 && !slices.Contains(s.Models, model) {
		return &problem{status: 404, kind: "invalid_request_error", code: "model_not_found", message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)}
	}
	return nil
}

func keys(o object) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range o {
			if !yield(k) {
				return
			}
		}
	}
}

var chatRoles = []string{"system", "assistant", "user", "function", "tool", "developer"}

// chatMessages checks each message by itself.
func (s *Server) chatMessages(q object) *problem {
	messages, ok := q["messages"].(list)
	if !ok {
		return wrongType("messages", "an array of objects", q["messages"])
	}
	if len(messages) == 0 {
		return emptyArray("messages")
	}
	for i, v := range messages {
		at := fmt.Sprintf("messages[%d]", i)
		m, ok := v.(object)
		if !ok {
			return wrongType(at, "an object", v)
		}
		if m["role"] == nil {
			return missing(at + ".role")
		}
		role, _ := m["role"].(string)
		if !slices.Contains(chatRoles, role) {
			return chatProblem(at+".role", "invalid_value", "Invalid value: '%v'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m["role"])
		}
		if p := chatContent(m["content"], role, at); p != nil {
			return p
		}
		if p := chatCalls(m, at); p != nil {
			return p
		}
		if id := m["tool_call_id"]; role == "tool" {
			if id == nil {
				return missing(at + ".tool_call_id")
			}
			if p := chatID(id, at+".tool_call_id"); p != nil {
				return p
			}
		}
		if _, ok := m["reasoning_content"]; ok && s.NoReasoning {
			return chatProblem(at, "invalid_request_error", "The reasoning_content is an intermediate result for display purposes only and will not be included in the context for inference. Please remove the reasoning_content from your message to reduce network traffic.")
		}
	}
	return nil
}

func emptyArray(param string) *problem {
	return chatProblem(param, "empty_array", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", param)
}

// chatContent checks the content of a message; whether it may be missing is seen later.
func chatContent(content any, role, at string) *problem {
	switch c := content.(type) {
	case nil, string:
		return nil
	case list:
		if len(c) == 0 { // minItems: 1
			return emptyArray(at + ".content")
		}
		for i, v := range c {
			if p := chatPart(v, role, at, fmt.Sprintf("%s.content[%d]", at, i)); p != nil {
				return p
			}
		}
		return nil
	}
	return wrongType(at+".content", "one of a string or array of objects", content)
}

func chatPart(v any, role, message, at string) *problem {
	part, ok := v.(object)
	if !ok {
		return wrongType(at, "an object", v)
	}
	if part["type"] == nil {
		return missing(at + ".type")
	}
	allowed := []string{"text"}
	switch role {
	case "user":
		allowed = []string{"text", "image_url", "input_audio", "file"}
	case "assistant":
		allowed = []string{"text", "refusal"}
	}
	kind, _ := part["type"].(string)
	if kind == "image_url" && role != "user" {
		// https://github.com/openai/openai-node/issues/1030
		return chatProblem(message, "invalid_value", "Invalid '%s'. Image URLs are only allowed for messages with role 'user', but this message with role '%s' contains an image URL.", message, role)
	}
	if !slices.Contains(allowed, kind) {
		return chatProblem(at+".type", "invalid_value", "Invalid value: '%v'. Supported values are: '%s'.", part["type"], strings.Join(allowed, "', '"))
	}
	switch kind {
	case "text":
		if _, ok := part["text"].(string); !ok {
			return missing(at + ".text")
		}
	case "image_url":
		image, _ := part["image_url"].(object)
		url, ok := image["url"].(string)
		if !ok {
			return missing(at + ".image_url.url")
		}
		return chatImage(url, at+".image_url.url")
	}
	return nil
}

// chatImage checks a data URL: https://platform.openai.com/docs/guides/images-vision
func chatImage(url, at string) *problem {
	mime, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !strings.HasPrefix(url, "data:") {
		if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
			return nil
		}
		return chatProblem(at, "invalid_image_url", "Invalid image URL: '%s'. Expected a valid URL, but got a value with an invalid format.", at)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if !ok || err != nil {
		return chatProblem(at, "invalid_base64", "Invalid base64 image_url.")
	}
	known := []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	if !slices.Contains(known, mime) || !slices.Contains(known, http.DetectContentType(raw)) {
		return chatProblem("", "invalid_image_format", "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].")
	}
	return nil
}

// chatID checks an id. The limit is reported in https://github.com/openclaw/openclaw/pull/875 and
// many others.
func chatID(v any, at string) *problem {
	id, ok := v.(string)
	if !ok {
		return wrongType(at, "a string", v)
	}
	if len(id) > 40 {
		return chatProblem(at, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length 40, but got a string with length %d instead.", at, len(id))
	}
	return nil
}

func chatCalls(m object, at string) *problem {
	v, there := m["tool_calls"]
	if !there || v == nil {
		return nil
	}
	at += ".tool_calls"
	calls, ok := v.(list)
	if !ok {
		return wrongType(at, "an array of objects", v)
	}
	if len(calls) == 0 {
		return emptyArray(at)
	}
	for i, v := range calls {
		at := fmt.Sprintf("%s[%d]", at, i)
		c, ok := v.(object)
		if !ok {
			return wrongType(at, "an object", v)
		}
		if c["id"] == nil {
			return missing(at + ".id")
		}
		if p := chatID(c["id"], at+".id"); p != nil {
			return p
		}
		if c["type"] != "function" && c["type"] != "custom" {
			return chatProblem(at+".type", "invalid_value", "Invalid value: '%v'. Supported values are: 'function' and 'custom'.", c["type"])
		}
		f, ok := c["function"].(object)
		if !ok {
			return missing(at + ".function")
		}
		if p := chatName(f["name"], at+".function.name"); p != nil {
			return p
		}
		if _, ok := f["arguments"].(string); !ok {
			return wrongType(at+".function.arguments", "a string", f["arguments"])
		}
	}
	return nil
}

// chatName: "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."
func chatName(v any, at string) *problem {
	name, ok := v.(string)
	switch {
	case v == nil:
		return missing(at)
	case !ok:
		return wrongType(at, "a string", v)
	case name == "":
		return chatProblem(at, "empty_string", "Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", at)
	case len(name) > 64:
		return chatProblem(at, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", at, len(name))
	case !named(name, 64):
		return chatProblem(at, "invalid_value", "Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at)
	}
	return nil
}

func chatTools(q object) *problem {
	v, there := q["tools"]
	if !there {
		for _, k := range []string{"tool_choice", "parallel_tool_calls"} {
			if q[k] != nil {
				return chatProblem(k, "", "Invalid value for '%s': '%s' is only allowed when 'tools' are specified.", k, k)
			}
		}
		return nil
	}
	tools, ok := v.(list)
	if !ok {
		return wrongType("tools", "an array of objects", v)
	}
	if len(tools) == 0 {
		return emptyArray("tools")
	}
	var names []string
	for i, v := range tools {
		at := fmt.Sprintf("tools[%d]", i)
		t, ok := v.(object)
		if !ok {
			return wrongType(at, "an object", v)
		}
		if t["type"] != "function" && t["type"] != "custom" {
			return chatProblem(at+".type", "invalid_value", "Invalid value: '%v'. Supported values are: 'function' and 'custom'.", t["type"])
		}
		f, ok := t["function"].(object)
		if !ok {
			return missing(at + ".function")
		}
		if p := chatFunction(f, at+".function"); p != nil {
			return p
		}
		names = append(names, f["name"].(string))
	}
	return chatToolChoice(q["tool_choice"], names)
}

func chatFunction(f object, at string) *problem {
	if p := chatName(f["name"], at+".name"); p != nil {
		return p
	}
	for _, k := range slices.Sorted(keys(f)) {
		if !slices.Contains([]string{"name", "description", "parameters", "strict"}, k) {
			return chatProblem(at+"."+k, "unknown_parameter", "Unknown parameter: '%s.%s'.", at, k)
		}
	}
	if d := f["description"]; d != nil {
		if _, ok := d.(string); !ok {
			return wrongType(at+".description", "a string", d)
		}
	}
	if f["parameters"] == nil {
		return nil
	}
	params, ok := f["parameters"].(object)
	if !ok {
		return wrongType(at+".parameters", "an object", f["parameters"])
	}
	if kind := params["type"]; len(params) > 0 && kind != "object" {
		// https://github.com/browserbase/stagehand/issues/1159
		if kind == nil {
			kind = "None"
		}
		return chatProblem(at+".parameters", "invalid_function_parameters", "Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%v\"'.", f["name"], kind)
	}
	return nil
}

func chatToolChoice(v any, names []string) *problem {
	switch c := v.(type) {
	case nil:
		return nil
	case string:
		if slices.Contains([]string{"none", "auto", "required"}, c) {
			return nil
		}
		return chatProblem("tool_choice", "invalid_value", "Invalid value: '%s'. Supported values are: 'none', 'auto', and 'required'.", c)
	case object:
		f, ok := c["function"].(object)
		if !ok {
			return missing("tool_choice.function")
		}
		if name, ok := f["name"].(string); !ok || !slices.Contains(names, name) {
			return chatProblem("function_call", "", "Invalid value for 'function_call': no function named '%v' was specified in the 'functions' parameter.", f["name"])
		}
		return nil
	}
	return wrongType("tool_choice", "one of 'none', 'auto', or 'required' or object", v)
}
