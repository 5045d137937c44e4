package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// model is a server that speaks chat completions and answers at once: for a number of rounds it
// asks for one small call, then it ends.
type model struct {
	url string
	srv *http.Server

	mu     sync.Mutex
	rounds int
	asked  []time.Time // when each request had come in whole
	first  int         // bytes of the first one
}

func serve(rounds int) (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &model{url: "http://" + l.Addr().String(), rounds: rounds}
	m.srv = &http.Server{Handler: m}
	go func() { _ = m.srv.Serve(l) }() // ends with close
	return m, nil
}

func (m *model) close() { _ = m.srv.Close() }

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return
	}
	m.mu.Lock()
	m.asked = append(m.asked, time.Now())
	if len(m.asked) == 1 {
		m.first = int(n)
	}
	round := len(m.asked)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if round <= m.rounds {
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"hello.txt\"}"}}]}}]}`+"\n\n", round)
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
		return
	}
	io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}
