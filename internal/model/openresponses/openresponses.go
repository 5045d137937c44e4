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
	w, all := without{summary: m.terse.Load()}, r.Messages
	for n := 1; ; n++ {
		r.Messages = m.pictures.Without(r.Model, all)
		reply, err := m.ask(ctx, r, w, tell)
		less := w.refused(err)
		if err == nil || n == mostForms || less == w && !m.pictures.Refused(r.Model, all, err, n) {
			return reply, err
		}
		if less.summary {
			m.terse.Store(true)
		}
		w = less
	}
}

func (m *Model) ask(ctx context.Context, r model.Request, w without, tell func(model.Delta)) (model.Reply, error) {
	body, err := m.body(r, w)
	if err != nil {
		return model.Reply{}, err
	}
	a := newAnswer(m.client, tell)
	err = m.client.Ask(ctx, body, a, r.Heard)
	return a.reply(), err
}

// without names what a request is sent without.
type without struct {
	summary  bool // summaries of the reasoning
	thoughts bool // earlier reasoning
}

// refused adds what a refusal is about. Summaries are written only for organizations that have
// identified themselves, and encrypted reasoning can stop being readable, as after a change of the
// account:
// https://help.openai.com/en/articles/10910291-api-organization-verification
// https://github.com/openai/codex/issues/8128
func (w without) refused(err error) without {
	var e *model.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return w
	}
	switch text := strings.ToLower(e.Text); {
	case strings.Contains(text, "reasoning summaries"):
		w.summary = true
	case strings.Contains(text, "encrypted content") && strings.Contains(text, "could not be verified"):
		w.thoughts = true
	}
	return w
}
