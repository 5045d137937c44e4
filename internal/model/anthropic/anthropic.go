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

// Stream makes one request and reads its reply.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	body, err := m.body(r)
	if err != nil {
		return model.Reply{}, err
	}
	a := newAnswer(m.client, tell)
	err = m.client.Ask(ctx, body, a)
	return a.reply(), err
}
