package modeltest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The rules of the generateContent API. Fields and types are those of
// https://ai.google.dev/api/generate-content and https://ai.google.dev/api/caching#Content, and of
// the field comments in https://github.com/googleapis/go-genai (types.go); what is more than that
// names its own source. The service reads fields in snake case too, which is not played. Statuses:
// https://ai.google.dev/gemini-api/docs/troubleshooting

func geminiInvalid(format string, a ...any) *problem {
	return &problem{status: 400, kind: "INVALID_ARGUMENT", message: fmt.Sprintf(format, a...)}
}

// unknownName is the refusal of a field: https://github.com/gera2ld/ai.nvim/issues/13
func unknownName(o object, at, known string) *problem {
	for _, k := range slices.Sorted(keys(o)) {
		if !slices.Contains(strings.Fields(known), k) {
			if at != "" {
				at = " at '" + at + "'"
			}
			return geminiInvalid("Invalid JSON payload received. Unknown name %q%s: Cannot find field.", k, at)
		}
	}
	return nil
}

// badValue is the refusal of a type: https://github.com/egoist/chatwise-releases/issues/536
func badValue(at, kind string, v any) *problem {
	return geminiInvalid("Invalid value at '%s' (%s), %s", at, kind, encode(v))
}

// geminiVersion reads the generation out of a name, apart from the dialect's own way to do so: 25
// for gemini-2.5-pro, 1000 for gemini-flash-latest, 0 for other names.
func geminiVersion(model string) int {
	var major, minor int
	rest, ok := strings.CutPrefix(model, "gemini-")
	switch n, _ := fmt.Sscanf(rest, "%d.%d", &major, &minor); {
	case !ok:
		return 0
	case n > 0:
		return major*10 + minor
	}
	return 1000
}

// checkGemini returns the request's fields, and model and stream as its address says them, or why
// it is refused.
func (s *Server) checkGemini(r *http.Request, body []byte) (object, *problem) {
	name, stream := strings.CutSuffix(r.URL.Path, ":streamGenerateContent")
	name, whole := strings.CutSuffix(name, ":generateContent")
	name, found := strings.CutPrefix(name, "/v1beta/models/")
	if !found || !stream && !whole || strings.Contains(name, "/") {
		return nil, &problem{status: 404, kind: "NOT_FOUND", message: "Requested entity was not found."}
	}
	if r.Method != http.MethodPost {
		return nil, &problem{status: 405, kind: "INVALID_ARGUMENT", message: "Method Not Allowed"}
	}
	if p := s.geminiKey(r); p != nil {
		return nil, p
	}
	if name == "" || len(s.Models) > 0 && !slices.Contains(s.Models, name) {
		return nil, &problem{status: 404, kind: "NOT_FOUND", message: "models/" + name + " is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods."}
	}
	if stream && r.URL.Query().Get("alt") != "sse" {
		return nil, geminiInvalid("modeltest: only alt=sse is played")
	}
	v, err := decode(body)
	q, ok := v.(object)
	if err != nil || !ok || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil, geminiInvalid("Invalid JSON payload received. Unexpected token.")
	}
	c := &geminiCheck{server: s, q: q, model: name, version: geminiVersion(name)}
	for _, check := range []func() *problem{c.fields, c.generation, c.tools, c.system, c.contents, c.conversation, c.signatures} {
		if p := check(); p != nil {
			return nil, p
		}
	}
	q["model"], q["stream"] = name, stream
	return q, nil
}

// geminiKey: https://ai.google.dev/gemini-api/docs/api-key and, for the refusals,
// https://github.com/PublicAffairs/openai-gemini/issues/92 and
// https://github.com/cequence-io/openai-scala-client/issues/109
func (s *Server) geminiKey(r *http.Request) *problem {
	key := r.Header.Get("x-goog-api-key")
	if key == "" {
		key = r.URL.Query().Get("key")
	}
	switch {
	case key == "" && !s.Keyless:
		return &problem{status: 403, kind: "PERMISSION_DENIED", message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."}
	case key != "" && key != Key:
		return &problem{status: 400, kind: "INVALID_ARGUMENT", code: "API_KEY_INVALID", message: "API key not valid. Please pass a valid API key."}
	}
	return nil
}

// geminiCheck is one request being checked.
type geminiCheck struct {
	server  *Server
	q       object
	model   string
	version int
	names   []string // of the functions
	turns   []turnCheck
}

func (c *geminiCheck) fields() *problem {
	return unknownName(c.q, "", "cachedContent contents continuationToken generationConfig labels model safetySettings serviceTier store systemInstruction toolConfig tools")
}

func (c *geminiCheck) generation() *problem {
	v := c.q["generationConfig"]
	if v == nil {
		return nil
	}
	o, ok := v.(object)
	if !ok {
		return badValue("generation_config", "type.googleapis.com/google.ai.generativelanguage.v1beta.GenerationConfig", v)
	}
	if p := unknownName(o, "generation_config", `candidateCount enableEnhancedCivicAnswers frequencyPenalty imageConfig logprobs
		maxOutputTokens mediaResolution presencePenalty responseFormat responseJsonSchema responseLogprobs responseMimeType
		responseModalities responseSchema seed speechConfig stopSequences temperature thinkingConfig topK topP`); p != nil {
		return p
	}
	for k, most := range map[string]float64{"temperature": 2, "topP": 1} {
		f, ok := isNumber(o[k])
		switch {
		case o[k] == nil:
		case !ok:
			return badValue("generation_config."+strings.Replace(k, "topP", "top_p", 1), "TYPE_FLOAT", o[k])
		case f < 0 || f > most:
			return geminiInvalid("* GenerateContentRequest.generation_config.%s: %s must be in the range [0.0, %.1f].", k, k, most)
		}
	}
	if v := o["maxOutputTokens"]; v != nil {
		n, ok := isInt(v)
		switch {
		case !ok:
			return badValue("generation_config.max_output_tokens", "TYPE_INT32", v)
		case n < 1:
			return geminiInvalid("* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.")
		}
	}
	return c.thinking(o["thinkingConfig"])
}

// thinking: https://ai.google.dev/gemini-api/docs/generate-content/thinking and
// https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking
func (c *geminiCheck) thinking(v any) *problem {
	if v == nil {
		return nil
	}
	o, ok := v.(object)
	if !ok {
		return badValue("generation_config.thinking_config", "type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig", v)
	}
	if p := unknownName(o, "generation_config.thinking_config", "includeThoughts thinkingBudget thinkingLevel"); p != nil {
		return p
	}
	if b := o["includeThoughts"]; b != nil && b != true && b != false {
		return badValue("generation_config.thinking_config.include_thoughts", "TYPE_BOOL", b)
	}
	budget, level := o["thinkingBudget"], o["thinkingLevel"]
	switch {
	case c.version > 0 && c.version < 25 || strings.HasPrefix(c.model, "gemma-3"):
		return geminiInvalid("Thinking is not enabled for models/%s", c.model)
	case budget != nil && level != nil:
		// https://hexdocs.pm/gemini_ex/0.13.0/Gemini.Types.GenerationConfig.ThinkingConfig.html
		return geminiInvalid("You can only set only one of thinking budget and thinking level.")
	case level != nil:
		return c.thinkingLevel(level)
	case budget != nil:
		return c.thinkingBudget(budget)
	}
	return nil
}

// thinkingLevel: minimal is an error for the Pro models and from 3.7 on:
// https://ai.google.dev/gemini-api/docs/models/gemini-3.7-flash
func (c *geminiCheck) thinkingLevel(v any) *problem {
	level, _ := v.(string)
	level = strings.ToUpper(level)
	if !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, level) {
		return badValue("generation_config.thinking_config.thinking_level", "type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel", v)
	}
	if c.version > 0 && c.version < 30 {
		return geminiInvalid("Thinking level is not supported for this model.")
	}
	first := c.version == 30 && strings.Contains(c.model, "pro")
	if level == "MINIMAL" && (c.version >= 37 || !strings.Contains(c.model, "flash")) || level == "MEDIUM" && first {
		return geminiInvalid("Thinking level %s is not supported for this model. Please retry with other thinking level.", level)
	}
	return nil
}

// thinkingBudget: https://github.com/snailyp/gemini-balance/issues/206 and
// https://github.com/RooCodeInc/Roo-Code/issues/4399
func (c *geminiCheck) thinkingBudget(v any) *problem {
	n, ok := isInt(v)
	if !ok {
		return badValue("generation_config.thinking_config.thinking_budget", "TYPE_INT32", v)
	}
	least, most := int64(1), int64(24576)
	switch {
	case n == -1 || c.version >= 30 || c.version == 0:
		return nil
	case !strings.Contains(c.model, "flash"):
		least, most = 128, 32768
		if n == 0 {
			return geminiInvalid("Budget 0 is invalid. This model only works in thinking mode.")
		}
	case n == 0:
		return nil
	case strings.Contains(c.model, "lite"):
		least = 512
	}
	if n < least || n > most {
		return geminiInvalid("The thinking budget (%d) is invalid.", n)
	}
	return nil
}

func (c *geminiCheck) tools() *problem {
	v := c.q["tools"]
	l, ok := v.(list)
	if v != nil && !ok {
		return badValue("tools", "type.googleapis.com/google.ai.generativelanguage.v1beta.Tool", v)
	}
	for i, x := range l {
		at := fmt.Sprintf("tools[%d]", i)
		t, ok := x.(object)
		if !ok {
			return badValue(at, "type.googleapis.com/google.ai.generativelanguage.v1beta.Tool", x)
		}
		if p := unknownName(t, at, "codeExecution computerUse fileSearch functionDeclarations googleMaps googleSearch googleSearchRetrieval urlContext"); p != nil {
			return p
		}
		functions, _ := t["functionDeclarations"].(list)
		if len(functions) == 0 && len(t) < 2 && t["functionDeclarations"] != nil || len(t) == 0 {
			return geminiInvalid("* GenerateContentRequest.%s.tool_type: required one_of 'tool_type' must have one initialized field", at)
		}
		for n, x := range functions {
			f, ok := x.(object)
			at := fmt.Sprintf("%s.function_declarations[%d]", at, n)
			if !ok {
				return badValue(at, "type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionDeclaration", x)
			}
			if p := c.function(f, at); p != nil {
				return p
			}
		}
	}
	// https://github.com/musistudio/claude-code-router/pull/1207
	if o, _ := c.q["toolConfig"].(object); o["functionCallingConfig"] != nil && len(c.names) == 0 {
		return geminiInvalid("Function calling config is set without function_declarations.")
	}
	return nil
}

// function: https://ai.google.dev/api/caching#FunctionDeclaration; for the name
// https://github.com/kaitranntt/ccs/issues/25
func (c *geminiCheck) function(f object, at string) *problem {
	if p := unknownName(f, at, "behavior description name parameters parametersJsonSchema response responseJsonSchema"); p != nil {
		return p
	}
	name, _ := f["name"].(string)
	if !geminiName(name) {
		return geminiInvalid("* GenerateContentRequest.%s.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.", at)
	}
	if slices.Contains(c.names, name) {
		return geminiInvalid("Duplicate function declaration found: %s", name)
	}
	c.names = append(c.names, name)
	if d := f["description"]; d != nil {
		if _, ok := d.(string); !ok {
			return badValue(at+".description", "TYPE_STRING", d)
		}
	}
	if f["parameters"] != nil && f["parametersJsonSchema"] != nil {
		return geminiInvalid("* GenerateContentRequest.%s: parameters and parameters_json_schema are mutually exclusive.", at)
	}
	if v := f["parametersJsonSchema"]; v != nil {
		if o, ok := v.(object); !ok || o["type"] != "object" {
			return geminiInvalid("* GenerateContentRequest.%s.parameters_json_schema: schema must describe an object.", at)
		}
	}
	return openAPI(f["parameters"], at+".parameters")
}

func geminiName(s string) bool {
	return s != "" && len(s) <= 64 && named(strings.NewReplacer(".", "_", ":", "_").Replace(s), 64) && strings.IndexAny(s, "0123456789-.:") != 0
}

// openAPI checks the older form of a schema, which has no other words than these:
// https://ai.google.dev/api/caching#Schema and https://github.com/glowingjade/obsidian-smart-composer/issues/455
func openAPI(v any, at string) *problem {
	o, ok := v.(object)
	if v == nil {
		return nil
	}
	if !ok {
		return badValue(at, "type.googleapis.com/google.ai.generativelanguage.v1beta.Schema", v)
	}
	if p := unknownName(o, at, `anyOf default description enum example format items maxItems maxLength maxProperties maximum
		minItems minLength minProperties minimum nullable pattern properties propertyOrdering required title type`); p != nil {
		return p
	}
	if l, ok := o["type"].(list); ok {
		return geminiInvalid("Invalid JSON payload received. Unknown name \"type\" at '%s': Proto field is not repeating, cannot start list. (%d)", at, len(l))
	}
	if p := openAPI(o["items"], at+".items"); p != nil {
		return p
	}
	properties, _ := o["properties"].(object)
	for _, k := range slices.Sorted(keys(properties)) {
		if p := openAPI(properties[k], at+".properties["+k+"]"); p != nil {
			return p
		}
	}
	return nil
}
