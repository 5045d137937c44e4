package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"jig/internal/model"
	"jig/internal/model/tape"
	"jig/internal/msg"
)

// script is the whole file. docs/replay.md describes it for people.
type script struct {
	Version int `yaml:"version" json:"version"`
	// Recorded says that a recorder wrote it: requests are then compared with those it has.
	Recorded bool    `yaml:"recorded" json:"recorded"`
	Replies  []reply `yaml:"replies" json:"replies"`
}

type reply struct {
	Expect    *expect  `yaml:"expect" json:"expect"`
	Capture   captures `yaml:"capture" json:"capture"`
	Reasoning string   `yaml:"reasoning" json:"reasoning"`
	Text      string   `yaml:"text" json:"text"`
	Calls     []call   `yaml:"calls" json:"calls"`
	Usage     usage    `yaml:"usage" json:"usage"`
	Stop      string   `yaml:"stop" json:"stop"`
	Delay     duration `yaml:"delay" json:"delay"`
	Error     *failure `yaml:"error" json:"error"`

	// Blocks say what Reasoning, Text and Calls cannot: any order, and what providers want back.
	Blocks  blocks   `yaml:"blocks" json:"blocks"`
	CutBy   string   `yaml:"cut_by" json:"cut_by"`
	Request *request `yaml:"request" json:"request"`

	speech msg.Blocks // what Blocks are in this run
}

// expect is what a reply demands of the request it answers.
type expect struct {
	UserContains       string   `yaml:"user_contains" json:"user_contains"`
	LastResultContains string   `yaml:"last_result_contains" json:"last_result_contains"`
	Results            []result `yaml:"results" json:"results"`
}

// result is what one tool result must be. Exact is a pointer because an empty result can be
// demanded.
type result struct {
	Exact    *string `yaml:"exact" json:"exact"`
	Contains string  `yaml:"contains" json:"contains"`
	Matches  pattern `yaml:"matches" json:"matches"`
	Failed   *bool   `yaml:"failed" json:"failed"`
}

type call struct {
	ID   string `yaml:"id" json:"id"`
	Name string `yaml:"name" json:"name"`
	Args args   `yaml:"args" json:"args"`
}

type usage struct {
	Input      int `yaml:"input_tokens" json:"input_tokens"`
	Output     int `yaml:"output_tokens" json:"output_tokens"`
	CacheRead  int `yaml:"cache_read_tokens" json:"cache_read_tokens"`
	CacheWrite int `yaml:"cache_write_tokens" json:"cache_write_tokens"`
}

type failure struct {
	Kind   string   `yaml:"kind" json:"kind"`
	Status int      `yaml:"status" json:"status"`
	After  duration `yaml:"after" json:"after"`
	Text   string   `yaml:"text" json:"text"`
	Final  bool     `yaml:"final" json:"final"`
}

// parse reads a script in either form. A script whose first character is { and which does not
// parse as one JSON value is JSON lines: the version on the first line, a reply on each other.
func parse(data []byte) (*script, error) {
	var s script
	var err error
	if !utf8.Valid(data) {
		return nil, errors.New("replay script: it is not UTF-8 text; save it as UTF-8")
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		err = parseLines(data, &s)
		if end := bytes.LastIndexByte(data, '\n') + 1; err != nil && s.Recorded && end > 0 && end < len(data) {
			// Whoever recorded it was stopped within a line.
			s = script{}
			err = parseLines(data[:end], &s)
		}
	} else {
		err = yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.UseOrderedMap()).Decode(&s)
		if errors.Is(err, io.EOF) {
			err = errors.New("the script is empty")
		} else if err != nil {
			err = errors.New(oneLine(yaml.FormatError(err, false, false)))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("replay script: %w", err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("replay script: %w", err)
	}
	return &s, nil
}

func parseLines(data []byte, s *script) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	for n := 0; ; n++ {
		var err error
		if n == 0 {
			err = d.Decode(s)
		} else {
			var r reply
			if err = d.Decode(&r); err == nil {
				s.Replies = append(s.Replies, r)
			}
		}
		if n > 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			at := min(int(d.InputOffset()), len(data))
			var syntax *json.SyntaxError
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) {
				// The decoder stands before the value that it could not read.
				at = len(data) - len(bytes.TrimLeft(data[at:], " \t\r\n"))
			}
			return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:at], []byte("\n")), err)
		}
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// check finds what is wrong with a script before it is played, so that it fails at the start and
// not in the middle of a demonstration.
func (s *script) check() error {
	if s.Version != 1 {
		return fmt.Errorf("version %d is not supported; the first key must be version: 1", s.Version)
	}
	if len(s.Replies) == 0 {
		return errors.New("there are no replies")
	}
	known := map[string]int{}
	for i, r := range s.Replies {
		for _, c := range r.Capture {
			if _, ok := known[c.name]; !ok {
				known[c.name] = i
			}
		}
	}
	for i, r := range s.Replies {
		if err := r.check(known, i); err != nil {
			return fmt.Errorf("reply %d: %w", i+1, err)
		}
	}
	return nil
}

func (r reply) check(known map[string]int, at int) error {
	switch model.Stop(r.Stop) {
	case "", model.StopEnd, model.StopCalls, model.StopLength, model.StopRefusal:
	default:
		return fmt.Errorf("stop %q is none of end, calls, length, refusal", r.Stop)
	}
	if e := r.Error; e != nil {
		switch model.Kind(e.Kind) {
		case model.KindAuth, model.KindRequest, model.KindOverflow, model.KindQuota, model.KindLimit, model.KindServer, model.KindNetwork, model.KindProtocol:
		default:
			return fmt.Errorf("error kind %q is none of auth, request, overflow, quota, limit, server, network, protocol", e.Kind)
		}
	} else if r.Text == "" && r.Reasoning == "" && len(r.Calls) == 0 && r.Stop == "" && len(r.Blocks) == 0 {
		return errors.New("it says nothing: text, reasoning, calls, blocks, stop or error is needed")
	}
	if len(r.Blocks) > 0 && (r.Text != "" || r.Reasoning != "" || len(r.Calls) > 0) {
		return errors.New("blocks stand in place of text, reasoning and calls")
	}
	if err := tape.Check(r.Blocks); err != nil {
		return err
	}
	texts := []string{r.Text, r.Reasoning}
	for _, c := range r.Calls {
		texts = append(texts, string(c.Args))
	}
	for _, p := range r.Blocks {
		for _, s := range []*tape.Exact{p.Text, p.Reasoning, (*tape.Exact)(p.Args)} {
			if s != nil {
				texts = append(texts, string(*s))
			}
		}
	}
	if r.Expect != nil {
		texts = append(texts, r.Expect.UserContains, r.Expect.LastResultContains)
		for _, x := range r.Expect.Results {
			texts = append(texts, x.Contains)
			if x.Exact != nil {
				texts = append(texts, *x.Exact)
			}
		}
	}
	for _, t := range texts {
		for _, m := range variable().FindAllStringSubmatch(t, -1) {
			if first, ok := known[m[1]]; ok && first > at {
				return fmt.Errorf("it uses ${%s}, which is only captured in reply %d", m[1], first+1)
			}
		}
	}
	return nil
}

// variable finds the places that a captured value is put into. What no reply captures stays as it
// is, so that a script can write ${HOME} for a shell.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })
