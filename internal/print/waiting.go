package print

import (
	"fmt"
	"io"
	"strings"
	"time"

	"jig/internal/proto"
)

// waiting says on standard error what a run waits for that has nothing else to do, so that nobody
// takes it for dead, and what else happens to it that nobody asked for.
type waiting struct{ w io.Writer }

func (w waiting) show(e proto.Event) error {
	if f, ok := e.Fact.(proto.Compacted); ok {
		_, err := fmt.Fprintf(w.w, "jig: %s\n", Shortened(f))
		return err
	}
	v, ok := e.Now.(proto.Waiting)
	switch {
	case !ok:
		return nil
	case v.Silence != nil:
		_, err := fmt.Fprintf(w.w, "jig: %s\n", Clean(oneRow(v.Silence.Why)))
		return err
	case v.Retry != nil:
		_, err := fmt.Fprintf(w.w, "jig: %s\n", again(*v.Retry))
		return err
	}
	var names []string
	for _, j := range v.Jobs {
		names = append(names, fmt.Sprintf("%s (%s)", j.ID, Clean(j.Label)))
	}
	_, err := fmt.Fprintf(w.w, "jig: waiting for %s for %s\n", strings.Join(names, ", "), time.Since(v.Since).Round(time.Second))
	return err
}

// again says for how long and why a request waits before it is made again.
func again(r proto.Retry) string {
	left := time.Duration(r.Seconds * float64(time.Second))
	if left >= 10*time.Second {
		left = left.Round(time.Second)
	} else {
		left = left.Round(100 * time.Millisecond)
	}
	try := "then asking again"
	switch {
	case r.Try > 0 && r.Tries > 0:
		try = fmt.Sprintf("then try %d of %d", r.Try, r.Tries)
	case r.Try > 0:
		try = fmt.Sprintf("then try %d", r.Try)
	}
	return fmt.Sprintf("waiting %s, %s: %s", left, try, Clean(oneRow(r.Why)))
}

// Shortened says what became of a conversation that was summed up.
func Shortened(f proto.Compacted) string {
	where := ""
	if f.Archive != "" {
		where = "; its full text is in " + Clean(oneRow(f.Archive))
	}
	return fmt.Sprintf("summed up the older part of the conversation: about %d tokens became %d%s", f.Before, f.After, where)
}
