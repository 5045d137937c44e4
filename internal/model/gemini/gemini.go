// Package gemini speaks the generateContent dialect: Google's Gemini API and what imitates it. The
// newer Interactions API, which keeps the conversation on the server, is another dialect, and so is
// the imitation of chat completions that Google offers beside it.
package gemini

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
	"jig/internal/msg"
)

// Options say where the provider is and how to talk to it.
type Options = endpoint.Options

// Model is one provider. It is safe for concurrent use.
type Model struct {
	client   *endpoint.Client
	provider string
	pictures model.Pictures
	signed   model.Signatures
	written  model.Written[string, piece] // by the model's name
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

// mostForms is how often one request is made, each time without something that was refused.
const mostForms = 8

// Stream makes one request and reads its reply. Where pictures or signatures are refused the request
// is made again without them. A reply that went wrong is asked for once more, by leave of the request's More: such a
// one is paid for in full, and a model that writes two will write ten.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	client, all := m.client.At(path(r.Model)), r.Messages
	var before msg.Usage // of a reply that went wrong
	wrong := false
	for n := 1; ; n++ {
		r.Messages = m.pictures.Without(r.Model, m.signed.Without(all, nil)) // the placeholder is put where one is asked for
		body, err := m.body(r)
		if err != nil {
			return model.Reply{}, err
		}
		a := newAnswer(client, tell)
		err = client.Ask(ctx, body, a, r.Heard)
		reply := a.reply()
		reply.Usage = reply.Usage.Add(before)
		switch {
		case err != nil && a.wrong() && wrong:
			return reply, a.wrongTwice()
		case err != nil && a.wrong():
			wrong, before = true, reply.Usage
			a.tell(model.Delta{Reset: true})
			if r.More == nil {
				break
			}
			if r.MaxOutput, err = r.More(model.Reply{Usage: before}, 0); err != nil {
				return reply, err
			}
		case err == nil, n == mostForms, !m.signed.Refused(r.Model, all, err) && !m.pictures.Refused(r.Model, all, err, n):
			return reply, err
		}
	}
}

// wrong says whether the reply ended because of what the model wrote.
func (a *answer) wrong() bool {
	var e *model.Error
	return errors.As(a.broken(), &e) && e.Kind == model.KindServer
}

// wrongTwice is the error for a reply that went wrong two times.
func (a *answer) wrongTwice() error {
	e := a.client.Errorf(model.KindServer, "%s broke off its reply twice (%s); ask for less at once, or use another model", a.client.Host(), a.reason())
	e.Final = true
	return e
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
