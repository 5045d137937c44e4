package msg

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MarshalJSON writes each block as an object whose "type" comes first.
func (b Blocks) MarshalJSON() ([]byte, error) {
	out := make([]json.RawMessage, len(b))
	for i, x := range b {
		var err error
		if out[i], err = marshalBlock(x); err != nil {
			return nil, err
		}
	}
	return marshal(out)
}

func marshalBlock(x Block) ([]byte, error) {
	switch x := x.(type) {
	case Text:
		return marshal(struct {
			Type string `json:"type"`
			Text
		}{"text", x})
	case Image:
		return marshal(struct {
			Type string `json:"type"`
			Image
		}{"image", x})
	case Reasoning:
		return marshal(struct {
			Type string `json:"type"`
			Reasoning
		}{"reasoning", x})
	case Call:
		return marshal(struct {
			Type string `json:"type"`
			Call
		}{"call", x})
	case Result:
		return marshal(struct {
			Type string `json:"type"`
			Result
		}{"result", x})
	}
	return nil, fmt.Errorf("msg: a block of type %T cannot be written", x)
}

// marshal leaves <, > and & as they are, as whatever encoder is around it may want them: an escape
// that stands here already could not be taken back.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads what MarshalJSON wrote. A block of a type it does not know is an error: a
// conversation with a hole in it must not be sent.
func (b *Blocks) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	out := make(Blocks, len(raw))
	for i, r := range raw {
		var err error
		if out[i], err = unmarshalBlock(r); err != nil {
			return err
		}
	}
	*b = out
	return nil
}

func unmarshalBlock(data []byte) (Block, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case "text":
		return read[Text](data)
	case "image":
		return read[Image](data)
	case "reasoning":
		return read[Reasoning](data)
	case "call":
		return read[Call](data)
	case "result":
		return read[Result](data)
	}
	return nil, fmt.Errorf("msg: unknown block type %q", head.Type)
}

func read[T Block](data []byte) (Block, error) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err
}
