package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// dialect is a wire format, with what a run needs to speak it.
type dialect struct {
	name string // as in the configuration
	key  string // the variable with its key
	// frames are the events of a reply: what comes before its words, one of them, and what comes after,
	// given all of them.
	open  string
	word  func(n int, word string) string
	close func(text string) string
}

// dialects stream as their vendors do, a word an event.
var dialects = []dialect{
	{
		name: "openai", key: "OPENAI_API_KEY",
		open:  chatFrame(`{"role":"assistant","content":"","refusal":null}`, "null"),
		word:  func(_ int, w string) string { return chatFrame(fmt.Sprintf(`{"content":%q}`, w), "null") },
		close: func(string) string { return chatFrame(`{}`, `"stop"`) + "data: [DONE]\n\n" },
	},
	{
		name: "anthropic", key: "ANTHROPIC_API_KEY",
		open: named(`{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"output_tokens":1}}}`) +
			named(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		word: func(_ int, w string) string {
			return named(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, w))
		},
		close: func(string) string {
			return named(`{"type":"content_block_stop","index":0}`) +
				named(`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}`) + named(`{"type":"message_stop"}`)
		},
	},
	{
		name: "gemini", key: "GEMINI_API_KEY",
		word:  func(n int, w string) string { return geminiFrame(w, "", n) },
		close: func(string) string { return geminiFrame("", `"finishReason":"STOP",`, 1) },
	},
	{
		name: "openresponses", key: "OPENAI_API_KEY",
		open: named(`{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]},"sequence_number":0}`) +
			named(`{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"},"sequence_number":1}`),
		word: func(n int, w string) string {
			return named(fmt.Sprintf(`{"type":"response.output_text.delta","content_index":0,"delta":%q,"item_id":"msg_1","logprobs":[],"obfuscation":"Wd6S45xQ7S","output_index":0,"sequence_number":%d}`, w, n+2))
		},
		close: func(text string) string {
			item := fmt.Sprintf(`{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":%q}],"role":"assistant"}`, text)
			return named(`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`) +
				named(`{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[`+item+`],"usage":{"input_tokens":25,"output_tokens":15,"total_tokens":40}}}`)
		},
	},
}

func chatFrame(delta, finish string) string {
	return `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"m","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":` +
		delta + `,"logprobs":null,"finish_reason":` + finish + "}]}\n\n"
}

func geminiFrame(text, finish string, tokens int) string {
	return fmt.Sprintf(`data: {"candidates":[{"content":{"parts":[{"text":%q}],"role":"model"},%s"index":0}],"usageMetadata":{"promptTokenCount":29,"candidatesTokenCount":%d,"totalTokenCount":%d,"promptTokensDetails":[{"modality":"TEXT","tokenCount":29}]},"modelVersion":"m","responseId":"QHiLaa6LBrb8"}`,
		text, finish, tokens, 29+tokens) + "\n\n"
}

// named is an event with its name before it.
func named(data string) string {
	kind := strings.SplitN(data, `"`, 5)[3]
	return "event: " + kind + "\ndata: " + data + "\n\n"
}

// reply is the stream of an answer of so many bytes, or so many words, whichever is more than 0.
func (d dialect) reply(size, words int) (stream []byte, text string, events int) {
	var b bytes.Buffer
	var said strings.Builder
	b.WriteString(d.open)
	for n := 0; size > 0 && b.Len() < size || size == 0 && n < words; n++ {
		w := fmt.Sprintf(" word%d", n)
		said.WriteString(w)
		b.WriteString(d.word(n, w))
	}
	b.WriteString(d.close(said.String()))
	return b.Bytes(), said.String(), bytes.Count(b.Bytes(), []byte("\n\n"))
}

// plainly is what the stream costs a program that knows no dialect: it cuts lines and takes the JSON
// of each event apart. It says how many events there were.
func plainly(stream []byte) (events int, err error) {
	for line := range bytes.Lines(stream) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if data = bytes.TrimSpace(data); !ok || string(data) == "[DONE]" {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal(data, &v); err != nil {
			return 0, err
		}
		events++
	}
	return events, nil
}
