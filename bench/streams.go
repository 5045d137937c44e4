package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	wire "jig/internal/model"
	"jig/internal/model/anthropic"
	"jig/internal/model/endpoint"
	"jig/internal/model/gemini"
	"jig/internal/model/openai"
	"jig/internal/model/openresponses"
	"jig/internal/msg"
)

const (
	streamed  = 50_000_000 // bytes of a long stream
	manyWords = 20_000     // of an answer to a whole run
)

// streams measures what a streamed answer costs in each dialect: taken apart in memory, beside a program
// that only takes its JSON apart, and in whole runs.
func streams(b *bench) error {
	heading(fmt.Sprintf("an answer of %d MB, a word an event", streamed/1_000_000))
	for _, d := range dialects {
		if err := b.parse(d); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	project, err := b.project()
	if err != nil {
		return err
	}
	fmt.Println()
	heading("a whole run, by dialect")
	for _, d := range dialects {
		if err := b.answer(project, d); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return nil
}

// pass is one reading of a stream.
type pass struct{ wall, cpu float64 } // ms

func timedPass(read func() error) (pass, error) {
	runtime.GC()
	begin, used := time.Now(), cpuUsed()
	err := read()
	return pass{ms(time.Since(begin)), ms(cpuUsed() - used)}, err
}

func (b *bench) parse(d dialect) error {
	stream, text, events := d.reply(streamed, 0)
	var ours, plain []pass
	for range min(b.runs/7, 2) {
		p, err := timedPass(func() error {
			r, err := d.model(stream).Stream(context.Background(), wire.Request{Model: "m", Messages: []msg.Message{msg.Say(msg.User, "go")}}, func(wire.Delta) {})
			if err == nil && r.Blocks.Text() != text {
				err = fmt.Errorf("%d bytes of text came, want %d", len(r.Blocks.Text()), len(text))
			}
			return err
		})
		if err != nil {
			return err
		}
		ours = append(ours, p)
		if p, err = timedPass(func() error {
			n, err := plainly(stream)
			if err == nil && n < events-1 { // an end mark is none
				err = fmt.Errorf("%d events, want %d", n, events)
			}
			return err
		}); err != nil {
			return err
		}
		plain = append(plain, p)
	}
	wall, floor := least(ours, func(p pass) float64 { return p.wall }), least(plain, func(p pass) float64 { return p.wall })
	speed := func(ms float64) float64 { return float64(len(stream)) / 1000 / ms }
	rowOver(d.name+", MB/s", speed(wall), speed(floor), fmt.Sprintf("%.2f × lines and json.Unmarshal of each event into a map", floor/wall))
	cpu, beside := least(ours, func(p pass) float64 { return p.cpu }), least(plain, func(p pass) float64 { return p.cpu })
	if cpu > 0 && beside > 0 {
		each := 1000 / float64(events)
		row("  CPU of 1,000 events, ms", cpu*each, beside*each, fmt.Sprintf("%.2f × that; %d events of %d bytes", cpu/beside, events, len(stream)/events))
	}
	return nil
}

// least is what the quickest of few passes took: the others were disturbed.
func least(passes []pass, of func(pass) float64) float64 {
	v := of(passes[0])
	for _, p := range passes {
		v = min(v, of(p))
	}
	return v
}

// canned answers every request with one stream.
type canned []byte

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(c))}, nil
}

func (d dialect) model(stream []byte) wire.Model {
	o := endpoint.Options{Provider: "bench", URL: "http://127.0.0.1:1", Key: "bench", Transport: canned(stream)}
	switch d.name {
	case "anthropic":
		return anthropic.New(o)
	case "gemini":
		return gemini.New(o)
	case "openresponses":
		return openresponses.New(o)
	}
	return openai.New(o)
}

// answer measures runs of the program: how long until it asks its model, and what CPU an answer of many
// words takes from the first byte to the terminal's end of a pipe.
func (b *bench) answer(project string, d dialect) error {
	short, _, few := d.reply(0, 1)
	long, text, many := d.reply(0, manyWords)
	var start, one, all, bash []float64
	for i := range b.runs {
		floor, err := timed(exec.Command("bash", "-c", "true"))
		if err != nil {
			return err
		}
		asked, cpu, err := b.ask(project, d, short, " word0")
		if err != nil {
			return err
		}
		bash, start, one = append(bash, floor), append(start, asked), append(one, cpu)
		if i%5 == 0 {
			if _, cpu, err = b.ask(project, d, long, text); err != nil {
				return err
			}
			all = append(all, cpu)
		}
	}
	floor := median(bash)
	row(d.name+", start → first request, ms", median(start), 20, fmt.Sprintf("%.1f × bash -c true (%.2f ms)", median(start)/floor, floor))
	plain, err := timedPass(func() error { _, err := plainly(long); return err })
	if err != nil || plain.cpu <= 0 {
		return err
	}
	each := 1000 / float64(many-few)
	figure, beside := (slices.Min(all)-slices.Min(one))*each, plain.cpu*each
	row("  CPU of 1,000 events in a run, ms", figure, 3*beside, fmt.Sprintf("%.1f × lines and json.Unmarshal in memory (%.2f ms); the goal is three times that", figure/beside, beside))
	return nil
}

// ask is one run that is answered with a stream: ms from its start to the request, and ms of CPU.
func (b *bench) ask(project string, d dialect, stream []byte, text string) (asked, cpu float64, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	var once sync.Once
	var at time.Time
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		once.Do(func() { at = time.Now() })
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends with Close
	}()
	defer func() {
		_ = srv.Close()
		<-done
	}()
	c, err := b.agent(project, d.name, "http://"+l.Addr().String(), session{tools: codeTools, env: []string{d.key + "=bench"}})
	if err != nil {
		return 0, 0, err
	}
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	begin := time.Now()
	if err := c.Run(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, errs.String())
	}
	if strings.TrimSpace(out.String()) != strings.TrimSpace(text) {
		return 0, 0, fmt.Errorf("the answer has %d bytes, want %d", out.Len(), len(text))
	}
	return ms(at.Sub(begin)), ms(c.ProcessState.UserTime() + c.ProcessState.SystemTime()), nil
}
