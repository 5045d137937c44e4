package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// call is one call of a tool that the model asks for.
type call struct{ name, args string }

// model is a server that speaks chat completions and answers at once: it asks for its calls, one a
// round, then it ends.
type model struct {
	url   string
	srv   *http.Server
	calls []call
	watch func(pid, round int) // sees the client while a request waits for its answer; may be nil

	mu    sync.Mutex // also held while the client starts
	pid   int
	asked []time.Time // when each request had come in whole
	first int         // bytes of the first one
	last  []byte      // the last one
}

func serve(calls []call, watch func(pid, round int)) (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &model{url: "http://" + l.Addr().String(), calls: calls, watch: watch}
	m.srv = &http.Server{Handler: m}
	go func() { _ = m.srv.Serve(l) }() // ends with close
	return m, nil
}

func (m *model) close() { _ = m.srv.Close() }

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	round := len(m.asked)
	m.asked, m.last = append(m.asked, time.Now()), body
	if round == 0 {
		m.first = len(body)
	}
	if m.watch != nil {
		m.watch(m.pid, round)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if round < len(m.calls) {
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}}]}`+"\n\n",
			round+1, m.calls[round].name, m.calls[round].args)
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
		return
	}
	io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}
