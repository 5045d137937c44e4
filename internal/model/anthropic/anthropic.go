// Package anthropic speaks the messages dialect: Anthropic's own service and what imitates it.
package anthropic

import (
	"context"

	"jig/internal/model"
	"jig/internal/model/endpoint"
)

// Options say where the provider is and how to talk to it.
type Options = endpoint.Options

// version is of the API; a request without one is refused. The later 2026-10-21 brings nothing that
// is used here and takes temperature and top_p away from the models that still have them:
// https://platform.claude.com/docs/en/api/migration-2026-10-21
const version = "2023-06-01"

// Model is one provider. It is safe for concurrent use.
type Model struct {
	client   *endpoint.Client
	provider string
	learnt   learnt
	pictures model.Pictures
	written  model.Written[string, []entry] // by the model's name
}

// New makes a model. Nothing is contacted until a reply is asked for.
func New(o Options) *Model {
	auth := map[string]string{"anthropic-version": version}
	if o.Key != "" {
		auth["x-api-key"] = o.Key
	}
	v := endpoint.Vendor{Base: "https://api.anthropic.com", Version: "/v1", Path: "/messages", KeyEnv: "ANTHROPIC_API_KEY"}
	return &Model{client: endpoint.New(v, o, auth), provider: o.Provider}
}

// Close gives up idle connections.
func (m *Model) Close() error { return m.client.Close() }

const (
	mostForms  = 8  // how often one request is made, each time without something that was refused
	mostPauses = 10 // how often one reply is continued
)

// Stream makes one request and reads its reply. A reply that the server paused is continued, each time
// by leave of the request's More, and a request that is refused for something which can be done without
// is made again without it.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	var all model.Reply
	var said []any // before the pauses
	for pauses := 1; ; pauses++ {
		a, err := m.ask(ctx, r, said, tell)
		if a == nil {
			return all, err
		}
		reply := a.reply()
		reply.Blocks = append(all.Blocks, reply.Blocks...)
		reply.Usage = reply.Usage.Add(all.Usage)
		if all = reply; err != nil || a.stop != pauseTurn {
			return all, err
		}
		more := a.again()
		if len(more) == 0 || pauses > mostPauses {
			return all, m.neverWhole(pauses)
		}
		said = append(said, more...)
		if r.More != nil {
			if r.MaxOutput, err = r.More(all, len(encode(said))); err != nil {
				return all, err
			}
		}
	}
}

// ask makes one request in the form that the server takes.
func (m *Model) ask(ctx context.Context, r model.Request, said []any, tell func(model.Delta)) (*answer, error) {
	messages := r.Messages
	for n := 1; ; n++ {
		r.Messages = m.pictures.Without(r.Model, m.learnt.signed.Without(messages, nil))
		body, err := m.body(r, said)
		if err != nil {
			return nil, err
		}
		a := newAnswer(m.client, tell)
		err = m.client.Ask(ctx, body, a, r.Heard)
		again := m.learnt.refused(err) || m.learnt.signed.Refused(r.Model, messages, err) || m.pictures.Refused(r.Model, messages, err, n)
		if err == nil || n == mostForms || !again {
			return a, err
		}
	}
}
