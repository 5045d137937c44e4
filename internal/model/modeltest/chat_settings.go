package modeltest

import (
	"fmt"
	"slices"
	"strings"
)

// chatSettings checks everything but messages and tools.
func chatSettings(q object, model string) *problem {
	for _, k := range []string{"stream", "store", "logprobs", "parallel_tool_calls"} {
		if v := q[k]; v != nil {
			if _, ok := v.(bool); !ok {
				return wrongType(k, "a boolean", v)
			}
		}
	}
	if p := chatStream(q); p != nil {
		return p
	}
	for k, most := range map[string]int64{"max_tokens": 1 << 40, "max_completion_tokens": 1 << 40, "n": 128} {
		v := q[k]
		if v == nil {
			continue
		}
		n, ok := isInt(v)
		switch {
		case !ok:
			return wrongType(k, "an integer", v)
		case n < 1:
			return chatProblem(k, "integer_below_min_value", "Invalid '%s': integer below minimum value. Expected a value >= 1, but got %d instead.", k, n)
		case n > most:
			return chatProblem(k, "integer_above_max_value", "Invalid '%s': integer above maximum value. Expected a value <= %d, but got %d instead.", k, most, n)
		}
	}
	for k, bounds := range map[string][2]float64{"temperature": {0, 2}, "top_p": {0, 1}, "frequency_penalty": {-2, 2}, "presence_penalty": {-2, 2}} {
		if p := chatDecimal(q[k], k, bounds); p != nil {
			return p
		}
	}
	return chatModel(q, model)
}

func chatDecimal(v any, k string, bounds [2]float64) *problem {
	if v == nil {
		return nil
	}
	f, ok := isNumber(v)
	switch {
	case !ok:
		return wrongType(k, "a decimal", v)
	case f < bounds[0]:
		return chatProblem(k, "decimal_below_min_value", "Invalid '%s': decimal below minimum value. Expected a value >= %v, but got %v instead.", k, bounds[0], v)
	case f > bounds[1]:
		return chatProblem(k, "decimal_above_max_value", "Invalid '%s': decimal above maximum value. Expected a value <= %v, but got %v instead.", k, bounds[1], v)
	}
	return nil
}

func chatStream(q object) *problem {
	v, there := q["stream_options"]
	if !there || v == nil {
		return nil
	}
	o, ok := v.(object)
	if !ok {
		return wrongType("stream_options", "an object", v)
	}
	for _, k := range slices.Sorted(keys(o)) {
		if k != "include_usage" && k != "include_obfuscation" {
			return chatProblem("stream_options."+k, "unknown_parameter", "Unknown parameter: 'stream_options.%s'.", k)
		}
	}
	if q["stream"] != true {
		return chatProblem("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	return nil
}

// chatModel checks what depends on the model. Reasoning models take max_completion_tokens only,
// and no temperature but the default: https://platform.openai.com/docs/guides/reasoning
func chatModel(q object, model string) *problem {
	efforts := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	if e := q["reasoning_effort"]; e != nil {
		if s, ok := e.(string); !ok || !slices.Contains(efforts, s) {
			return chatProblem("reasoning_effort", "invalid_value", "Invalid value: '%v'. Supported values are: '%s'.", e, strings.Join(efforts, "', '"))
		}
	}
	reasons := len(model) > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9' ||
		strings.HasPrefix(model, "gpt-5") || strings.HasPrefix(model, "gpt-6")
	if !reasons {
		if q["reasoning_effort"] != nil && strings.HasPrefix(model, "gpt-") {
			return chatProblem("reasoning_effort", "", "Unrecognized request argument supplied: reasoning_effort")
		}
		return nil
	}
	if q["max_tokens"] != nil {
		return chatProblem("max_tokens", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	}
	for _, k := range []string{"temperature", "top_p"} {
		if f, ok := isNumber(q[k]); ok && f != 1 && q["reasoning_effort"] != "none" {
			return chatProblem(k, "unsupported_value", "Unsupported value: '%s' does not support %v with this model. Only the default (1) value is supported.", k, q[k])
		}
	}
	return nil
}

// chatConversation checks the messages together: every call is answered by the tool messages right
// after it, every answer has its call, and only an assistant that calls tools may say nothing.
// https://portkey.ai/error-library/tool-call-response-error-6610000
func (s *Server) chatConversation(messages list) *problem {
	var open, known []string
	unanswered := func(i int) *problem {
		return chatProblem(fmt.Sprintf("messages.[%d].role", i), "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
	}
	for i, v := range messages {
		m := v.(object)
		if m["role"] == "tool" {
			id := m["tool_call_id"].(string)
			switch {
			case known == nil:
				return chatProblem(fmt.Sprintf("messages.[%d].role", i), "", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.") //nolint:misspell // the service spells it so
			case !slices.Contains(known, id):
				return chatProblem(fmt.Sprintf("messages.[%d].tool_call_id", i), "", "Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
			case !slices.Contains(open, id):
				return chatProblem(fmt.Sprintf("messages.[%d].tool_call_id", i), "", "Invalid parameter: Duplicate value for 'tool_call_id' of '%s'", id)
			}
			open = slices.DeleteFunc(open, func(x string) bool { return x == id })
		} else {
			if len(open) > 0 {
				return unanswered(i)
			}
			known = nil
		}
		calls, _ := m["tool_calls"].(list)
		for _, c := range calls {
			id := c.(object)["id"].(string)
			if slices.Contains(open, id) {
				return chatProblem(fmt.Sprintf("messages.[%d].tool_calls", i), "", "Invalid parameter: Duplicate value for 'tool_call_id' of '%s'", id)
			}
			open, known = append(open, id), append(known, id)
			if _, ok := m["reasoning_content"]; s.ReasoningBack && s.reasoned[id] && !ok {
				return chatProblem("", "invalid_request_error", "The `reasoning_content` in the thinking mode must be passed back to the API.")
			}
		}
		if m["content"] == nil && (m["role"] != "assistant" || calls == nil && m["refusal"] == nil && m["function_call"] == nil) {
			return chatProblem(fmt.Sprintf("messages.[%d].content", i), "", "Invalid value for 'content': expected a string, got null.")
		}
	}
	if len(open) > 0 {
		return unanswered(len(messages))
	}
	return nil
}
