// Package anthropic speaks the messages dialect: Anthropic's own service and what imitates it.
package anthropic

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
	res, err := m.client.Post(ctx, body)
	if err != nil {
		return model.Reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	a := newAnswer(tell)
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

// stream reads events up to message_stop.
func (m *Model) stream(ctx context.Context, res *http.Response, in io.Reader, a *answer) error {
	events := sse.NewReader(in)
	seen := false
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF) && !seen:
			return m.client.NotStream(res, nil)
		case err != nil && a.stop != "" && ctx.Err() == nil:
			return nil // the reply was whole; only the stream's own end is missing
		case errors.Is(err, sse.ErrTooLong):
			return m.client.Errorf(model.KindProtocol, "%s: %v", m.client.Host(), err)
		case err != nil:
			return m.client.Broken(ctx, err)
		}
		seen = true
		var ev event
		if err := json.Unmarshal(e.Data, &ev); err != nil {
			return m.client.Errorf(model.KindProtocol, "%s sent an event that is not of the messages dialect: %v", m.client.Host(), err)
		}
		switch ev.Type {
		case "error":
			p, _ := endpoint.Complain(e.Data)
			return m.client.Complained(0, p)
		case "message_stop":
			if a.stop == "" {
				return m.client.Errorf(model.KindProtocol, "%s ended its stream without saying why the reply ended; try again", m.client.Host())
			}
			return nil
		}
		a.add(ev)
	}
}

// whole reads an answer that was not streamed although a stream was asked for.
func (m *Model) whole(ctx context.Context, res *http.Response, in io.Reader, a *answer) error {
	body, err := m.client.ReadWhole(ctx, in)
	if err != nil {
		return err
	}
	var w message
	if json.Unmarshal(body, &w) != nil || w.Type != "message" {
		return m.client.NotStream(res, body)
	}
	a.usage.merge(w.Usage)
	for i, raw := range w.Content {
		a.begin(i, raw)
	}
	a.stop = w.StopReason
	if a.stop == "" {
		return m.client.Errorf(model.KindProtocol, "%s did not say why the reply ended; try again", m.client.Host())
	}
	return nil
}
