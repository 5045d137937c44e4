package openai

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"jig/internal/model"
)

// without is in what way requests for a model differ from the usual ones, because its server refused
// those and named why. Imitations do not say beforehand what they take, and a conversation must not
// end at a field that can be done without.
type without struct {
	usage      bool   // no stream_options
	otherLimit bool   // the output limit under its other name
	thoughts   bool   // no earlier reasoning
	padded     bool   // reasoning with every message of the model, where it has none as well
	between    bool   // a word of the model between results and what else the user's side says
	effort     string // this effort in place of the one asked for
}

// learnt is what servers have said, by model. It is safe for concurrent use.
type learnt struct {
	mu      sync.Mutex
	byModel map[string]without
}

func (l *learnt) of(name string) without {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byModel[name]
}

func (l *learnt) keep(name string, w without) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byModel == nil {
		l.byModel = map[string]without{}
	}
	l.byModel[name] = w
}

// refusal is the text of an error by which a server refuses a request for what is in it, in lower
// case; "" when it is another error.
func refusal(err error) string {
	var e *model.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		return strings.ToLower(e.Text)
	}
	return ""
}

// after adds what a refusal is about. The wordings were reported from services and servers:
// https://github.com/openclaw/openclaw/issues/107221
// https://github.com/anomalyco/opencode/issues/25758
// https://github.com/NousResearch/hermes-agent/issues/11089
// https://github.com/BerriAI/litellm/issues/30835
func (w without) after(err error, r model.Request, body []byte) without {
	text := refusal(err)
	if text == "" {
		return w
	}
	has := func(s string) bool { return strings.Contains(text, s) }
	sent := func(s string) bool { return strings.Contains(string(body), s) }
	unknown := slices.ContainsFunc(strings.Fields("unsupported unrecognized unknown unexpected extra remove invalid"), has) ||
		has("not supported") || has("not permitted") || has("not allowed")
	switch {
	case has("reasoning_content") && (has("passed back") || has("missing")):
		w.padded, w.thoughts = true, false
	case unknown && earlier().MatchString(text) && sent(`"reasoning`) && !w.padded && !w.thoughts:
		w.thoughts = true
	case unknown && has("stream_options"):
		w.usage = true
	case has("max_tokens") && has("max_completion_tokens") || unknown && has("max_completion_tokens"):
		w.otherLimit = r.MaxOutput > 0
	case has("after role 'tool'") || has(`after role "tool"`):
		w.between = true
	case has("effort") && r.Reasoning != "":
		w.effort = nearest(r.Reasoning, text)
	}
	return w
}

// earlier are the names of the fields in which reasoning goes back.
func earlier() *regexp.Regexp {
	return regexp.MustCompile(`\breasoning(_content|_details)?\b`)
}

// nearest is the effort nearest to the one asked for among those that a refusal offers, "" when it
// offers none.
func nearest(asked, text string) string {
	all := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	want, best := slices.Index(all, asked), ""
	for i, e := range all {
		if e == asked || !strings.Contains(text, "'"+e+"'") && !strings.Contains(text, `"`+e+`"`) && !strings.Contains(text, "`"+e+"`") {
			continue
		}
		if b := slices.Index(all, best); b < 0 || abs(i-want) < abs(b-want) {
			best = e
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
