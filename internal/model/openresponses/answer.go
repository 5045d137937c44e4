package openresponses

import (
	"encoding/json"
	"slices"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
	"jig/internal/msg"
)

// event is one event of the stream. The types and fields are those of
// https://platform.openai.com/docs/api-reference/responses-streaming and of
// https://www.openresponses.org/reference; types that are not known are passed over.
type event struct {
	Type        string          `json:"type"`
	OutputIndex *int            `json:"output_index"`
	ItemID      words           `json:"item_id"`
	PartIndex   int             `json:"content_index"`
	Summary     int             `json:"summary_index"`
	Delta       words           `json:"delta"`
	Arguments   words           `json:"arguments"`
	Item        json.RawMessage `json:"item"`
	Response    json.RawMessage `json:"response"`
}

// response is a whole reply, or what the last event says of it.
type response struct {
	Object     string                `json:"object"`
	Status     string                `json:"status"`
	Output     []json.RawMessage     `json:"output"`
	Usage      endpoint.Aside[usage] `json:"usage"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// usage counts cached tokens among the input and reasoning among the output.
type usage struct {
	Input   endpoint.Count `json:"input_tokens"`
	Output  endpoint.Count `json:"output_tokens"`
	Details endpoint.Aside[struct {
		Cached  endpoint.Count `json:"cached_tokens"`
		Written endpoint.Count `json:"cache_write_tokens"`
	}] `json:"input_tokens_details"`
}

func (u *usage) counted() msg.Usage {
	c := msg.Usage{Input: u.Input.N, Output: u.Output.N}
	if d := u.Details.Value; d != nil {
		c.CacheRead, c.CacheWrite = d.Cached.N, d.Written.N
	}
	return c
}

// answer puts a reply together.
type answer struct {
	endpoint.Size
	client *endpoint.Client
	tell   func(model.Delta)
	items  []*item
	done   map[endpoint.Mark]bool // what the items that are whole can be known by
	status string
	reason string // why the reply is incomplete
	usage  msg.Usage
}

func newAnswer(c *endpoint.Client, tell func(model.Delta)) *answer {
	if tell == nil {
		tell = func(model.Delta) {}
	}
	return &answer{client: c, tell: tell}
}

// Ended is whether the reply's last state has come.
func (a *answer) Ended() bool { return a.status != "" }

// Event reads one event of the stream.
func (a *answer) Event(data []byte) (last bool, err error) {
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		return false, a.client.Errorf(model.KindProtocol, "%s sent an event that is not of the responses dialect: %v; check the provider's url and type", a.client.Host(), err)
	}
	switch ev.Type {
	case "error":
		return false, a.failed(data)
	case "response.failed":
		return false, a.failed(ev.Response)
	case "response.completed", "response.incomplete":
		return true, a.close(ev.Response, strings.TrimPrefix(ev.Type, "response."))
	case "response.output_item.added":
		a.begin(ev.OutputIndex, ev.Item)
	case "response.output_item.done":
		a.finish(ev.OutputIndex, ev.Item)
	case "response.function_call_arguments.done":
		if it := a.find(ev, "function_call"); it != nil && !it.done {
			a.replace(&it.args, string(ev.Arguments))
		}
	case "response.function_call_arguments.delta":
		switch it := a.find(ev, "function_call"); {
		case it == nil:
		case it.done:
			a.Repeat(len(ev.Delta))
		default:
			a.Keep(&it.args, string(ev.Delta))
		}
	case "response.output_text.delta", "response.refusal.delta":
		a.said(ev)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.reasoning.delta":
		a.thought(ev)
	case "":
		return false, a.untyped(data)
	}
	return false, nil
}

// untyped tells an error in the shape of a whole answer, which gateways put into a stream.
func (a *answer) untyped(data []byte) error {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &e) == nil && len(e.Error) > 0 && string(e.Error) != "null" {
		return a.failed(data)
	}
	return nil
}

// Whole reads a reply in one piece.
func (a *answer) Whole(body []byte) error {
	var r response
	if json.Unmarshal(body, &r) != nil || r.Object != "response" && r.Output == nil {
		return endpoint.ErrNoReply
	}
	return a.close(body, r.Status)
}

// close takes the reply's last state. Its output is what the stream has already brought, but for
// imitations that leave some of it out.
func (a *answer) close(body []byte, status string) error {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return a.client.Errorf(model.KindProtocol, "%s ended its reply with something that is not of the responses dialect: %v", a.client.Host(), err)
	}
	switch r.Status {
	case "completed", "incomplete", "failed", "cancelled":
		status = r.Status
	}
	if u := r.Usage.Value; u != nil {
		a.usage = u.counted()
	}
	a.fill(r.Output)
	switch status {
	case "completed", "incomplete":
		a.status, a.reason = status, r.Incomplete.Reason
	case "failed", "cancelled":
		return a.failed(body)
	}
	return nil
}

// fill takes from the whole output what the stream did not bring: everything, or the ends of items.
func (a *answer) fill(output []json.RawMessage) {
	begun := len(a.items)
	for i, raw := range output {
		index := &i
		if i < begun {
			index = a.items[i].index
		}
		if begun == 0 || i < begun && !a.items[i].done && a.items[i].kind == read(raw).Type {
			if !a.finish(index, raw) {
				return
			}
		}
	}
}

// failed is the error that a provider told of. It had accepted the request, so an error that does
// not say that it is about the request is the provider's own fault.
func (a *answer) failed(data []byte) error {
	type told struct {
		Type    words `json:"type"`
		Code    words `json:"code"`
		Message words `json:"message"`
	}
	var e struct {
		told
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(data, &e) // whatever cannot be read is missing
	t := e.told
	if len(e.Error) > 0 && json.Unmarshal(e.Error, &t) != nil {
		_ = json.Unmarshal(e.Error, &t.Message)
	}
	err := a.client.Told(data)
	if err.Kind == model.KindRequest && !aboutRequest(string(t.Type+" "+t.Code)) {
		said := first(string(t.Message), first(string(t.Code), "no reason given"))
		return a.client.Errorf(model.KindServer, "%s broke off its reply (%s); try again", a.client.Host(), said)
	}
	return err
}

// aboutRequest says whether an error's code is one of those that find fault with the request:
// https://platform.openai.com/docs/api-reference/responses/object lists them.
func aboutRequest(code string) bool {
	return slices.ContainsFunc([]string{"invalid", "policy", "image", "unsupported", "mismatch", "not_found"}, func(s string) bool { return strings.Contains(code, s) })
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (a *answer) reply() model.Reply {
	r := model.Reply{Usage: a.usage}
	calls, refused := false, false
	var once endpoint.Calls
	for _, it := range a.items {
		once.Full(it.callID, it.name, it.args.String())
	}
	for _, it := range a.items {
		switch it.kind {
		case "message":
			for _, p := range it.parts {
				if p.text.Len() > 0 {
					refused = refused || p.refusal
					r.Blocks = append(r.Blocks, msg.Text{Text: p.text.String(), Raw: it.head(p.refusal)})
				}
			}
		case "reasoning":
			r.Blocks = append(r.Blocks, msg.Reasoning{Text: it.thought.String(), Raw: it.raw})
		case "function_call":
			if once.Again(it.callID, it.name, it.args.String()) {
				continue // its pieces came twice
			}
			calls = true
			r.Blocks = append(r.Blocks, msg.Call{Given: it.callID, Name: it.name, Args: it.args.String(), Raw: it.head(false)})
		}
	}
	switch {
	case a.status == "":
	case a.status == "incomplete" && a.reason == "content_filter":
		r.Stop = model.StopRefusal
	case a.status == "incomplete":
		r.Stop = model.StopLength
	case refused:
		r.Stop = model.StopRefusal
	case calls:
		r.Stop = model.StopCalls
	default:
		r.Stop = model.StopEnd
	}
	return r
}
