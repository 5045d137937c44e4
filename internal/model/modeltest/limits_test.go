package modeltest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/model/openai"
)

// endless is the body of an answer that begins with a text and then repeats events for ever.
type endless struct {
	rest   string
	events []string // %d is a number of its own
	n      int
	read   int64
}

func (e *endless) Read(b []byte) (int, error) {
	if e.rest == "" {
		e.rest = e.events[e.n%len(e.events)]
		if strings.Contains(e.rest, "%d") {
			e.rest = fmt.Sprintf(e.rest, e.n)
		}
		e.n++
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	e.read += int64(n)
	return n, nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// give lets a dialect read a body.
func give(dialect string, body io.Reader) (model.Reply, error) {
	o := openai.Options{URL: "http://h", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}, nil
	})}
	for _, cl := range clients() {
		if cl.name == dialect {
			return ask(cl.open(o), "m")
		}
	}
	return model.Reply{}, errors.New("no dialect " + dialect)
}

const mega = 1 << 20

func data(json string) string { return "data: " + json + "\n\n" }

func chat(delta string) string { return data(`{"choices":[{"delta":` + delta + `}]}`) }

func block(index int, block string) string {
	return data(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
}

func begun(item string) string {
	return data(`{"type":"response.output_item.added","item":` + item + `}`)
}

func piece(index int, delta string) string {
	return data(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, delta))
}

// Every kind of content alone stays below the limit: only their sum passes it.
func TestAnEndlessReplyIsGivenUpBeforeItFillsTheMemory(t *testing.T) {
	x := strings.Repeat("x", 2*mega)
	for dialect, body := range map[string]*endless{
		"openai": {rest: " ", events: []string{
			chat(`{"content":"` + x + `"}`), chat(`{"reasoning":"` + x + `"}`), chat(`{"refusal":"` + x + `"}`),
			chat(`{"tool_calls":[{"index":0,"function":{"arguments":"` + x + `"}}]}`),
			chat(`{"tool_calls":[{"index":9%d,"id":"` + x + `","function":{"name":"` + x + `"}}]}`),
		}},
		"anthropic": {rest: block(0, `{"type":"text"}`) + block(1, `{"type":"thinking"}`) + block(2, `{"type":"tool_use"}`), events: []string{
			piece(0, `{"type":"text_delta","text":"`+x+`"}`), piece(1, `{"type":"thinking_delta","thinking":"`+x+`"}`),
			piece(1, `{"type":"signature_delta","signature":"`+x+`"}`), piece(2, `{"type":"input_json_delta","partial_json":"`+x+`"}`),
			block(3, `{"type":"redacted_thinking","data":"`+x+`"}`),
		}},
		"openresponses": {rest: begun(`{"type":"function_call","name":"f"}`), events: []string{
			data(`{"type":"response.output_text.delta","delta":"` + x + `"}`), data(`{"type":"response.refusal.delta","delta":"` + x + `"}`),
			data(`{"type":"response.reasoning_summary_text.delta","delta":"` + x + `"}`), data(`{"type":"response.reasoning_text.delta","delta":"` + x + `"}`),
			data(`{"type":"response.function_call_arguments.delta","delta":"` + x + `"}`), data(`{"type":"response.output_item.done","item":{"type":"reasoning","encrypted_content":"` + x + `"}}`),
			begun(`{"type":"message","id":"` + x + `"}`), begun(`{"type":"function_call","name":"` + x + `"}`),
		}},
	} {
		got, err := give(dialect, body)
		sentence(t, dialect, err, model.KindProtocol, "h sent a reply with more than 64 MiB", "try again")
		if body.read < 64*mega || body.read > 72*mega {
			t.Errorf("%s: given up after %d bytes", dialect, body.read)
		}
		if len(got.Blocks.Text()) == 0 {
			t.Errorf("%s: what had come is lost", dialect)
		}
	}
}

func TestEndlessCallsAndBlocksAreGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		dialect string
		body    *endless
	}{
		"calls":         {"openai", &endless{events: []string{chat(`{"tool_calls":[{"index":%d,"function":{"name":"f","arguments":"{}"}}]}`)}}},
		"blocks":        {"anthropic", &endless{events: []string{data(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","name":"f"}}`)}}},
		"empty blocks":  {"anthropic", &endless{events: []string{data(`{"type":"content_block_start"}`)}}},
		"items":         {"openresponses", &endless{events: []string{begun(`{"type":"function_call","name":"f"}`)}}},
		"whole items":   {"openresponses", &endless{events: []string{data(`{"type":"response.output_item.done","item":{"type":"function_call","name":"f"}}`)}}},
		"parts":         {"openresponses", &endless{events: []string{data(`{"type":"response.output_text.delta","content_index":%d,"delta":""}`)}}},
		"calls at once": {"openai", &endless{rest: chat(`{"tool_calls":[` + strings.Repeat(`{"index":1,"function":{"name":"f","arguments":"{}"}},`, 20_000) + `{}]}`), events: []string{"\n"}}},
	} {
		got, err := give(c.dialect, c.body)
		sentence(t, name, err, model.KindProtocol, "more than 10000 blocks and calls")
		if len(got.Blocks.Calls()) > 10_000 {
			t.Errorf("%s: %d calls", name, len(got.Blocks.Calls()))
		}
	}
}

func TestAnAnswerInOnePieceHasTheSameLimits(t *testing.T) {
	for name, c := range map[string]struct{ dialect, body, says string }{
		"calls":     {"openai", `{"choices":[{"message":{"tool_calls":[` + strings.Repeat(`{"function":{"name":"f","arguments":"{}"}},`, 20_000) + `{}]},"finish_reason":"stop"}]}`, "more than 10000 blocks and calls"},
		"blocks":    {"anthropic", `{"type":"message","stop_reason":"end_turn","content":[` + strings.Repeat(`{"type":"text","text":"a"},`, 20_000) + `{}]}`, "more than 10000 blocks and calls"},
		"items":     {"openresponses", `{"object":"response","status":"completed","output":[` + strings.Repeat(`{"type":"function_call","name":"f"},`, 20_000) + `{}]}`, "more than 10000 blocks and calls"},
		"parts":     {"openresponses", `{"object":"response","status":"completed","output":[{"type":"message","content":[` + strings.Repeat(`{"type":"output_text","text":"a"},`, 20_000) + `{}]}]}`, "more than 10000 blocks and calls"},
		"thoughts":  {"openresponses", `{"object":"response","status":"completed","output":[{"type":"reasoning","encrypted_content":"` + strings.Repeat("x", 64*mega) + `"}]}`, "more than 64 MiB"},
		"bytes":     {"openai", `{"choices":[{"message":{"content":"` + strings.Repeat("x", 64*mega) + `"},"finish_reason":"stop"}]}`, "more than 64 MiB"},
		"raw bytes": {"anthropic", `{"type":"message","stop_reason":"end_turn","content":["` + strings.Repeat("x", 64*mega) + `"]}`, "more than 64 MiB"},
	} {
		_, err := give(c.dialect, strings.NewReader(c.body))
		sentence(t, name, err, model.KindProtocol, c.says)
	}
}

func TestAListOfMillionsOfNothingsIsNotRead(t *testing.T) {
	many := strings.Repeat("{},", 2_000_000) + "{}"
	for name, c := range map[string]struct{ dialect, body string }{
		"fragments": {"openai", chat(`{"tool_calls":[` + many + `]}`)},
		"choices":   {"openai", `{"choices":[` + many + `]}`},
		"content":   {"anthropic", `{"type":"message","content":[` + many + `]}`},
		"complaint": {"anthropic", `[` + many + `]`},
		"output":    {"openresponses", data(`{"type":"response.completed","response":{"output":[` + many + `]}}`)},
		"in quotes": {"openai", data(`{"a":"\"[{,","choices":[` + many + `]}`)},
	} {
		_, err := give(c.dialect, strings.NewReader(c.body))
		sentence(t, name, err, model.KindProtocol, "more than 1048576 values")
	}
}

func TestAHugeButHonestReplyIsRead(t *testing.T) {
	code := strings.Repeat(`{\"a\": [1, 2, {}],\n`, mega) // more commas and braces than a reply may have values
	body := chat(`{"content":"`+code+`"}`) + data(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
	got, err := give("openai", io.MultiReader(strings.NewReader(body), &failing{}))
	if err != nil || len(got.Blocks.Text()) != len(code)-3*mega {
		t.Errorf("%v, %d bytes", err, len(got.Blocks.Text()))
	}
}

// failing stands for a connection that is torn down after the reply was whole.
type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("torn") }

func TestHalfACharacterIsHandedOnAsValidText(t *testing.T) {
	for name, c := range map[string]struct{ dialect, body string }{
		"openai": {"openai", chat(`{"content":"a\ud83d"}`) + chat(`{"content":"\ude00"}`) + chat("{\"content\":\"\xf0\x9f\"}") +
			chat("{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"b\":\"\xff\"}}}]}") + data(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)},
		"anthropic": {"anthropic", block(0, `{"type":"text","text":"a\ud83d"}`) + piece(0, `{"type":"text_delta","text":"\ude00"}`) + piece(0, "{\"type\":\"text_delta\",\"text\":\"\xf0\x9f\"}") +
			block(1, "{\"type\":\"tool_use\",\"name\":\"f\",\"input\":{\"b\":\"\xff\"}}") + data(`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`)},
		"openresponses": {"openresponses", data(`{"type":"response.output_text.delta","delta":"a\ud83d"}`) + data(`{"type":"response.output_text.delta","delta":"\ude00"}`) + data("{\"type\":\"response.output_text.delta\",\"delta\":\"\xf0\x9f\"}") +
			data("{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":{\"b\":\"\xff\"}}}") + data(`{"type":"response.completed","response":{}}`)},
	} {
		got, err := give(c.dialect, strings.NewReader(c.body))
		if err != nil || len(got.Blocks) != 2 {
			t.Errorf("%s: %v %+v", name, err, got)
			continue
		}
		text, args := got.Blocks.Text(), got.Blocks.Calls()[0].Args
		if !strings.HasPrefix(text, "a\ufffd\ufffd\ufffd") || !utf8.ValidString(text) || args != "{\"b\":\"\ufffd\"}" {
			t.Errorf("%s: %q %q", name, text, args)
		}
	}
}
