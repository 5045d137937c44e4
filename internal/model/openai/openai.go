// Package openai speaks the chat completions dialect: OpenAI's own service and everything that
// imitates it, from gateways to a server on the own machine. Imitations differ in what they leave
// out, so it reads leniently and sends only what all of them know. The responses API is another
// dialect.
package openai

import (
	"context"
	"strings"

	"jig/internal/model"
	"jig/internal/model/endpoint"
)

// Options say where the provider is and how to talk to it.
type Options = endpoint.Options

// Model is one provider. It is safe for concurrent use.
type Model struct {
	client       *endpoint.Client
	provider     string
	at           vendor
	learnt       learnt
	pictures     model.Pictures
	signed       model.Signatures
	conversation conversations
}

// New makes a model. Nothing is contacted until a reply is asked for.
func New(o Options) *Model {
	auth := map[string]string{}
	if o.Key != "" {
		auth["Authorization"] = "Bearer " + o.Key
	}
	v := endpoint.Vendor{Base: "https://api.openai.com", Version: "/v1", Path: "/chat/completions", KeyEnv: "OPENAI_API_KEY"}
	c := endpoint.New(v, o, auth)
	return &Model{client: c, provider: o.Provider, at: vendorAt(strings.ToLower(c.Host()))}
}

// Close gives up idle connections.
func (m *Model) Close() error { return m.client.Close() }

// unsigned takes the place of what a call came with when that was refused. Only Google's models send
// such a thing; they want one with every call and take this for "do not check".
// https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
const unsigned = `{"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}`

// most bounds how often a request is made again in another form.
const most = 8

// Stream makes one request and reads its reply. Where the server refuses a part of the request that
// can be done without, the request is made again without it, and so are later ones.
func (m *Model) Stream(ctx context.Context, r model.Request, tell func(model.Delta)) (model.Reply, error) {
	w, all := m.learnt.of(r.Model), r.Messages
	for n := 1; ; n++ {
		r.Messages = m.pictures.Without(r.Model, m.signed.Without(all, []byte(unsigned)))
		body, err := m.body(r, w)
		if err != nil {
			return model.Reply{}, err
		}
		a := &answer{client: m.client, tell: tell}
		err = m.client.Ask(ctx, body, a, r.Heard)
		next := w.after(err, r, body)
		switch {
		case err == nil:
			m.learnt.keep(r.Model, w)
			return a.reply(), nil
		case n == most:
			return a.reply(), err
		case m.signed.Refused(r.Model, all, err): // before the fields as such, which such a refusal may name
		case next != w:
			w = next
		case !m.pictures.Refused(r.Model, all, err, n):
			return a.reply(), err
		}
	}
}
