package print

import (
	"fmt"
	"io"
	"strings"
	"time"

	"jig/internal/proto"
)

// waiting says on standard error what a run waits for that has nothing else to do, so that nobody
// takes it for dead.
type waiting struct{ w io.Writer }

func (w waiting) show(e proto.Event) error {
	v, ok := e.Now.(proto.Waiting)
	if !ok {
		return nil
	}
	var names []string
	for _, j := range v.Jobs {
		names = append(names, fmt.Sprintf("%s (%s)", j.ID, Clean(j.Label)))
	}
	_, err := fmt.Fprintf(w.w, "jig: waiting for %s for %s\n", strings.Join(names, ", "), time.Since(v.Since).Round(time.Second))
	return err
}
