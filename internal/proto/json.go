package proto

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Encode writes a fact as one JSON object without a newline. Its "type" comes first, then its
// number.
func Encode(seq uint64, f Fact) ([]byte, error) {
	name, err := name(f)
	if err != nil {
		return nil, err
	}
	body, err := marshal(f)
	if err != nil {
		return nil, err
	}
	head := fmt.Appendf(nil, `{"type":%q,"seq":%d`, name, seq)
	if len(body) > 2 {
		head = append(head, ',')
	}
	return append(head, body[1:]...), nil
}

// Decode reads what Encode wrote.
func Decode(data []byte) (uint64, Fact, error) {
	var head struct {
		Type string `json:"type"`
		Seq  uint64 `json:"seq"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return 0, nil, err
	}
	read, ok := readers[head.Type]
	if !ok {
		return 0, nil, fmt.Errorf("proto: unknown fact %q", head.Type)
	}
	f, err := read(data)
	return head.Seq, f, err
}

// readers are how facts are read, by the name they are written under.
var readers = map[string]func([]byte) (Fact, error){
	"began": read[Began], "said": read[Said], "opened": read[Opened], "asked": read[Asked], "answered": read[Answered],
	"closed": read[Closed], "cost": read[Cost], "ended": read[Ended], "rewound": read[Rewound], "compacted": read[Compacted],
	"goal": read[Goal], "titled": read[Titled], "forked": read[Forked],
}

// Types are the names that facts are written under.
func Types() []string { return slices.Sorted(maps.Keys(readers)) }

func read[T Fact](data []byte) (Fact, error) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err
}

func name(f Fact) (string, error) {
	switch f.(type) {
	case Began:
		return "began", nil
	case Said:
		return "said", nil
	case Opened:
		return "opened", nil
	case Asked:
		return "asked", nil
	case Answered:
		return "answered", nil
	case Closed:
		return "closed", nil
	case Cost:
		return "cost", nil
	case Ended:
		return "ended", nil
	case Rewound:
		return "rewound", nil
	case Compacted:
		return "compacted", nil
	case Goal:
		return "goal", nil
	case Titled:
		return "titled", nil
	case Forked:
		return "forked", nil
	}
	return "", fmt.Errorf("proto: a fact of type %T cannot be written", f)
}

// marshal leaves <, > and & as they are: the lines are for people, too.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

type ended Ended

// seconds is how an Ended is written.
type seconds struct {
	ended
	After float64 `json:"after,omitempty"`
}

// MarshalJSON writes After in seconds, as waits are.
func (e Ended) MarshalJSON() ([]byte, error) {
	return marshal(seconds{ended(e), e.After.Seconds()})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Ended) UnmarshalJSON(data []byte) error {
	var s seconds
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	const most = 1e9 // what is longer is no wait
	*e = Ended(s.ended)
	e.After = time.Duration(min(max(s.After, 0), most) * float64(time.Second))
	return nil
}
