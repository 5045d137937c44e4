package shell

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// longest is the longest timeout there is; whoever asks for more means for ever.
const longest = math.MaxInt64

// timeout reads a number of seconds, as a number or as a string that holds one. Nothing is none.
func timeout(raw json.RawMessage) (time.Duration, error) {
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" {
		return 0, nil
	}
	if text[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return 0, badTimeout
		}
		text = strings.TrimSpace(s)
	}
	if text == "" || !strings.ContainsRune("0123456789-", rune(text[0])) || !json.Valid([]byte(text)) {
		return 0, badTimeout // what only Go reads as a number, such as Inf or 0x10
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(seconds, 1) || seconds <= 0 {
		return 0, badTimeout
	}
	if seconds >= longest/float64(time.Second) {
		return longest, nil
	}
	return max(1, time.Duration(seconds*float64(time.Second))), nil
}

// withoutField makes a field of an object null and leaves everything else, what is wrong with it
// included, to whoever decodes it.
func withoutField(object json.RawMessage, name string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return object
	}
	out := []byte{'{'}
	for d.More() {
		at := d.InputOffset()
		key, err := d.Token()
		if err != nil {
			return object
		}
		raw := bytes.TrimLeft(object[at:d.InputOffset()], ", \t\r\n")
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return object
		}
		if key == name {
			value = json.RawMessage("null")
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, raw...), ':'), value...)
	}
	return append(out, '}')
}
