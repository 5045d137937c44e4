package tape

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Exact is a text of any bytes. It is written as a string, and as ["base64", "…"] when it is not
// UTF-8, which JSON would silently mend.
type Exact string

const inBase64 = "base64"

// MarshalJSON writes it.
func (e Exact) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(e)) {
		return marshal(string(e))
	}
	return marshal([]string{inBase64, base64.StdEncoding.EncodeToString([]byte(e))})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Exact) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, (*string)(e))
	}
	var form []string
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	if len(form) != 2 || form[0] != inBase64 {
		return fmt.Errorf(`%.40s is neither a string nor ["base64", "…"]`, data)
	}
	b, err := base64.StdEncoding.DecodeString(form[1])
	*e = Exact(b)
	return err
}

// Args are the arguments of a call, byte for byte. For people they are written as the object that
// they nearly always are, where that is what comes back.
type Args string

// MarshalJSON writes them.
func (a Args) MarshalJSON() ([]byte, error) {
	if plainObject(string(a)) {
		return []byte(a), nil
	}
	return Exact(a).MarshalJSON()
}

// UnmarshalJSON reads what MarshalJSON wrote, and an object that a person has laid out.
func (a *Args) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var b bytes.Buffer
		if err := json.Compact(&b, data); err != nil {
			return err
		}
		*a = Args(b.String())
		return nil
	}
	if len(data) > 0 && data[0] != '"' && data[0] != '[' {
		return errors.New("args must be an object or a string")
	}
	return (*Exact)(a).UnmarshalJSON(data)
}

// plainObject reports whether s is a JSON object without any spacing. One that is nested deeply could
// not be read inside of another.
func plainObject(s string) bool {
	const deep = 1000
	if !strings.HasPrefix(s, "{") || !utf8.ValidString(s) || strings.Count(s, "{")+strings.Count(s, "[") > deep {
		return false
	}
	var b bytes.Buffer
	return json.Compact(&b, []byte(s)) == nil && b.String() == s
}

// marshal leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
