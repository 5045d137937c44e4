package modeltest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The rules of the responses API. Shapes, required fields, types and enumerations are those of
// https://platform.openai.com/docs/api-reference/responses/create, as the field comments of
// https://github.com/openai/openai-go (responses/response.go, v3.98.0) repeat them, and of
// https://github.com/openresponses/openresponses (schema/items.tsp, schema/responses.tsp) where those
// say more, such as lengths and patterns. What is more than that names its own source.

// responsesKeys are the top-level parameters; any other is refused as unknown.
var responsesKeys = strings.Fields(`access_programs background context_management conversation image include
	input instructions max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls
	previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning
	safety_identifier service_tier store stream stream_options temperature text tool_choice tools
	top_logprobs top_p truncation user`)

// checkResponses returns the request's fields, or why it is refused: address, key, body, required
// fields, unknown fields, values, and the conversation last.
func (s *Server) checkResponses(r *http.Request, body []byte) (object, *problem) {
	q, p := s.checkBody(r, body, "/v1/responses")
	if p != nil {
		return nil, p
	}
	model, ok := q["model"].(string)
	if !ok || model == "" {
		return nil, missing("model")
	}
	if q["input"] == nil {
		return nil, missing("input")
	}
	if p := onlyKeys(q, "", responsesKeys); p != nil {
		return nil, p
	}
	input, p := responsesInput(q["input"])
	if p != nil {
		return nil, p
	}
	for _, check := range []func() *problem{
		func() *problem { return s.knows(model) },
		func() *problem { return responsesTools(q) },
		func() *problem { return responsesSettings(q) },
		func() *problem { return s.responsesModel(q, model) },
		func() *problem { return s.responsesConversation(input, q["store"] == false) },
	} {
		if p := check(); p != nil {
			return nil, p
		}
	}
	return q, nil
}

// onlyKeys refuses what is not among the known fields of an object at a place.
func onlyKeys(o object, at string, known []string) *problem {
	if at != "" {
		at += "."
	}
	for _, k := range slices.Sorted(keys(o)) {
		if !slices.Contains(known, k) {
			return chatProblem(at+k, "unknown_parameter", "Unknown parameter: '%s%s'.", at, k)
		}
	}
	return nil
}

// responsesInput checks each item by itself and returns them. A string is a user's message.
func responsesInput(v any) (list, *problem) {
	switch in := v.(type) {
	case string:
		return list{object{"role": "user", "content": in}}, nil
	case list:
		for i, v := range in {
			at := fmt.Sprintf("input[%d]", i)
			item, ok := v.(object)
			if !ok {
				return nil, wrongType(at, "an object", v)
			}
			if p := responsesItem(item, at); p != nil {
				return nil, p
			}
		}
		return in, nil
	}
	return nil, wrongType("input", "one of a string or array of objects", v)
}

// sort of item: a message may leave its type out.
func sortOf(item object) string {
	if item["type"] == nil && item["role"] != nil {
		return "message"
	}
	kind, _ := item["type"].(string)
	return kind
}

func responsesItem(item object, at string) *problem {
	switch kind := sortOf(item); kind {
	case "message":
		return responsesMessage(item, at)
	case "reasoning":
		return responsesReasoning(item, at)
	case "function_call":
		if p := firstOf(onlyKeys(item, at, strings.Fields("type id call_id name arguments status async namespace caller")),
			itemID(item, at, "fc"), callID(item, at), itemStatus(item, at)); p != nil {
			return p
		}
		if p := chatName(item["name"], at+".name"); p != nil {
			return p
		}
		return needString(item, "arguments", at)
	case "function_call_output":
		if p := firstOf(onlyKeys(item, at, strings.Fields("type id call_id output status name namespace caller")),
			itemID(item, at, "fc"), callID(item, at), itemStatus(item, at)); p != nil {
			return p
		}
		if item["output"] == nil {
			return missing(at + ".output")
		}
		return responsesContent(item["output"], at+".output", []string{"input_text", "input_image", "input_file"})
	case "":
		return missing(at + ".type")
	default:
		// The hosted tools' items are real, but no script here ever brings one.
		return chatProblem(at, "invalid_value", "Invalid value: '%s'. Supported values are: 'message', 'reasoning', 'function_call', and 'function_call_output'.", kind)
	}
}

func firstOf(problems ...*problem) *problem {
	for _, p := range problems {
		if p != nil {
			return p
		}
	}
	return nil
}

func needString(item object, key, at string) *problem {
	switch item[key].(type) {
	case string:
		return nil
	case nil:
		return missing(at + "." + key)
	}
	return wrongType(at+"."+key, "a string", item[key])
}

// itemID checks an item's own id, which may be left out:
// https://github.com/nodetool-ai/nodetool/pull/4252
func itemID(item object, at, prefix string) *problem {
	v, there := item["id"]
	if !there || v == nil {
		return nil
	}
	id, ok := v.(string)
	switch {
	case !ok:
		return wrongType(at+".id", "a string", v)
	case !strings.HasPrefix(id, prefix):
		return chatProblem(at+".id", "invalid_value", "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", at, id, prefix)
	case len(id) > 64:
		return chatProblem(at+".id", "string_above_max_length", "Invalid '%s.id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", at, len(id))
	}
	return nil
}

// callID checks the id that ties a result to its call, 1 to 64 characters.
func callID(item object, at string) *problem {
	if p := needString(item, "call_id", at); p != nil {
		return p
	}
	switch id := item["call_id"].(string); {
	case id == "":
		return chatProblem(at+".call_id", "empty_string", "Invalid '%s.call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.", at)
	case len(id) > 64:
		return chatProblem(at+".call_id", "string_above_max_length", "Invalid '%s.call_id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", at, len(id))
	}
	return nil
}

func itemStatus(item object, at string) *problem {
	return oneOf(item["status"], at+".status", "in_progress", "completed", "incomplete")
}

// oneOf checks a value that may be left out.
func oneOf(v any, at string, known ...string) *problem {
	if v == nil {
		return nil
	}
	if s, ok := v.(string); !ok || !slices.Contains(known, s) {
		return chatProblem(at, "invalid_value", "Invalid value: '%v'. Supported values are: '%s'.", v, strings.Join(known, "', '"))
	}
	return nil
}

func responsesMessage(m object, at string) *problem {
	role, _ := m["role"].(string)
	if m["role"] == nil {
		return missing(at + ".role")
	}
	if p := oneOf(role, at+".role", "assistant", "system", "developer", "user"); p != nil {
		return p
	}
	if p := firstOf(onlyKeys(m, at, strings.Fields("type id role content status phase")),
		itemID(m, at, "msg"), itemStatus(m, at), oneOf(m["phase"], at+".phase", "commentary", "final_answer")); p != nil {
		return p
	}
	if m["phase"] != nil && role != "assistant" {
		return chatProblem(at+".phase", "unknown_parameter", "Unknown parameter: '%s.phase'.", at)
	}
	allowed := []string{"input_text", "input_image", "input_file"}
	if role == "assistant" {
		allowed = []string{"output_text", "refusal"} // https://github.com/jeremychone/rust-genai/pull/119
	}
	if m["content"] == nil {
		return missing(at + ".content")
	}
	if p := responsesContent(m["content"], at+".content", allowed); p != nil {
		return p
	}
	if m["id"] == nil || role != "assistant" {
		return nil
	}
	// With its id it is the message that the model wrote, in full: schema OutputMessage.
	if m["status"] == nil {
		return missing(at + ".status")
	}
	parts, ok := m["content"].(list)
	if !ok {
		return wrongType(at+".content", "an array of objects", m["content"])
	}
	for i, v := range parts {
		if part := v.(object); part["type"] == "output_text" && part["annotations"] == nil {
			return missing(fmt.Sprintf("%s.content[%d].annotations", at, i))
		}
	}
	return nil
}

func responsesContent(v any, at string, allowed []string) *problem {
	parts, ok := v.(list)
	if _, plain := v.(string); plain {
		return nil
	}
	if !ok {
		return wrongType(at, "one of a string or array of objects", v)
	}
	for i, v := range parts {
		at := fmt.Sprintf("%s[%d]", at, i)
		part, ok := v.(object)
		if !ok {
			return wrongType(at, "an object", v)
		}
		if part["type"] == nil {
			return missing(at + ".type")
		}
		if p := oneOf(part["type"], at+".type", allowed...); p != nil {
			return p
		}
		if p := responsesPart(part, at); p != nil {
			return p
		}
	}
	return nil
}

func responsesPart(part object, at string) *problem {
	switch part["type"] {
	case "input_text":
		return firstOf(onlyKeys(part, at, strings.Fields("type text prompt_cache_breakpoint")), needString(part, "text", at))
	case "output_text":
		return firstOf(onlyKeys(part, at, strings.Fields("type text annotations logprobs")), needString(part, "text", at))
	case "refusal":
		return firstOf(onlyKeys(part, at, strings.Fields("type refusal")), needString(part, "refusal", at))
	case "input_image":
		if p := firstOf(onlyKeys(part, at, strings.Fields("type image_url file_id detail prompt_cache_breakpoint")),
			oneOf(part["detail"], at+".detail", "low", "high", "auto", "original"), needString(part, "image_url", at)); p != nil {
			return p
		}
		return chatImage(part["image_url"].(string), at+".image_url")
	}
	return nil
}

func responsesReasoning(item object, at string) *problem {
	if p := firstOf(onlyKeys(item, at, strings.Fields("type id summary content encrypted_content status")),
		needString(item, "id", at), itemID(item, at, "rs"), itemStatus(item, at)); p != nil {
		return p
	}
	if e := item["encrypted_content"]; e != nil {
		if _, ok := e.(string); !ok {
			return wrongType(at+".encrypted_content", "a string", e)
		}
	}
	if item["summary"] == nil {
		return missing(at + ".summary")
	}
	for _, key := range []string{"summary", "content"} {
		if item[key] == nil {
			continue
		}
		parts, ok := item[key].(list)
		if !ok {
			return wrongType(at+"."+key, "an array of objects", item[key])
		}
		for i, v := range parts {
			at := fmt.Sprintf("%s.%s[%d]", at, key, i)
			part, ok := v.(object)
			if !ok {
				return wrongType(at, "an object", v)
			}
			want := map[string]string{"summary": "summary_text", "content": "reasoning_text"}[key]
			if p := firstOf(onlyKeys(part, at, []string{"type", "text"}), oneOf(part["type"], at+".type", want), needString(part, "text", at)); p != nil {
				return p
			}
		}
	}
	return nil
}
