// Package gemini speaks the generateContent dialect: Google's Gemini API and what imitates it. The
// newer Interactions API, which keeps the conversation on the server, is another dialect, and so is
// the imitation of chat completions that Google offers beside it.
package gemini

import (
	"context"
	"net/url"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
)

// Options say where the provider is and how to talk to it.
type Options = endpoint.Options

// Model is one provider. It is safe for concurrent use.
type Model struct {
	client   *endpoint.Client
	provider string
	pictures model.Pictures
}

// New makes a model. Nothing is contacted until a reply is asked for.
func New(o Options) *Model {
	auth := map[string]string{}
	if o.Key != "" {
		// The key may also stand in the query, where proxies and logs would see it.
		auth["x-goog-api-key"] = o.Key
	}
	v := endpoint.Vendor{Base: "https://generativelanguage.googleapis.com", Version: "/v1beta", KeyEnv: "GEMINI_API_KEY"}
	return &Model{client: endpoint.New(v, o, auth), provider: o.Provider}
}

// Close gives up idle connections.
func (m *Model) Close() error { return m.client.Close() }

// mostForms is how often one request is made, each time without pictures that were refused.
const mostForms = 8

// Stream makes one request and reads its reply. Where pictures are refused the request is made again
// without them.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	client, all := m.client.At(path(r.Model)), r.Messages
	for n := 1; ; n++ {
		r.Messages = m.pictures.Without(r.Model, all)
		body, err := m.body(r)
		if err != nil {
			return model.Reply{}, err
		}
		a := newAnswer(client, tell)
		err = client.Ask(ctx, body, a, r.Heard)
		if err == nil || n == mostForms || !m.pictures.Refused(r.Model, all, err, n) {
			return a.reply(), err
		}
	}
}

// path is where a model answers in a stream of events; without alt the stream is one JSON list.
// https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
func path(name string) string {
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	words := strings.Split(name, "/")
	for i := range words {
		words[i] = url.PathEscape(words[i])
	}
	return "/" + strings.Join(words, "/") + ":streamGenerateContent?alt=sse"
}
