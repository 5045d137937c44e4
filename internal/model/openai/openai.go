// Package openai speaks the chat completions dialect: OpenAI's own service and everything that
// imitates it, from gateways to a server on the own machine. Imitations differ in what they leave
// out, so it reads leniently and sends only what all of them know. The responses API is another
// dialect.
package openai

import (
	"context"

	"jig/internal/model"
	"jig/internal/model/endpoint"
)

// Options say where the provider is and how to talk to it.
type Options = endpoint.Options

// Model is one provider. It is safe for concurrent use.
type Model struct {
	client   *endpoint.Client
	provider string
}

// New makes a model. Nothing is contacted until a reply is asked for.
func New(o Options) *Model {
	auth := map[string]string{}
	if o.Key != "" {
		auth["Authorization"] = "Bearer " + o.Key
	}
	v := endpoint.Vendor{Base: "https://api.openai.com", Version: "/v1", Path: "/chat/completions", KeyEnv: "OPENAI_API_KEY"}
	return &Model{client: endpoint.New(v, o, auth), provider: o.Provider}
}

// Close gives up idle connections.
func (m *Model) Close() error { return m.client.Close() }

// Stream makes one request and reads its reply.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	body, err := m.body(r)
	if err != nil {
		return model.Reply{}, err
	}
	a := &answer{client: m.client, tell: tell}
	err = m.client.Ask(ctx, body, a)
	return a.reply(), err
}
