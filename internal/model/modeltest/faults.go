package modeltest

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Fault is what goes wrong with a reply. It strikes after Calls whole calls and After events more.
type Fault struct {
	Kind  FaultKind
	Calls int  // how many calls of the reply are sent whole first
	After int  // how many events are sent first, counted from there
	Half  bool // half of the next event is sent, too

	Status int           // for FaultStatus
	Header http.Header   // for FaultStatus and FaultType; {http} and {rfc3339} in a value are the moment below
	Later  time.Duration // how long after the answer that moment is; for FaultLate, how late it is
	Body   string        // for FaultStatus, FaultError and FaultFailed, "" is the dialect's own overload error; for FaultAlive, "" is a comment
}

// FaultKind is a kind of failure.
type FaultKind string

// The kinds of failure.
const (
	FaultStatus FaultKind = "status" // an HTTP answer with Status, Header and Body
	FaultError  FaultKind = "error"  // an error object in the stream
	FaultFailed FaultKind = "failed" // responses: the reply fails, which is an event of its own
	FaultCut    FaultKind = "cut"    // the connection is torn down
	FaultEnd    FaultKind = "end"    // the stream ends as if nothing was missing
	FaultMute   FaultKind = "mute"   // nothing comes at all, not even headers, until the client gives up
	FaultSilent FaultKind = "silent" // nothing more comes until the client gives up
	FaultAlive  FaultKind = "alive"  // keep-alives come, and nothing more, until the client gives up

	// Of these a client should take no notice.
	FaultOpen   FaultKind = "open"   // the whole reply comes, but not the dialect's end mark
	FaultLinger FaultKind = "linger" // the whole reply comes, and the stream never ends
	FaultTwice  FaultKind = "twice"  // the next event comes twice
	FaultLate   FaultKind = "late"   // the next event, and all after it, come only when Later has passed
	FaultLong   FaultKind = "long"   // the next event is a line of 5 MB
	FaultType   FaultKind = "type"   // the whole reply comes under the content type of Header
)

const longLine = 5 << 20

// beats is how often a keep-alive comes; patience ends what a client never gives up.
const beats, patience = 10 * time.Millisecond, time.Minute

// events are the events of a whole reply in a dialect.
func (r Reply) events(d Dialect, q object) [][]byte {
	switch d {
	case Chat:
		return r.chatEvents(q)
	case Gemini:
		return r.geminiEvents(q)
	case Responses:
		return r.responsesEvents(q)
	}
	return r.messageEvents(q)
}

// strikes is how many events come before the fault. A call is whole where the events of a reply that
// ends with it part from those of one that goes on with another.
func (r Reply) strikes(d Dialect, q object) int {
	f := r.Fault
	if f.Calls == 0 {
		return f.After
	}
	these, more := r, r
	these.Calls = r.Calls[:f.Calls]
	more.Calls = append(slices.Clone(these.Calls), Call{ID: "another", Name: "another", Args: "{}"})
	a, b := these.events(d, q), more.events(d, q)
	n := 0
	for n < len(a) && bytes.Equal(a[n], b[n]) {
		n++
	}
	return n + f.After
}

// spoil does to the events of a reply what its fault asks for.
func (s *Server) spoil(d Dialect, q object, r Reply) [][]byte {
	events, f := r.events(d, q), r.Fault
	at := min(r.strikes(d, q), len(events))
	switch f.Kind {
	case "", FaultType, FaultLinger, FaultLate:
		return events
	case FaultOpen:
		if d == Gemini || d == Responses && r.Style != Marked { // these have no end mark
			return events
		}
		return events[:len(events)-1]
	case FaultTwice:
		at = min(at, len(events)-1)
		return slices.Insert(events, at, events[at])
	case FaultLong:
		at = min(at, len(events)-1)
		events[at] = bytes.Replace(events[at], []byte("data: {"), append([]byte("data: {"), bytes.Repeat([]byte{' '}, longLine)...), 1)
		return events
	}
	out := slices.Clone(events[:at])
	if f.Half && at < len(events) {
		out = append(out, events[at][:len(events[at])/2])
	}
	switch {
	case d == Responses && (f.Kind == FaultFailed || f.Kind == FaultError && f.Body == ""):
		out = append(out, r.responsesFault(q, len(out)))
	case f.Kind == FaultError:
		out = append(out, errorEvent(d, f.Body))
	}
	return out
}

// headers are a fault's headers. A moment is counted from the answer's own date.
func (f Fault) headers(h http.Header) {
	now := time.Now().UTC().Truncate(time.Second)
	h.Set("Date", now.Format(http.TimeFormat))
	at := now.Add(f.Later)
	moment := strings.NewReplacer("{http}", at.Format(http.TimeFormat), "{rfc3339}", at.Format(time.RFC3339))
	for k, values := range f.Header {
		h[k] = nil
		for _, v := range values {
			h[k] = append(h[k], moment.Replace(v))
		}
	}
}

// play streams a reply, up to its fault.
func (s *Server) play(w http.ResponseWriter, r *http.Request, d Dialect, q object, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	if reply.Fault.Kind == FaultType {
		reply.Fault.headers(w.Header())
	}
	w.WriteHeader(http.StatusOK)
	var out []byte
	for i, e := range s.spoil(d, q, reply) {
		if reply.Fault.Kind == FaultLate && i == reply.strikes(d, q) {
			s.wait(r, reply.Fault.Later, nil)
		}
		if reply.Noise {
			out = append(out, ": keep-alive\n\n"...)
		}
		out = append(out, e...)
		if reply.Bytes == 0 {
			send(w, out)
			out = out[:0]
		}
	}
	for len(out) > 0 {
		n := min(reply.Bytes, len(out))
		send(w, out[:n])
		out = out[n:]
	}
	switch reply.Fault.Kind {
	case FaultCut:
		panic(http.ErrAbortHandler) // net/http's way to tear the connection down
	case FaultSilent, FaultLinger:
		w.(http.Flusher).Flush()
		s.wait(r, patience, nil)
	case FaultAlive:
		beat := reply.Fault.Body
		if beat == "" {
			beat = ": keep-alive\n\n"
		}
		s.wait(r, patience, func() { send(w, []byte(beat)) })
	}
}

// wait waits until the client gives up, but no longer than that.
func (s *Server) wait(r *http.Request, most time.Duration, beat func()) {
	t := time.NewTicker(beats)
	defer t.Stop()
	end := time.After(most)
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.close:
			return
		case <-end:
			return
		case <-t.C:
			if beat != nil {
				beat()
			}
		}
	}
}
