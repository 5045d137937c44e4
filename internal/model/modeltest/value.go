package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// object and list are decoded JSON; numbers are json.Number.
type (
	object = map[string]any
	list   = []any
)

func decode(body []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the value")
	}
	return v, nil
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only ever our own values
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func isInt(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

func isNumber(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// named says whether a string fits [a-zA-Z0-9_-]{1,most}.
func named(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// refuse sends a refusal in the dialect's error shape.
func refuse(w http.ResponseWriter, d Dialect, p *problem) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_, _ = w.Write(encode(p.body(d)))
}

func (p *problem) body(d Dialect) any {
	switch d {
	case Gemini:
		// https://github.com/googleapis/googleapis/blob/master/google/rpc/status.proto
		e := object{"code": p.status, "message": p.message, "status": p.kind}
		if p.code != "" {
			e["details"] = list{object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": p.code, "domain": "googleapis.com"}}
		}
		return object{"error": e}
	case Messages:
		// https://platform.claude.com/docs/en/api/errors#error-shapes
		return object{"type": "error", "error": object{"type": p.kind, "message": p.message}, "request_id": "req_test"}
	}
	// https://github.com/openai/openai-openapi: schema Error
	return object{"error": object{"message": p.message, "type": p.kind, "param": orNull(p.param), "code": orNull(p.code)}}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// overload is how a dialect says that the service has too much to do.
func overload(d Dialect) *problem {
	if d == Gemini { // https://ai.google.dev/gemini-api/docs/troubleshooting
		return &problem{status: 503, kind: "UNAVAILABLE", message: "The model is overloaded. Please try again later."}
	}
	return &problem{kind: "overloaded_error", message: "Overloaded"}
}

func errorEvent(d Dialect, body string) []byte {
	p := overload(d)
	if d == Chat {
		p = &problem{kind: "server_error", message: "The server had an error while processing your request. Sorry about that!"}
	}
	data := []byte(body)
	if body == "" {
		data = encode(p.body(d))
	}
	if d == Messages || d == Responses {
		return []byte("event: error\ndata: " + string(data) + "\n\n")
	}
	return []byte("data: " + string(data) + "\n\n")
}

// pieces cuts a string into runs of at most n bytes, between characters.
func pieces(s string, n int) []string {
	var out []string
	for s != "" {
		cut := 0
		for i, r := range s {
			if i > 0 && i+len(string(r)) > n {
				break
			}
			cut = i + len(string(r))
		}
		out = append(out, s[:cut])
		s = s[cut:]
	}
	return out
}
