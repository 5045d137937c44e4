package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"jig/internal/model"
)

// complaint is what a provider says of a request it refused, in whichever form it came.
type complaint struct {
	Type, Code, Message string
	details
}

// maxShown is how much of a body or a message is looked at for what to say of it.
const maxShown = 64 << 10

// mark is the byte order mark that some servers put before everything.
var mark = []byte("\xef\xbb\xbf")

// complain reads an error body: {"error": {…}}, {"error": "…"}, {"message": …}, {"detail": …} and
// lists of them. ok is false when it holds none.
func complain(body []byte) (complaint, bool) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, mark))
	if len(body) > 0 && body[0] == '[' { // some gateways wrap it in a list
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var top struct {
		Error   json.RawMessage `json:"error"`
		Message any             `json:"message"`
		Detail  any             `json:"detail"`
		Type    any             `json:"type"`
		Code    any             `json:"code"`
	}
	if json.Unmarshal(body, &top) != nil {
		return complaint{}, false
	}
	if len(top.Error) > 0 && string(top.Error) != "null" {
		var s string
		if json.Unmarshal(top.Error, &s) == nil {
			return complaint{Type: text(top.Type), Code: text(top.Code), Message: first(text(s), text(top.Message))}, true
		}
		var e struct {
			Type    any `json:"type"`
			Code    any `json:"code"`
			Message any `json:"message"`
			Status  any `json:"status"`
			Details any `json:"details"`
			Meta    struct {
				Raw any `json:"raw"`
			} `json:"metadata"`
		}
		_ = json.Unmarshal(top.Error, &e)
		p := complaint{Type: first(text(e.Type), text(e.Status)), Code: text(e.Code), Message: first(text(e.Message), spoken(top.Error))}
		if raw := text(e.Meta.Raw); raw != "" && text(e.Message) != "" { // a gateway's, whose own words say nothing: https://openrouter.ai/docs/errors
			p.Message = strings.TrimRight(p.Message, ".") + ": " + first(within([]byte(raw)), raw)
		}
		p.details = detailed(p.Type, p.Message, e.Details)
		return p, true
	}
	if m := first(text(top.Message), text(top.Detail)); m != "" {
		return complaint{Type: text(top.Type), Code: text(top.Code), Message: m}, true
	}
	return complaint{}, false
}

// within is the message of a complaint that another service hands on, "" when there is none in it. What
// is in that one as well is shown as it is.
func within(raw []byte) string {
	var o struct {
		Message any `json:"message"`
		Error   struct {
			Message any `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(raw, &o)
	return first(text(o.Error.Message), text(o.Message))
}

// spoken is JSON that says something as it is, and "" when it does not.
func spoken(body []byte) string {
	switch s := string(bytes.TrimSpace(body)); s {
	case "{}", "[]", "[{}]", "null", `""`:
		return ""
	default:
		return s
	}
}

// text is a value in words. None needs to be longer than what is looked at.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v[:min(len(v), maxShown)]
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func first(s ...string) string {
	for _, x := range s {
		if x != "" {
			return x
		}
	}
	return ""
}

// kindOf sorts a complaint. Some wordings only people have reported, for a status that says otherwise:
// https://github.com/continuedev/continue/issues/11443 and /10373 (an account that is empty, 429),
// https://github.com/anthropics/claude-code/issues/38035 (the same, 400),
// https://github.com/DrShushen/climb/issues/13 (a request that is more than a whole minute's limit, 429),
// https://github.com/docker/docker-agent/issues/569 (a conversation that is too long, 400).
func kindOf(status int, p complaint) model.Kind {
	if n, err := strconv.Atoi(p.Code); status == 0 && err == nil && n >= 400 && n < 600 {
		status = n // a gateway's way to pass on the status it got
	}
	m, tags := strings.ToLower(p.Message), strings.ToLower(p.Type+" "+p.Code+" "+p.Reason)
	has := func(s string, words ...string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusPaymentRequired, p.Final, has(tags, "insufficient_quota", "exceeded_current_quota", "billing"),
		has(m, "credit balance is too low", "insufficient balance", "specified api usage limits", "used all available credits"):
		return model.KindQuota
	case status == http.StatusRequestEntityTooLarge, has(tags, "context_length_exceeded", "request_too_large", "exceed_context_size"),
		has(m, "prompt is too long", "maximum context length", "context window", "exceeds the available context size", "exceeds the maximum number of tokens",
			"exceed context limit", "maximum prompt length is", "request too large"):
		return model.KindOverflow
	case status == http.StatusTooManyRequests, has(tags, "rate_limit", "resource_exhausted"):
		return model.KindLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden, has(tags, "authentication_error", "permission_error", "invalid_api_key", "api_key_invalid"):
		return model.KindAuth
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, has(tags, "overloaded", "api_error", "server_error", "timeout_error"):
		return model.KindServer
	}
	return model.KindRequest
}

// plain makes a body that is not the dialect's JSON fit for one line: a page's title, or its text.
func plain(body []byte) string {
	s := string(bytes.TrimPrefix(body, mark))
	low := strings.ToLower(s)
	head := low[:min(len(low), 1024)]
	switch {
	case strings.Contains(head, "<html"), strings.Contains(head, "<!doctype"):
	case garbled(s[:min(len(s), 1024)]):
		return "bytes that are no text"
	default:
		return s
	}
	if a := strings.Index(low, "<title>"); a >= 0 {
		if b := strings.Index(low[a:], "</title>"); b >= 0 && a+b <= len(s) {
			return fmt.Sprintf("a web page titled %q", strings.Join(strings.Fields(s[a+len("<title>"):a+b]), " "))
		}
	}
	return "a web page"
}

// zipped is what compressed bytes begin with.
const zipped = "\x1f\x8b"

// garbled says whether bytes are compressed or something else that cannot be read.
func garbled(s string) bool {
	return strings.HasPrefix(s, zipped) || len(s)-len(strings.ToValidUTF8(s, "")) > len(s)/10
}
