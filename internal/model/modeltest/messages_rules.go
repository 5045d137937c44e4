package modeltest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The rules of the messages API. Fields, types and enumerations are those of
// https://platform.claude.com/docs/en/api/messages/create and of the field comments in
// https://github.com/anthropics/anthropic-sdk-go (message.go); what is more than that names its own
// source. Statuses and error types: https://platform.claude.com/docs/en/api/errors

var messageKeys = strings.Fields(`cache_control container diagnostics inference_geo max_tokens messages
	metadata model output_config service_tier speed stop_sequences stream system temperature thinking
	tool_choice tools top_k top_p`)

func invalid(format string, a ...any) *problem {
	return &problem{status: 400, kind: "invalid_request_error", message: fmt.Sprintf(format, a...)}
}

// checkMessages returns the request's fields, or why it is refused.
func (s *Server) checkMessages(r *http.Request, body []byte) (object, *problem) {
	if r.URL.Path != "/v1/messages" {
		return nil, &problem{status: 404, kind: "not_found_error", message: "Not Found"}
	}
	if r.Method != http.MethodPost {
		return nil, &problem{status: 405, kind: "invalid_request_error", message: "Method Not Allowed"}
	}
	// Headers: https://platform.claude.com/docs/en/api/overview#authentication
	key, bearer := r.Header.Get("x-api-key"), r.Header.Get("Authorization")
	switch {
	case key == "" && bearer == "" && !s.Keyless:
		return nil, &problem{status: 401, kind: "authentication_error", message: "x-api-key header is required"}
	case key != "" && key != Key, bearer != "" && bearer != "Bearer "+Key:
		return nil, &problem{status: 401, kind: "authentication_error", message: "invalid x-api-key"}
	}
	latest := r.Header.Get("anthropic-version") == "2026-10-21"
	switch v := r.Header.Get("anthropic-version"); v { // https://platform.claude.com/docs/en/api/versioning
	case "2023-06-01", "2026-10-21":
	case "":
		return nil, invalid("anthropic-version: header is required")
	default:
		return nil, invalid("anthropic-version: %q is not a valid version", v)
	}
	if len(body) > maxBody {
		return nil, &problem{status: 413, kind: "request_too_large", message: "Request exceeds the maximum size"}
	}
	v, err := decode(body)
	q, ok := v.(object)
	if err != nil || !ok || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil, invalid("The request body is not valid JSON")
	}
	for _, k := range []string{"model", "max_tokens", "messages"} {
		if q[k] == nil {
			return nil, invalid("%s: Field required", k)
		}
	}
	for _, k := range slices.Sorted(keys(q)) {
		// https://platform.claude.com/docs/en/api/migration-2026-10-21
		removed := latest && (k == "temperature" || k == "top_p" || k == "top_k")
		if removed || !slices.Contains(messageKeys, k) {
			return nil, invalid("%s: Extra inputs are not permitted", k)
		}
	}
	model, ok := q["model"].(string)
	if !ok {
		return nil, invalid("model: Input should be a valid string")
	}
	if model == "" || len(s.Models) > 0 && !slices.Contains(s.Models, model) {
		return nil, &problem{status: 404, kind: "not_found_error", message: "model: " + model}
	}
	c := &messagesCheck{server: s, q: q, model: model, version: versionOf(model), latest: latest}
	for _, check := range []func() *problem{c.settings, c.sampling, c.thinking, c.tools, c.system, c.messages, c.sizes, c.conversation, c.cacheMarks} {
		if p := check(); p != nil {
			return nil, p
		}
	}
	return q, nil
}

// messagesCheck is one request being checked.
type messagesCheck struct {
	server    *Server
	q         object
	model     string
	version   int  // of the model: 46 for claude-opus-4-6; 0 for other names
	latest    bool // the latest version of the API
	marks     int  // cache marks seen
	short     bool // one of them was for five minutes
	turns     []turnCheck
	pictures  []picture
	toolNames []string
}

type turnCheck struct {
	role   string
	blocks []object
}

// versionOf reads the generation out of a name, apart from the dialect's own way to do so.
func versionOf(model string) int {
	parts := strings.Split(strings.TrimPrefix(model, "claude-"), "-")
	if !strings.HasPrefix(model, "claude-") {
		return 0
	}
	var digits []int
	for _, p := range parts {
		if n, err := strconv.Atoi(p); err == nil && len(p) == 1 {
			digits = append(digits, n)
		}
	}
	switch len(digits) {
	case 0:
		return 0
	case 1:
		return digits[0] * 10
	}
	return digits[0]*10 + digits[1]
}

func (c *messagesCheck) settings() *problem {
	n, ok := isInt(c.q["max_tokens"])
	if !ok {
		return invalid("max_tokens: Input should be a valid integer")
	}
	if n < 0 {
		return invalid("max_tokens: Input should be greater than or equal to 0")
	}
	// https://platform.claude.com/docs/en/about-claude/models/overview
	limit := map[int]int64{30: 4096, 35: 8192, 37: 64000, 40: 64000, 41: 32000, 45: 64000}[c.version]
	if strings.Contains(c.model, "opus-4-2") || strings.HasSuffix(c.model, "opus-4-0") || strings.HasSuffix(c.model, "opus-4") {
		limit = 32000
	}
	if c.version >= 46 {
		limit = 128000
	}
	if limit > 0 && n > limit {
		return invalid("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", n, limit, c.model)
	}
	if v := c.q["stream"]; v != nil {
		if _, ok := v.(bool); !ok {
			return invalid("stream: Input should be a valid boolean")
		}
	}
	if v := c.q["stop_sequences"]; v != nil {
		l, ok := v.(list)
		if !ok {
			return invalid("stop_sequences: Input should be a valid list")
		}
		for i, x := range l {
			if s, ok := x.(string); !ok || blank(s) {
				return invalid("stop_sequences.%d: each stop sequence must contain non-whitespace", i)
			}
		}
	}
	if v := c.q["metadata"]; v != nil {
		if _, ok := v.(object); !ok {
			return invalid("metadata: Input should be a valid dictionary")
		}
	}
	if v := c.q["service_tier"]; v != nil && v != "auto" && v != "standard_only" {
		return invalid("service_tier: Input should be 'auto' or 'standard_only'")
	}
	return c.effort()
}

// effort: https://platform.claude.com/docs/en/build-with-claude/effort
func (c *messagesCheck) effort() *problem {
	v := c.q["output_config"]
	if v == nil {
		return nil
	}
	o, ok := v.(object)
	if !ok {
		return invalid("output_config: Input should be a valid dictionary")
	}
	for _, k := range slices.Sorted(keys(o)) {
		if k != "effort" && k != "format" {
			return invalid("output_config.%s: Extra inputs are not permitted", k)
		}
	}
	e, ok := o["effort"]
	if !ok {
		return nil
	}
	if !slices.Contains([]any{"low", "medium", "high", "xhigh", "max"}, e) {
		return invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	}
	if c.version > 0 && c.version < 46 && !strings.Contains(c.model, "opus-4-5") {
		return invalid("This model does not support the effort parameter.")
	}
	if e == "xhigh" && c.version > 0 && c.version < 47 || e == "max" && c.version == 45 {
		return invalid("output_config.effort: %q is not supported for this model", e)
	}
	return nil
}

// sampling: "temperature: range: 0..1", and from 4.7 on none but the default is taken:
// https://github.com/anthropics/skills/blob/main/skills/claude-api/shared/error-codes.md
func (c *messagesCheck) sampling() *problem {
	for _, k := range []string{"temperature", "top_p", "top_k"} {
		v := c.q[k]
		if v == nil {
			continue
		}
		f, ok := isNumber(v)
		switch {
		case !ok:
			return invalid("%s: Input should be a valid number", k)
		case k != "top_k" && (f < 0 || f > 1):
			return invalid("%s: range: 0..1", k)
		case c.version >= 47 && f != 1:
			return invalid("`%s` is deprecated for this model.", k)
		}
	}
	return nil
}

// thinking: https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting
func (c *messagesCheck) thinking() *problem {
	v := c.q["thinking"]
	if v == nil {
		return nil
	}
	t, ok := v.(object)
	if !ok {
		return invalid("thinking: Input should be a valid dictionary")
	}
	allowed := []string{"type"}
	switch t["type"] {
	case "enabled":
		allowed = []string{"type", "budget_tokens", "display"}
	case "adaptive":
		allowed = []string{"type", "display"}
	case "disabled", "between_tools":
	default:
		return invalid("thinking: Input tag '%v' found using 'type' does not match any of the expected tags: 'disabled', 'enabled', 'adaptive', 'between_tools'", t["type"])
	}
	for _, k := range slices.Sorted(keys(t)) {
		if !slices.Contains(allowed, k) {
			return invalid("thinking.%s.%s: Extra inputs are not permitted", t["type"], k)
		}
	}
	if d := t["display"]; d != nil && d != "summarized" && d != "omitted" {
		return invalid("thinking.%s.display: Input should be 'summarized' or 'omitted'", t["type"])
	}
	always := c.version >= 55 || strings.Contains(c.model, "fable") || strings.Contains(c.model, "mythos")
	switch {
	case t["type"] == "enabled" && c.version >= 47:
		return invalid(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`)
	case t["type"] == "adaptive" && c.version > 0 && c.version < 46:
		return invalid("adaptive thinking is not supported on this model")
	case t["type"] == "disabled" && always:
		return invalid(`"thinking.type.disabled" is not supported for this model.`)
	}
	if t["type"] == "enabled" {
		budget, ok := isInt(t["budget_tokens"])
		most, _ := isInt(c.q["max_tokens"])
		switch {
		case t["budget_tokens"] == nil:
			return invalid("thinking.enabled.budget_tokens: Field required")
		case !ok:
			return invalid("thinking.enabled.budget_tokens: Input should be a valid integer")
		case budget < 1024:
			return invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
		case budget >= most:
			return invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
		}
	}
	return c.thinkingSampling(t)
}

// thinkingSampling: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
func (c *messagesCheck) thinkingSampling(t object) *problem {
	if t["type"] == "disabled" {
		return nil
	}
	if f, ok := isNumber(c.q["temperature"]); ok && f != 1 {
		return invalid("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.")
	}
	if c.q["top_k"] != nil {
		return invalid("`top_k` must be unset when thinking is enabled or in adaptive mode.")
	}
	if f, ok := isNumber(c.q["top_p"]); ok && f < 0.95 {
		return invalid("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode.")
	}
	return nil
}

// tools: https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools
func (c *messagesCheck) tools() *problem {
	if v := c.q["tools"]; v != nil {
		l, ok := v.(list)
		if !ok {
			return invalid("tools: Input should be a valid list")
		}
		for i, x := range l {
			t, ok := x.(object)
			if !ok {
				return invalid("tools.%d: Input should be a valid dictionary", i)
			}
			if p := c.tool(t, fmt.Sprintf("tools.%d.custom", i)); p != nil {
				return p
			}
			name := t["name"].(string)
			if slices.Contains(c.toolNames, name) {
				// https://github.com/anthropics/claude-code/issues/10687
				return invalid("tools: Tool names must be unique.")
			}
			c.toolNames = append(c.toolNames, name)
		}
	}
	return c.toolChoice()
}

func (c *messagesCheck) tool(t object, at string) *problem {
	if k := t["type"]; k != nil && k != "custom" {
		return invalid("%s.type: Input should be 'custom'", at) // the server's own tools are not played
	}
	for _, k := range slices.Sorted(keys(t)) {
		if !slices.Contains(strings.Fields("allowed_callers cache_control defer_loading description eager_input_streaming input_examples input_schema name strict type"), k) {
			return invalid("%s.%s: Extra inputs are not permitted", at, k)
		}
	}
	if p := c.mark(t, at); p != nil {
		return p
	}
	name, ok := t["name"].(string)
	switch {
	case t["name"] == nil:
		return invalid("%s.name: Field required", at)
	case !ok:
		return invalid("%s.name: Input should be a valid string", at)
	case len(name) > 128:
		return invalid("%s.name: String should have at most 128 characters", at)
	case !named(name, 128): // https://github.com/BerriAI/litellm/pull/26788
		return invalid("%s.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", at)
	}
	if d := t["description"]; d != nil {
		if _, ok := d.(string); !ok {
			return invalid("%s.description: Input should be a valid string", at)
		}
	}
	schema, ok := t["input_schema"].(object)
	switch {
	case t["input_schema"] == nil:
		return invalid("%s.input_schema: Field required", at)
	case !ok:
		return invalid("%s.input_schema: Input should be a valid dictionary", at)
	case schema["type"] == nil:
		return invalid("%s.input_schema.type: Field required", at)
	case schema["type"] != "object":
		return invalid("%s.input_schema.type: Input should be 'object'", at)
	}
	for _, k := range []string{"oneOf", "allOf", "anyOf"} {
		if schema[k] != nil { // https://github.com/anthropics/claude-code/issues/5973
			return invalid("%s.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", at)
		}
	}
	return nil
}

// toolChoice: forced use needs tools, and no thinking budget beside it:
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools#forcing-tool-use
func (c *messagesCheck) toolChoice() *problem {
	v := c.q["tool_choice"]
	if v == nil {
		return nil
	}
	o, ok := v.(object)
	if !ok || !slices.Contains([]any{"auto", "any", "tool", "none"}, o["type"]) {
		return invalid("tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'")
	}
	forced := o["type"] == "any" || o["type"] == "tool"
	if o["type"] == "any" && len(c.toolNames) == 0 {
		return invalid("tool_choice.any may only be specified while providing tools.")
	}
	if name, _ := o["name"].(string); o["type"] == "tool" && !slices.Contains(c.toolNames, name) {
		return invalid("Tool '%s' not found in provided tools", name)
	}
	if t, _ := c.q["thinking"].(object); forced && t["type"] == "enabled" {
		return invalid("Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

// mark counts a cache mark and checks its form:
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
func (c *messagesCheck) mark(b object, at string) *problem {
	v := b["cache_control"]
	if v == nil {
		return nil
	}
	if c.server.Unmarked {
		return invalid("%s.cache_control: Extra inputs are not permitted", at)
	}
	o, ok := v.(object)
	if !ok || o["type"] != "ephemeral" {
		return invalid("%s.cache_control: Input tag does not match any of the expected tags: 'ephemeral'", at)
	}
	if ttl := o["ttl"]; ttl != nil && ttl != "5m" && ttl != "1h" {
		return invalid("%s.cache_control.ephemeral.ttl: Input should be '5m' or '1h'", at)
	}
	if text, ok := b["text"].(string); ok && text == "" {
		return invalid("%s.text: cache_control cannot be set for empty text blocks", at)
	}
	if o["ttl"] == "1h" && c.short {
		return invalid("%s.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.", at)
	}
	c.short = c.short || o["ttl"] != "1h"
	c.marks++
	return nil
}

// cacheMarks: the mark that the API places by itself takes one of the four.
func (c *messagesCheck) cacheMarks() *problem {
	if v := c.q["cache_control"]; v != nil {
		if o, ok := v.(object); !ok || o["type"] != "ephemeral" {
			return invalid("cache_control: Input tag does not match any of the expected tags: 'ephemeral'")
		}
		c.marks++
	}
	if c.marks > 4 {
		return invalid("A maximum of 4 blocks with cache_control may be provided. Found %d.", c.marks)
	}
	return nil
}
