package modeltest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// anySignature are what the service takes for the signature of a call that has none:
// https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
var anySignature = []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

// system: "text only", https://ai.google.dev/api/generate-content#request-body
func (c *geminiCheck) system() *problem {
	v := c.q["systemInstruction"]
	if v == nil {
		return nil
	}
	o, ok := v.(object)
	if !ok {
		return badValue("system_instruction", "type.googleapis.com/google.ai.generativelanguage.v1beta.Content", v)
	}
	if p := unknownName(o, "system_instruction", "parts role"); p != nil {
		return p
	}
	parts, _ := o["parts"].(list)
	if len(parts) == 0 {
		return geminiInvalid("* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.")
	}
	for i, x := range parts {
		p, _ := x.(object)
		if s, ok := p["text"].(string); !ok || s == "" || len(p) != 1 {
			return geminiInvalid("* GenerateContentRequest.system_instruction.parts[%d]: system instruction must be text.", i)
		}
	}
	return nil
}

// contents checks each turn by itself and keeps its parts:
// https://github.com/vercel/ai/issues/3775 and https://github.com/egoist/chatwise-releases/issues/250
func (c *geminiCheck) contents() *problem {
	l, ok := c.q["contents"].(list)
	if !ok && c.q["contents"] != nil {
		return badValue("contents", "type.googleapis.com/google.ai.generativelanguage.v1beta.Content", c.q["contents"])
	}
	if len(l) == 0 {
		return geminiInvalid("* GenerateContentRequest.contents: contents is not specified")
	}
	for i, x := range l {
		at := fmt.Sprintf("contents[%d]", i)
		o, ok := x.(object)
		if !ok {
			return badValue(at, "type.googleapis.com/google.ai.generativelanguage.v1beta.Content", x)
		}
		if p := unknownName(o, at, "parts role"); p != nil {
			return p
		}
		role, _ := o["role"].(string)
		if role != "user" && role != "model" {
			return geminiInvalid("Please use a valid role: user, model.")
		}
		parts, _ := o["parts"].(list)
		if len(parts) == 0 {
			return geminiInvalid("* GenerateContentRequest.%s.parts: contents.parts must not be empty.", at)
		}
		t := turnCheck{role: role}
		for n, x := range parts {
			p, ok := x.(object)
			at := fmt.Sprintf("%s.parts[%d]", at, n)
			if !ok {
				return badValue(at, "type.googleapis.com/google.ai.generativelanguage.v1beta.Part", x)
			}
			if bad := c.part(p, role, at); bad != nil {
				return bad
			}
			t.blocks = append(t.blocks, p)
		}
		c.turns = append(c.turns, t)
	}
	return nil
}

// part: exactly one kind of data, https://ai.google.dev/api/caching#Part. One with a signature may
// have none: the vendor's own client leaves out the empty text that it came with.
func (c *geminiCheck) part(p object, role, at string) *problem {
	if bad := unknownName(p, at, "functionCall functionResponse inlineData partMetadata text thought thoughtSignature"); bad != nil {
		return bad
	}
	kind, kinds := "", 0
	for _, k := range []string{"text", "inlineData", "functionCall", "functionResponse"} {
		if p[k] != nil {
			kind = k
			kinds++
		}
	}
	if kinds != 1 && (kinds > 0 || p["thoughtSignature"] == nil) {
		return geminiInvalid("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field", at)
	}
	if v := p["thought"]; v != nil && v != true && v != false {
		return badValue(at+".thought", "TYPE_BOOL", v)
	}
	if v := p["thoughtSignature"]; v != nil {
		s, ok := v.(string)
		if _, err := base64.StdEncoding.DecodeString(s); !ok || err != nil && !slices.Contains(anySignature, s) {
			return badValue(at+".thought_signature", "TYPE_BYTES", v)
		}
	}
	switch kind {
	case "":
		return nil
	case "text":
		s, ok := p["text"].(string)
		switch {
		case !ok:
			return badValue(at+".text", "TYPE_STRING", p["text"])
		case s == "" && p["thoughtSignature"] == nil:
			return geminiInvalid("Unable to submit request because it must have a text parameter.")
		}
		return nil
	case "inlineData":
		return geminiBlob(p["inlineData"], at+".inline_data", "image/png image/jpeg image/webp image/heic image/heif")
	case "functionCall":
		if role != "model" {
			return geminiInvalid("modeltest: %s: a function call is the model's", at)
		}
		return c.call(p["functionCall"], at+".function_call")
	}
	if role != "user" {
		return geminiInvalid("modeltest: %s: a function response is the user's", at)
	}
	return c.response(p["functionResponse"], at+".function_response")
}

// geminiBlob: https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats and
// https://github.com/charmbracelet/crush/issues/995
func geminiBlob(v any, at, known string) *problem {
	o, ok := v.(object)
	if !ok {
		return badValue(at, "type.googleapis.com/google.ai.generativelanguage.v1beta.Blob", v)
	}
	if p := unknownName(o, at, "data mimeType"); p != nil { // displayName is for the other service
		return p
	}
	mime, _ := o["mimeType"].(string)
	data, ok := o["data"].(string)
	raw, err := base64.StdEncoding.DecodeString(data)
	switch {
	case !slices.Contains(strings.Fields(known), mime):
		return geminiInvalid("Unsupported MIME type: %s", mime)
	case !ok || err != nil:
		return badValue(at+".data", "TYPE_BYTES", o["data"])
	case !strings.Contains(mime, "hei") && http.DetectContentType(raw) != mime:
		return geminiInvalid("Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting")
	}
	return nil
}

// call: https://ai.google.dev/api/caching#FunctionCall
func (c *geminiCheck) call(v any, at string) *problem {
	o, ok := v.(object)
	if !ok {
		return badValue(at, "type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCall", v)
	}
	if p := unknownName(o, at, "args id name"); p != nil {
		return p
	}
	if name, _ := o["name"].(string); !geminiName(name) {
		return geminiInvalid("* GenerateContentRequest.%s.name: Invalid function name.", at)
	}
	if id, ok := o["id"].(string); o["id"] != nil && (!ok || id == "") {
		return badValue(at+".id", "TYPE_STRING", o["id"])
	}
	if _, ok := o["args"].(object); o["args"] != nil && !ok {
		return badValue(at+".args", "type.googleapis.com/google.protobuf.Struct", o["args"])
	}
	return nil
}

// response: https://ai.google.dev/api/caching#FunctionResponse. Pictures are parts of it from 3 on:
// https://github.com/google-gemini/gemini-cli/issues/19436
func (c *geminiCheck) response(v any, at string) *problem {
	o, ok := v.(object)
	if !ok {
		return badValue(at, "type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionResponse", v)
	}
	if p := unknownName(o, at, "id name parts response scheduling willContinue"); p != nil {
		return p
	}
	if name, _ := o["name"].(string); name == "" {
		return geminiInvalid("* GenerateContentRequest.%s.name: Name cannot be empty.", at)
	}
	if _, ok := o["response"].(object); !ok {
		return badValue(at+".response", "type.googleapis.com/google.protobuf.Struct", o["response"])
	}
	parts, ok := o["parts"].(list)
	switch {
	case o["parts"] == nil:
		return nil
	case !ok || len(parts) == 0:
		return badValue(at+".parts", "type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionResponsePart", o["parts"])
	case c.version > 0 && c.version < 30:
		return geminiInvalid("Unable to submit request because `function_response.parts` is not supported for this model. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling")
	}
	for i, x := range parts {
		at := fmt.Sprintf("%s.parts[%d]", at, i)
		p, _ := x.(object)
		// https://github.com/ChatLunaLab/chatluna/issues/977
		if bad := unknownName(p, at, "inlineData"); bad != nil {
			return bad
		}
		if bad := geminiBlob(p["inlineData"], at+".inline_data", "image/png image/jpeg image/webp application/pdf text/plain"); bad != nil {
			return bad
		}
	}
	return nil
}

// of are the values of one kind among the parts of a turn.
func of(t turnCheck, kind string) []object {
	var out []object
	for _, p := range t.blocks {
		if o, ok := p[kind].(object); ok {
			out = append(out, o)
		}
	}
	return out
}

// conversation checks the turns together: calls come after the user, and their responses come next,
// as many, of the same names and ids, and nothing beside them.
// https://github.com/google-gemini/gemini-cli/issues/26486 (first rule),
// https://github.com/langchain-ai/langchain/issues/27799 (second), https://github.com/microsoft/vscode/issues/299295
// (as many), https://github.com/google-gemini/gemini-cli/pull/16137 (nothing beside them),
// https://docs.rs/adk-gemini/2.1.0/adk_gemini/tools/model/struct.FunctionResponse.html (names and ids)
func (c *geminiCheck) conversation() *problem {
	for i, t := range c.turns {
		calls, responses := of(t, "functionCall"), of(t, "functionResponse")
		if len(calls) > 0 && (i == 0 || c.turns[i-1].role != "user") {
			return geminiInvalid("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		if len(responses) > 0 {
			if i == 0 || len(of(c.turns[i-1], "functionCall")) == 0 {
				return geminiInvalid("Please ensure that function response turn comes immediately after a function call turn.")
			}
			if p := answers(t, of(c.turns[i-1], "functionCall"), responses); p != nil {
				return p
			}
		}
		if len(calls) > 0 && (i+1 == len(c.turns) || len(of(c.turns[i+1], "functionResponse")) == 0) {
			return unequal()
		}
	}
	// https://github.com/Zoo-Code-Org/Zoo-Code/issues/1052
	if c.version >= 36 && c.turns[len(c.turns)-1].role == "model" {
		return geminiInvalid("Requests ending with a model turn are not supported.")
	}
	return nil
}

func unequal() *problem {
	return geminiInvalid("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
}

func answers(t turnCheck, calls, responses []object) *problem {
	if len(calls) != len(responses) || len(t.blocks) != len(responses) {
		return unequal()
	}
	for i, r := range responses {
		if calls[i]["name"] != r["name"] || calls[i]["id"] != r["id"] {
			return geminiInvalid("modeltest: function response %d is of %v %v, its call is of %v %v", i, r["name"], r["id"], calls[i]["name"], calls[i]["id"])
		}
	}
	return nil
}

// signatures: each is one that was given, on the part it was given with, and from 3 on the first
// call of every step of the current turn has one. The turn begins at the last user content that is
// no response. https://ai.google.dev/gemini-api/docs/thought-signatures, and for the wording
// https://github.com/google-gemini/gemini-cli/issues/13467 and https://github.com/karthink/gptel/issues/1146
func (c *geminiCheck) signatures() *problem {
	begin := 0
	for i, t := range c.turns {
		if t.role == "user" && len(of(t, "functionResponse")) == 0 {
			begin = i
		}
	}
	for i, t := range c.turns {
		first := true
		for n, p := range t.blocks {
			s, signed := p["thoughtSignature"].(string)
			given, known := c.server.thoughts[s]
			call, _ := p["functionCall"].(object)
			if signed && !slices.Contains(anySignature, s) && (!known || given != signedPart(p)) {
				return geminiInvalid("Corrupted thought signature.")
			}
			if call == nil {
				continue
			}
			if c.version >= 30 && i > begin && first && !signed {
				return geminiInvalid("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%v` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", call["name"], n+1)
			}
			first = false
		}
	}
	return nil
}
