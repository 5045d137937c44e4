package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"jig/internal/model"
	"jig/internal/model/sse"
)

// What one reply may hold. It is far above what any model says and only there so that a broken or
// hostile server cannot fill the memory.
const (
	maxReply  = 64 << 20 // bytes
	maxParts  = 10_000   // blocks and calls
	maxValues = 1 << 20  // JSON values in one event: read, the smallest take twenty times their bytes
)

// done is the end mark of two dialects. Gateways that speak others as well send it with those, too.
const done = "[DONE]"

// Answer puts a reply together from what a provider sends. It embeds a Size, through which it keeps
// all that it keeps.
type Answer interface {
	// Event takes the data of one event of a stream, which is valid until it returns, and says
	// whether it was the dialect's end mark, if that is another than [DONE].
	Event(data []byte) (last bool, err error)
	// Whole takes an answer that was not streamed. The error is ErrNoReply when it is none.
	Whole(body []byte) error
	// Ended is whether the provider has said why the reply ended.
	Ended() bool
	// Excess and Kept are Size's.
	Excess() string
	Kept() int
}

// ErrNoReply says that an answer is not a reply of the dialect.
var ErrNoReply = errors.New("not a model's reply")

// Size counts what is kept of one reply.
type Size struct{ bytes, parts int }

// Room counts n bytes more and says whether they may be kept. Where they may not, Ask gives the
// reply up.
func (s *Size) Room(n int) bool {
	s.bytes += n
	return s.bytes <= maxReply
}

// Keep appends a text to one that is coming, where there is room for it.
func (s *Size) Keep(to *strings.Builder, text string) bool {
	ok := s.Room(len(text))
	if ok {
		to.WriteString(text)
	}
	return ok
}

// Part counts one block or call more and says whether it may be kept.
func (s *Size) Part() bool {
	s.parts++
	return s.parts <= maxParts
}

// Kept is how much is kept so far. It only grows.
func (s *Size) Kept() int { return s.bytes + s.parts }

// Excess names the limit that was passed, "" when none was.
func (s *Size) Excess() string {
	switch {
	case s.bytes > maxReply:
		return fmt.Sprintf("more than %d MiB", maxReply>>20)
	case s.parts > maxParts:
		return fmt.Sprintf("more than %d blocks and calls", maxParts)
	}
	return ""
}

// Ask sends body and gives what comes back to a, streamed or whole, up to its end. An error is
// ctx's own when ctx ended, else a *model.Error; a then holds what had come. heard is told how it
// comes, unless it is nil.
func (c *Client) Ask(ctx context.Context, body []byte, a Answer, heard func(host string, p model.Progress)) error {
	if c.err != nil {
		return c.err
	}
	ctx, s := c.listen(ctx, heard)
	defer s.stop()
	defer func() {
		if c.own != nil && gaveUp(ctx) != nil {
			c.own.leave()
		}
	}()
	res, err := c.post(ctx, body, s)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	in, stream, err := c.begin(ctx, res)
	switch {
	case err != nil:
		return err
	case stream:
		return c.stream(ctx, res, in, a, s)
	}
	return c.whole(ctx, res, in, a, s)
}

// begin looks at how an answer begins and says whether it is a stream of events; the answer is read
// from what it returns. The content type does not decide, because servers send a JSON error under
// the type of a stream, and streams under none.
func (c *Client) begin(ctx context.Context, res *http.Response) (body io.Reader, stream bool, err error) {
	r := bufio.NewReader(res.Body)
	if b, _ := r.Peek(1); len(b) > 0 && b[0] == mark[0] {
		if b, _ = r.Peek(len(mark)); bytes.Equal(b, mark) {
			_, _ = r.Discard(len(mark))
		}
	}
	for n := 1; ; n++ {
		b, err := r.Peek(n)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, bufio.ErrBufferFull):
			return r, true, nil // nothing at all, which reading it will tell
		case err != nil:
			return nil, false, c.broken(ctx, err)
		}
		switch b[n-1] {
		case ' ', '\t', '\r', '\n':
		case '{', '[', '<':
			return r, false, nil
		default:
			return r, true, nil
		}
	}
}

// stream reads event after event until the dialect's end mark, or the stream's end.
func (c *Client) stream(ctx context.Context, res *http.Response, in io.Reader, a Answer, s *silence) error {
	var start opening
	events := sse.NewReader(io.TeeReader(in, &start))
	for seen := false; ; seen = true {
		data, err := events.Next()
		switch {
		case !seen && start.ended(err):
			return c.notReply(res, start.text)
		case err != nil && a.Ended() && !cancelled(ctx):
			return nil // the reply was whole; only the stream's own end is missing
		case errors.Is(err, sse.ErrTooLong):
			return c.Errorf(model.KindProtocol, "%s: %v; try again or use another model", c.Host(), err)
		case err != nil:
			return c.broken(ctx, err)
		case crowded(data):
			return c.excessive(fmt.Sprintf("more than %d values in one event", maxValues))
		}
		data = bytes.TrimSpace(data)
		if len(data) == 0 { // a keep-alive
			continue
		}
		last, err := string(data) == done, error(nil)
		if !last {
			last, err = a.Event(data)
		}
		switch much := a.Excess(); {
		case much != "":
			return c.excessive(much)
		case err != nil:
			return err
		case last && !a.Ended():
			return c.Errorf(model.KindNetwork, "%s ended its stream without saying why the reply ended; try again", c.Host())
		case last:
			return nil
		}
		s.event(a.Kept())
		if a.Ended() {
			s.whole()
		}
	}
}

// opening keeps how a stream began, to tell what it is when it is none.
type opening struct{ text []byte }

func (o *opening) Write(p []byte) (int, error) {
	const most = 1 << 10
	o.text = append(o.text, p[:min(len(p), most-len(o.text))]...)
	return len(p), nil
}

// ended says whether an error is the end of something that never was a stream of events. One that
// began as those do has only broken off.
func (o *opening) ended(err error) bool {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(o.text), []byte{'\n'})
	field, _, whole := strings.Cut(string(line), ":")
	for _, name := range []string{"data", "event", "id", "retry", ""} {
		if whole && field == name || !whole && field != "" && strings.HasPrefix(name, field) {
			return false
		}
	}
	return true
}

// whole reads an answer that was not streamed although a stream was asked for.
func (c *Client) whole(ctx context.Context, res *http.Response, in io.Reader, a Answer, s *silence) error {
	body, err := io.ReadAll(io.LimitReader(grown{in, s}, maxReply+1))
	switch {
	case err != nil:
		return c.broken(ctx, err)
	case len(body) > maxReply:
		return c.excessive(fmt.Sprintf("more than %d MiB", maxReply>>20))
	case crowded(body):
		return c.excessive(fmt.Sprintf("more than %d values", maxValues))
	}
	err = a.Whole(body)
	switch much := a.Excess(); {
	case much != "":
		return c.excessive(much)
	case errors.Is(err, ErrNoReply):
		return c.notReply(res, body)
	case err != nil:
		return err
	case !a.Ended():
		return c.Errorf(model.KindProtocol, "%s did not say why the reply ended; try again", c.Host())
	}
	return nil
}

func (c *Client) excessive(much string) *model.Error {
	return c.Errorf(model.KindProtocol, "%s sent a reply with %s, and it was given up; try again or use another model", c.Host(), much)
}

// crowded says whether JSON has more values in it than a reply can need. It is asked before the
// JSON is read, because a list of millions of empty objects grows so much by it.
func crowded(data []byte) bool {
	values, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case b == '"':
			quoted = !quoted
		case quoted && b == '\\':
			i++
		case !quoted && (b == ',' || b == '{' || b == '['):
			values++
		}
	}
	return values > maxValues
}
