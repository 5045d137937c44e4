// Package openai speaks the chat completions dialect: OpenAI's own service and everything that
// imitates it, from gateways to a server on the own machine. Imitations differ in what they leave
// out, so it reads leniently and sends only what all of them know. The responses API is another
// dialect.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"jig/internal/model"
	"jig/internal/model/endpoint"
	"jig/internal/model/sse"
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
	res, err := m.client.Post(ctx, body)
	if err != nil {
		return model.Reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	a := &answer{tell: tell}
	in, stream, err := m.client.Begin(ctx, res)
	switch {
	case err != nil:
	case stream:
		err = m.stream(ctx, res, in, a)
	default:
		err = m.whole(ctx, res, in, a)
	}
	return a.reply(), err
}

// stream reads chunk after chunk until the stream's end mark, or its end.
func (m *Model) stream(ctx context.Context, res *http.Response, in io.Reader, a *answer) error {
	events := sse.NewReader(in)
	seen := false
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF) && !seen:
			return m.client.NotStream(res, nil)
		case err != nil && a.finish != "" && ctx.Err() == nil:
			return nil // the reply was whole; only the stream's own end is missing
		case errors.Is(err, sse.ErrTooLong):
			return m.client.Errorf(model.KindProtocol, "%s: %v", m.client.Host(), err)
		case err != nil:
			return m.client.Broken(ctx, err)
		}
		seen = true
		if string(e.Data) == "[DONE]" {
			if a.finish == "" {
				return m.client.Errorf(model.KindProtocol, "%s ended its stream without saying why the reply ended; try again", m.client.Host())
			}
			return nil
		}
		if err := m.chunk(e.Data, a); err != nil {
			return err
		}
	}
}

// whole reads an answer that was not streamed although a stream was asked for.
func (m *Model) whole(ctx context.Context, res *http.Response, in io.Reader, a *answer) error {
	body, err := m.client.ReadWhole(ctx, in)
	if err != nil {
		return err
	}
	var c chunk
	if json.Unmarshal(body, &c) != nil || len(c.Choices) == 0 {
		return m.client.NotStream(res, body)
	}
	if err := m.chunk(body, a); err != nil {
		return err
	}
	if a.finish == "" {
		return m.client.Errorf(model.KindProtocol, "%s did not say why the reply ended; try again", m.client.Host())
	}
	return nil
}

func (m *Model) chunk(data []byte, a *answer) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return m.client.Errorf(model.KindProtocol, "%s sent an event that is not a chat completion: %v", m.client.Host(), err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		p, _ := endpoint.Complain(data)
		return m.client.Complained(0, p)
	}
	a.add(c)
	if a.finish == "error" || a.finish == "insufficient_system_resource" {
		return m.client.Errorf(model.KindServer, "%s broke off its reply (%s); try again", m.client.Host(), a.finish)
	}
	return nil
}
