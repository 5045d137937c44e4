package modeltest

import (
	"bytes"
	"fmt"
	"slices"
)

// tooLong refuses a request of more tokens than the window has, in the words of each service:
// https://github.com/earendil-works/pi/issues/102 (messages),
// https://github.com/crewAIInc/crewAI-examples/issues/121 (chat completions),
// https://github.com/dyad-sh/dyad/issues/1672 (responses),
// https://github.com/google-gemini/gemini-cli/issues/4231 (generateContent).
func (s *Server) tooLong(d Dialect, body []byte) *problem {
	n := len(body) / bytesPerToken
	if s.Window == 0 || n <= s.Window {
		return nil
	}
	switch d {
	case Messages:
		return invalid("prompt is too long: %d tokens > %d maximum", n, s.Window)
	case Gemini:
		return geminiInvalid("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", n, s.Window)
	case Responses:
		return chatProblem("input", "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again.")
	}
	return chatProblem("messages", "context_length_exceeded", "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", s.Window, n)
}

// counted is a reply with what a server that has a window counts of its request, where the script
// counts nothing.
func (s *Server) counted(body []byte, r Reply) Reply {
	if s.Window > 0 && r.Usage.Input == 0 {
		r.Usage.Input = len(body) / bytesPerToken
		r.Usage.Output = max(1, len(r.Text+r.Reasoning+fmt.Sprint(r.Calls))/bytesPerToken)
	}
	return r
}

// take is the reply to a request: the first one that is not for other requests.
func (s *Server) take(body []byte) (Reply, bool) {
	fits := func(r Reply) bool { return r.For != "" && bytes.Contains(body, []byte(r.For)) }
	i := slices.IndexFunc(s.script, fits)
	if i < 0 {
		i = slices.IndexFunc(s.script, func(r Reply) bool { return r.For == "" })
	}
	if i < 0 {
		return Reply{}, false
	}
	r := s.script[i]
	s.script = slices.Delete(s.script, i, i+1)
	return r, true
}
