package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"jig/internal/msg"
)

// heard is what a request brings since the model last spoke.
type heard struct {
	results []msg.Result
	names   []string // of the tools, beside results
	user    string
}

// listen collects the results of the last assistant message's calls, in the order they were sent,
// and what the user's side said after it. It looks at nothing before that message: a conversation
// is heard once for every request, and would cost more with each.
func listen(messages []msg.Message) heard {
	var h heard
	last := len(messages) - 1
	for last >= 0 && messages[last].Role != msg.Assistant {
		last--
	}
	names := map[string]string{}
	if last >= 0 {
		for _, c := range messages[last].Blocks.Calls() {
			names[c.ID] = c.Name
		}
	}
	var user strings.Builder
	for _, m := range messages[last+1:] {
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case msg.Result:
				h.results = append(h.results, b)
				h.names = append(h.names, names[b.Call])
			case msg.Text:
				user.WriteString(b.Text + "\n")
			}
		}
	}
	h.user = user.String()
	return h
}

func (h heard) joined() string {
	texts := make([]string, len(h.results))
	for i, r := range h.results {
		texts[i] = r.Blocks.Text()
	}
	return strings.Join(texts, "\n")
}

func (h heard) describe() string {
	if len(h.results) == 0 {
		return "it has no results"
	}
	parts := make([]string, len(h.results))
	for i, r := range h.results {
		failed := ""
		if r.Failed {
			failed = "failed and "
		}
		parts[i] = fmt.Sprintf("%s %sgave %s", h.names[i], failed, quote(r.Blocks.Text()))
	}
	return strings.Join(parts, ", ")
}

// differs says in a sentence what is not as expected, "" when all is.
func (e *expect) differs(h heard, fill func(string) string) string {
	if want := fill(e.UserContains); !strings.Contains(h.user, want) {
		return fmt.Sprintf("the user's words should contain %s but are %s", quote(want), quote(strings.TrimSuffix(h.user, "\n")))
	}
	if want := fill(e.LastResultContains); want != "" {
		if len(h.results) == 0 {
			return fmt.Sprintf("a result should contain %s but it has no results", quote(want))
		}
		last := len(h.results) - 1
		if got := h.results[last].Blocks.Text(); !strings.Contains(got, want) {
			return fmt.Sprintf("the result of %s should contain %s but is %s", h.names[last], quote(want), quote(got))
		}
	}
	if e.Results == nil {
		return ""
	}
	if len(h.results) != len(e.Results) {
		return fmt.Sprintf("it should bring %s: %s", count(len(e.Results), "result", "results"), h.describe())
	}
	for i, want := range e.Results {
		if why := want.differs(h.results[i], fill); why != "" {
			return fmt.Sprintf("result %d, of %s, %s", i+1, h.names[i], why)
		}
	}
	return ""
}

func (w result) differs(r msg.Result, fill func(string) string) string {
	got := r.Blocks.Text()
	switch {
	case w.Failed != nil && *w.Failed && !r.Failed:
		return fmt.Sprintf("should have failed but gave %s", quote(got))
	case w.Failed != nil && !*w.Failed && r.Failed:
		return fmt.Sprintf("failed: %s", quote(got))
	case w.Exact != nil && fill(*w.Exact) != got:
		return fmt.Sprintf("should be %s but is %s", quote(fill(*w.Exact)), quote(got))
	case !strings.Contains(got, fill(w.Contains)):
		return fmt.Sprintf("should contain %s but is %s", quote(fill(w.Contains)), quote(got))
	case w.Matches.Regexp != nil && !w.Matches.MatchString(got):
		return fmt.Sprintf("should match %s but is %s", w.Matches, quote(got))
	}
	return ""
}

// filled puts captured values into arguments. In well-formed arguments they go in as parts of JSON
// strings, so that a quote or a newline in a result cannot break them.
func (a args) filled(fill func(string) string) string {
	if a == "" {
		return "{}"
	}
	if !json.Valid([]byte(a)) {
		return fill(string(a))
	}
	return variable().ReplaceAllStringFunc(string(a), func(m string) string {
		v := fill(m)
		if v == m {
			return m
		}
		var b bytes.Buffer
		_ = writeJSON(&b, v)
		return b.String()[1 : b.Len()-1]
	})
}
