package modeltest

import (
	"fmt"
	"slices"
	"strings"
)

func responsesTools(q object) *problem {
	v, there := q["tools"]
	if !there || v == nil {
		return oneOf(q["tool_choice"], "tool_choice", "none", "auto")
	}
	tools, ok := v.(list)
	if !ok {
		return wrongType("tools", "an array of objects", v)
	}
	for i, v := range tools {
		at := fmt.Sprintf("tools[%d]", i)
		t, ok := v.(object)
		if !ok {
			return wrongType(at, "an object", v)
		}
		if t["type"] == nil {
			return missing(at + ".type")
		}
		if p := oneOf(t["type"], at+".type", "function"); p != nil { // hosted tools are none of a script's
			return p
		}
		if p := responsesFunction(t, at); p != nil {
			return p
		}
	}
	return oneOf(q["tool_choice"], "tool_choice", "none", "auto", "required")
}

func responsesFunction(f object, at string) *problem {
	if p := firstOf(onlyKeys(f, at, strings.Fields("type name description parameters strict async defer_loading allowed_callers output_schema")),
		chatName(f["name"], at+".name")); p != nil {
		return p
	}
	if d := f["description"]; d != nil {
		if _, ok := d.(string); !ok {
			return wrongType(at+".description", "a string", d)
		}
	}
	strict, ok := f["strict"].(bool)
	if f["strict"] != nil && !ok {
		return wrongType(at+".strict", "a boolean", f["strict"])
	}
	if f["parameters"] == nil {
		return missing(at + ".parameters")
	}
	schema, ok := f["parameters"].(object)
	if !ok {
		return wrongType(at+".parameters", "an object", f["parameters"])
	}
	invalid := func(format string, a ...any) *problem {
		return chatProblem(at+".parameters", "invalid_function_parameters", "Invalid schema for function '%s': "+format, append([]any{f["name"]}, a...)...)
	}
	properties, ok := schema["properties"].(object)
	switch {
	case schema["type"] == nil:
		return invalid("schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.")
	case schema["type"] != "object":
		return invalid("schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%v\"'.", schema["type"])
	case !ok:
		return invalid("In context=(), object schema missing properties.")
	}
	// Strict is the default, and what does not fit is refused, not adapted:
	// https://github.com/YourGPT/copilot-sdk/pull/108. Left out, a schema is adapted where that is
	// possible, which nobody can rely on: https://github.com/omnara-ai/omnara/pull/504.
	if f["strict"] != nil && !strict {
		return nil
	}
	if schema["additionalProperties"] != false {
		return invalid("In context=(), 'additionalProperties' is required to be supplied and to be false.")
	}
	required, _ := schema["required"].(list)
	for k := range properties {
		if !slices.Contains(required, any(k)) {
			return invalid("In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '%s'.", k)
		}
	}
	return nil
}

// responsesSettings checks everything but the input and the tools.
func responsesSettings(q object) *problem {
	for _, k := range []string{"stream", "store", "background", "parallel_tool_calls"} {
		if v := q[k]; v != nil {
			if _, ok := v.(bool); !ok {
				return wrongType(k, "a boolean", v)
			}
		}
	}
	for _, k := range []string{"instructions", "previous_response_id"} {
		if v := q[k]; v != nil {
			if _, ok := v.(string); !ok {
				return wrongType(k, "a string", v)
			}
		}
	}
	if id := q["previous_response_id"]; id != nil {
		return chatProblem("previous_response_id", "previous_response_not_found", "Previous response with id '%v' not found.", id) // nothing was stored
	}
	if v := q["max_output_tokens"]; v != nil {
		switch n, ok := isInt(v); {
		case !ok:
			return wrongType("max_output_tokens", "an integer", v)
		case n < 16: // https://github.com/vectorize-io/hindsight/issues/58
			return chatProblem("max_output_tokens", "integer_below_min_value", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", n)
		}
	}
	if p := firstOf(chatDecimal(q["temperature"], "temperature", [2]float64{0, 2}), chatDecimal(q["top_p"], "top_p", [2]float64{0, 1}),
		oneOf(q["truncation"], "truncation", "auto", "disabled"), responsesStream(q), responsesInclude(q)); p != nil {
		return p
	}
	v := q["reasoning"]
	if v == nil {
		return nil
	}
	r, ok := v.(object)
	if !ok {
		return wrongType("reasoning", "an object", v)
	}
	return firstOf(onlyKeys(r, "reasoning", strings.Fields("context effort generate_summary summary mode")),
		oneOf(r["effort"], "reasoning.effort", "none", "minimal", "low", "medium", "high", "xhigh", "max"),
		oneOf(r["summary"], "reasoning.summary", "auto", "concise", "detailed"))
}

func responsesStream(q object) *problem {
	v := q["stream_options"]
	if v == nil {
		return nil
	}
	o, ok := v.(object)
	if !ok {
		return wrongType("stream_options", "an object", v)
	}
	if q["stream"] != true {
		return chatProblem("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	return onlyKeys(o, "stream_options", []string{"include_obfuscation"})
}

func responsesInclude(q object) *problem {
	v := q["include"]
	if v == nil {
		return nil
	}
	names, ok := v.(list)
	if !ok {
		return wrongType("include", "an array", v)
	}
	for i, n := range names {
		if p := oneOf(n, fmt.Sprintf("include[%d]", i), "file_search_call.results", "web_search_call.results", "web_search_call.action.sources",
			"message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs",
			"reasoning.encrypted_content", "message.output_text.logprobs"); p != nil {
			return p
		}
	}
	return nil
}

// wantsThoughts is whether a request asks for reasoning in its encrypted form.
func wantsThoughts(q object) bool {
	names, _ := q["include"].(list)
	return slices.Contains(names, any("reasoning.encrypted_content"))
}

// grades are the efforts that a model takes, tried out against the service by
// https://community.openai.com/t/request-for-compatibility-matrix-reasoning-effort-sampling-parameters-across-gpt-5-series/1371738
// and, for 5.4 and later, https://github.com/bolna-ai/bolna/pull/852. No row: no effort at all for a
// name in plain, and any for another vendor's model.
var grades = map[string]string{
	"gpt-5.2": "none low medium high xhigh", "gpt-5.2-pro": "medium high xhigh", "gpt-5.2-codex": "low medium high xhigh",
	"gpt-5.1": "none low medium high", "gpt-5.1-codex": "low medium high", "gpt-5.1-codex-mini": "low medium high", "gpt-5.1-codex-max": "low medium high xhigh",
	"gpt-5": "minimal low medium high", "gpt-5-mini": "minimal low medium high", "gpt-5-nano": "minimal low medium high",
	"gpt-5-codex": "low medium high", "gpt-5-pro": "high",
	"o1": "low medium high", "o3": "low medium high", "o3-mini": "low medium high", "o3-pro": "low medium high", "o4-mini": "low medium high",
	"gpt-5.4": "none low medium high xhigh", "gpt-5.6": "none low medium high xhigh max",
}

// plainModels do not reason: https://github.com/pydantic/pydantic-ai/issues/2865 and
// https://github.com/pydantic/pydantic-ai/issues/3326
var plainModels = strings.Fields("gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini gpt-4-turbo gpt-3.5-turbo gpt-5-chat-latest gpt-5.1-chat-latest chatgpt-4o-latest")

// responsesModel checks what depends on the model.
func (s *Server) responsesModel(q object, model string) *problem {
	r, _ := q["reasoning"].(object)
	if slices.Contains(plainModels, model) {
		if wantsThoughts(q) {
			return chatProblem("include", "", "Encrypted content is not supported with this model.")
		}
		for _, k := range []string{"effort", "summary"} {
			if r[k] != nil {
				return chatProblem("reasoning."+k, "unsupported_parameter", "Unsupported parameter: 'reasoning.%s' is not supported with this model.", k)
			}
		}
		return nil
	}
	if r["summary"] != nil && s.Unverified { // https://github.com/openai/openai-cookbook/issues/2271
		return chatProblem("reasoning.summary", "unsupported_value", "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.")
	}
	row, ok := grades[model]
	if !ok {
		return nil
	}
	known := strings.Fields(row)
	if e, ok := r["effort"].(string); ok && !slices.Contains(known, e) {
		return chatProblem("reasoning.effort", "unsupported_value", "Unsupported value: '%s' is not supported with the '%s' model. Supported values are: '%s'.", e, model, strings.Join(known, "', '"))
	}
	for _, k := range []string{"temperature", "top_p"} {
		// https://github.com/ai-christianson/RA.Aid/issues/70
		if q[k] != nil && r["effort"] != "none" {
			return chatProblem(k, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", k)
		}
	}
	return nil
}
