// Package openresponses speaks the responses dialect: OpenAI's own service and what follows the
// Open Responses specification. It keeps no state at the provider: every request brings the whole
// conversation, with the model's reasoning in the encrypted form it came in. Hosted tools and
// stored conversations are not used.
package openresponses

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"jig/internal/model"
	"jig/internal/model/endpoint"
)

// Options say where the provider is and how to talk to it.
type Options = endpoint.Options

// Model is one provider. It is safe for concurrent use.
type Model struct {
	client   *endpoint.Client
	provider string
	// terse is whether the provider has refused to write summaries of its reasoning.
	terse    atomic.Bool
	pictures model.Pictures
	signed   model.Signatures
	written  model.Written[string, []byte] // by the model's name, the items of each message
}

// New makes a model. Nothing is contacted until a reply is asked for.
func New(o Options) *Model {
	auth := map[string]string{}
	if o.Key != "" {
		auth["Authorization"] = "Bearer " + o.Key
	}
	v := endpoint.Vendor{Base: "https://api.openai.com", Version: "/v1", Path: "/responses", KeyEnv: "OPENAI_API_KEY"}
	return &Model{client: endpoint.New(v, o, auth), provider: o.Provider}
}

// Close gives up idle connections.
func (m *Model) Close() error { return m.client.Close() }

// mostForms is how often one request is made, each time without something that was refused.
const mostForms = 8

// Stream makes one request and reads its reply. Where the provider refuses a part of the request
// that can be done without, the reply is asked for again without it.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	terse, all := m.terse.Load(), r.Messages
	for n := 1; ; n++ {
		r.Messages = m.pictures.Without(r.Model, m.signed.Without(all, nil))
		reply, err := m.ask(ctx, r, terse, tell)
		switch {
		case err == nil, n == mostForms:
			return reply, err
		case !terse && noSummaries(err):
			terse = true
			m.terse.Store(true)
		case !m.signed.Refused(r.Model, all, err) && !m.pictures.Refused(r.Model, all, err, n):
			return reply, err
		}
	}
}

func (m *Model) ask(ctx context.Context, r model.Request, terse bool, tell func(model.Delta)) (model.Reply, error) {
	body, err := m.body(r, terse)
	if err != nil {
		return model.Reply{}, err
	}
	a := newAnswer(m.client, tell)
	err = m.client.Ask(ctx, body, a, r.Heard)
	return a.reply(), err
}

// noSummaries says whether a refusal is of summaries of the reasoning. They are written only for
// organizations that have identified themselves:
// https://help.openai.com/en/articles/10910291-api-organization-verification
func noSummaries(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(e.Text), "reasoning summaries")
}
