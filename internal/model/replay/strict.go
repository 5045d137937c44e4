package replay

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"jig/internal/model"
	"jig/internal/model/tape"
	"jig/internal/msg"
)

// strict compares what a recording was made of with what it is played to.
type strict struct {
	talk *tape.Talk
	was  tape.Request // what was said last of all that is only written when it changes
}

func newStrict(v *tape.Values) *strict { return &strict{talk: tape.NewTalk(v)} }

// differs says in one line what of a request is not as it was recorded, "" when all is.
func (s *strict) differs(want tape.Request, r model.Request) string {
	got := s.talk.Ask(r, want.Afresh)
	if want.System == nil {
		want.System = s.was.System
	}
	if want.Tools == nil {
		want.Tools = s.was.Tools
	}
	if want.Settings == nil {
		want.Settings = s.was.Settings
	}
	if want.Settings == nil {
		want.Settings = &tape.Settings{}
	}
	why := ""
	if want.System != nil {
		why = texts("the system prompt", *want.System, *got.System)
	}
	if why = cmp.Or(why, tools(want.Tools, got.Tools), settings(*want.Settings, *got.Settings)); why == "" {
		if got.Afresh && !want.Afresh {
			why = s.rewritten(r.Messages)
		} else {
			why = messages(len(r.Messages)-len(got.Messages), want.Messages, got.Messages)
		}
	}
	if why == "" {
		s.was = tape.Request{System: want.System, Tools: want.Tools, Settings: want.Settings}
	}
	return why
}

// rewritten says what of the conversation so far is not what it was when it was sent before.
func (s *strict) rewritten(now []msg.Message) string {
	before := s.talk.Before()
	i := max(tape.Changed(before, now), 0)
	what := fmt.Sprintf("message %d is not what it was in the request before", i+1)
	if i >= len(before) || i >= len(now) {
		return what
	}
	want, got := before[i].Blocks.Text(), now[i].Blocks.Text()
	return cmp.Or(texts(what, s.talk.Values.Take(want), s.talk.Values.Take(got)), what)
}

func tools(want, got []tape.Tool) string {
	by := map[string]tape.Tool{}
	for _, t := range got {
		by[t.Name] = t
	}
	known := map[string]bool{}
	for _, w := range want {
		known[w.Name] = true
		g, ok := by[w.Name]
		if !ok {
			return fmt.Sprintf("the tools: expected one named %s, which is not there", w.Name)
		}
		if why := cmp.Or(texts("the description of the tool "+w.Name, w.Doc, g.Doc), texts("the schema of the tool "+w.Name, string(w.Input), string(g.Input))); why != "" {
			return why
		}
	}
	for i, t := range got {
		if !known[t.Name] {
			return fmt.Sprintf("the tools: got one more, named %s", t.Name)
		}
		if len(got) == len(want) && want[i].Name != t.Name {
			return fmt.Sprintf("the tools: expected %s in place %d, got %s", want[i].Name, i+1, t.Name)
		}
	}
	return ""
}

func settings(want, got tape.Settings) string {
	number := func(f *float64) string {
		if f == nil {
			return "none"
		}
		return strconv.FormatFloat(*f, 'g', -1, 64)
	}
	for _, x := range [][3]string{
		{"the output limit", strconv.Itoa(want.MaxOutput), strconv.Itoa(got.MaxOutput)},
		{"the reasoning level", want.Reasoning, got.Reasoning},
		{"the temperature", number(want.Temperature), number(got.Temperature)},
		{"top_p", number(want.TopP), number(got.TopP)},
	} {
		if x[1] != x[2] {
			return fmt.Sprintf("%s: expected %s, got %s", x[0], cmp.Or(x[1], "none"), cmp.Or(x[2], "none"))
		}
	}
	return ""
}

// item is one text of a message, with what it is.
type item struct{ what, text string }

// messages compares what came since the reply before; first is how many messages came earlier.
func messages(first int, want, got []tape.Message) string {
	for i := range max(len(want), len(got)) {
		at := fmt.Sprintf("message %d, ", first+i+1)
		var w, g []item
		if i < len(want) {
			w = items(want[i])
		}
		if i < len(got) {
			g = items(got[i])
		}
		for j := range max(len(w), len(g)) {
			switch {
			case j >= len(g):
				return at + fmt.Sprintf("expected %s, %s, got nothing", w[j].what, quote(w[j].text))
			case j >= len(w):
				return at + fmt.Sprintf("expected nothing, got %s, %s", g[j].what, quote(g[j].text))
			case w[j].what != g[j].what:
				return at + fmt.Sprintf("expected %s, %s, got %s, %s", w[j].what, quote(w[j].text), g[j].what, quote(g[j].text))
			}
			if why := texts(at+w[j].what, w[j].text, g[j].text); why != "" {
				return why
			}
		}
	}
	return ""
}

func items(m tape.Message) (out []item) {
	whose := "words of the user's side"
	if m.Role == msg.Assistant {
		whose = "words of the model"
	}
	for _, p := range m.Blocks {
		out = append(out, parts(p, whose)...)
	}
	return out
}

func parts(p tape.Part, whose string) (out []item) {
	switch {
	case p.Text != nil:
		out = append(out, item{whose, string(*p.Text)})
	case p.Reasoning != nil:
		out = append(out, item{"reasoning", string(*p.Reasoning)})
	case p.Call != nil:
		args := ""
		if p.Args != nil {
			args = string(*p.Args)
		}
		out = append(out, item{"a call of " + string(*p.Call), args})
	case p.Image != "":
		return append(out, item{"a picture", p.Image + " " + p.SHA256})
	case p.Result != nil:
		what := "the result of " + string(*p.Result)
		if p.Failed {
			what = "a failure of " + string(*p.Result)
		}
		for _, b := range p.Blocks {
			out = append(out, parts(b, what)...)
		}
		if len(p.Blocks) == 0 {
			out = append(out, item{what, ""})
		}
	}
	if p.Raw != nil {
		out = append(out, item{"what the provider wanted back", string(*p.Raw)})
	}
	return out
}

// texts compares two texts and shows the first line that differs, from where it does.
func texts(what, want, got string) string {
	if want == got || alike(want, got) {
		return ""
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	n := 0
	for n < len(w) && n < len(g) && (w[n] == g[n] || alike(w[n], g[n])) {
		n++
	}
	at := ""
	if len(w) > 1 || len(g) > 1 {
		at = fmt.Sprintf(", line %d", n+1)
	}
	line := func(lines []string, beside []string) string {
		if n >= len(lines) {
			return "no such line"
		}
		if n >= len(beside) {
			return quote(lines[n])
		}
		return quote(after(lines[n], beside[n]))
	}
	return fmt.Sprintf("%s%s: expected %s, got %s", what, at, line(w, g), line(g, w))
}

// after is a line without most of what it has in common with another one.
func after(line, beside string) string {
	const before = 40
	n := 0
	for n < len(line) && n < len(beside) && line[n] == beside[n] {
		n++
	}
	if n -= before; n <= 0 || len(line) <= 2*before {
		return line
	}
	for !utf8.RuneStart(line[n]) {
		n--
	}
	return "…" + line[n:]
}

// alike lets anything stand for a secret, which may be another one, or unknown, in this run.
func alike(want, got string) bool {
	if !strings.Contains(want, tape.Key) {
		return false
	}
	re, err := regexp.Compile(`\A` + strings.ReplaceAll(regexp.QuoteMeta(want), regexp.QuoteMeta(tape.Key), `\S+`) + `\z`)
	return err == nil && re.MatchString(got)
}
