package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/goccy/go-yaml"

	"jig/internal/model/tape"
)

// args are the arguments of a call: a mapping, or a string that is given to the tools exactly as
// it is written, which may be malformed. Here they are the string.
type args string

func (a *args) UnmarshalYAML(unmarshal func(any) error) error {
	var v any
	if err := unmarshal(&v); err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		*a = args(v)
		return nil
	case nil:
		*a = "{}"
		return nil
	case yaml.MapSlice:
		var b bytes.Buffer
		if err := writeJSON(&b, v); err != nil {
			return err
		}
		*a = args(b.String())
		return nil
	}
	return fmt.Errorf("args must be a mapping or a string, not %T", v)
}

func (a *args) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil && string(data) != "null" {
		*a = args(s)
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return err
	}
	if b.String() == "null" {
		*a = "{}"
		return nil
	}
	if b.Bytes()[0] != '{' {
		return errors.New("args must be an object or a string")
	}
	*a = args(b.String())
	return nil
}

// writeJSON keeps the order of the keys as the script has them, which a Go map would not.
func writeJSON(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case yaml.MapSlice:
		b.WriteByte('{')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, fmt.Sprint(item.Key)); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeJSON(b, item.Value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, x); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // Encode's newline
	}
	return nil
}

// capture takes a value out of the results: group 1 of the pattern, or the whole match.
type capture struct {
	name string
	re   *regexp.Regexp
}

type captures []capture

func (c *captures) UnmarshalYAML(unmarshal func(any) error) error {
	var m yaml.MapSlice
	if err := unmarshal(&m); err != nil {
		return err
	}
	for _, item := range m {
		if err := c.add(fmt.Sprint(item.Key), item.Value); err != nil {
			return err
		}
	}
	return nil
}

func (c *captures) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("capture must be an object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return err
		}
		if err := c.add(name.(string), v); err != nil {
			return err
		}
	}
	return nil
}

func (c *captures) add(name string, v any) error {
	s, ok := v.(string)
	if !ok || !variable().MatchString("${"+name+"}") {
		return fmt.Errorf("capture needs a name of letters, digits and _ and a regular expression in quotes, not %s: %v", name, v)
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return fmt.Errorf("capture %s: %w", name, err)
	}
	*c = append(*c, capture{name, re})
	return nil
}

// pattern is a regular expression; nil when absent.
type pattern struct{ *regexp.Regexp }

func (p *pattern) set(s string) (err error) {
	p.Regexp, err = regexp.Compile(s)
	return err
}

func (p *pattern) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	return p.set(s)
}

func (p *pattern) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	return p.set(s)
}

// duration is written as 250ms, 3s or 2m.
type duration time.Duration

func (d *duration) set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration; write it as 250ms, 3s or 2m", s)
	}
	*d = duration(v)
	return nil
}

func (d *duration) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	return d.set(s)
}

func (d *duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("%s is not a duration; write it as \"250ms\"", data)
	}
	return d.set(s)
}

// blocks and request are written as JSON has them. In YAML they are the same, laid out.
type blocks []tape.Part

func (b *blocks) UnmarshalYAML(unmarshal func(any) error) error {
	return throughJSON(unmarshal, (*[]tape.Part)(b))
}

type request struct{ tape.Request }

func (r *request) UnmarshalYAML(unmarshal func(any) error) error {
	return throughJSON(unmarshal, &r.Request)
}

func throughJSON(unmarshal func(any) error, to any) error {
	var v any
	if err := unmarshal(&v); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writeJSON(&b, v); err != nil {
		return err
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	return d.Decode(to)
}
