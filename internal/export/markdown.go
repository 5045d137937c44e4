package export

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

// Markdown writes a session as Markdown. A model's text is Markdown as it wrote it, but none of it is
// taken for HTML and no block of code goes on behind it; all else stands in quotes or in code.
func Markdown(to io.Writer, a About, all []proto.Event) error {
	t := read(all)
	m := text{bufio.NewWriter(to)}
	m.say("# %s\n", oneLine(titleOr(a)))
	for _, f := range facts(a, t) {
		m.say("- %s: %s", f[0], oneLine(f[1]))
	}
	m.say("")
	for _, p := range t.parts {
		m.part(p)
	}
	return m.b.Flush() // it remembers the first error
}

type text struct{ b *bufio.Writer }

func (m text) say(format string, args ...any) { fmt.Fprintf(m.b, format+"\n", args...) }

func oneLine(s string) string {
	return plain(strings.Join(strings.Fields(visible(s)), " "))
}

// plain keeps signs from being taken for Markdown or HTML.
func plain(s string) string {
	return strings.NewReplacer(`\`, `\\`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`).Replace(s)
}

func (m text) part(p part) {
	switch p.kind {
	case person:
		m.say("## You\n")
		m.quote(p.blocks.Text())
		m.images(p.blocks)
	case reply:
		m.reply(p)
	case notice:
		m.say("*jig told the model:*\n")
		m.code("", p.blocks.Text())
		m.images(p.blocks)
	case summary:
		m.say("---\n\n*The model reads a summary of everything above:*\n")
		m.quote(p.blocks.Text())
		m.say("---\n")
	case remark, problem:
		m.say("*%s*\n", oneLine(p.text))
	}
}

func (m text) reply(p part) {
	name := oneLine(p.model)
	if name == "" {
		name = "Model"
	}
	m.say("## %s\n", name)
	for _, b := range p.blocks {
		switch b := b.(type) {
		case msg.Text:
			m.written(b.Text)
		case msg.Reasoning:
			if strings.TrimSpace(b.Text) != "" {
				m.say("*Thinking:*\n")
				m.quote(b.Text)
			}
		}
	}
	m.images(p.blocks)
	for _, c := range p.calls {
		m.call(c)
	}
}

func (m text) call(c *call) {
	state := ""
	switch {
	case c.choice == proto.Deny:
		state = " (declined)"
	case c.closed && c.result.Failed:
		state = " (failed)"
	case !c.closed:
		state = " (no result)"
	}
	m.say("**%s**%s\n", oneLine(c.title), state)
	if d := c.result.Card; d != nil && d.Kind == tool.CardDiff {
		m.code("diff", d.Text)
	} else if args := strings.TrimSpace(c.args); args != "" && args != "{}" {
		m.code("json", indented(args))
	}
	if s := c.result.Blocks.Text(); s != "" {
		m.code("", s)
	}
	m.images(c.result.Blocks)
}

// quote puts text in a quotation, behind which nothing that it begins goes on.
func (m text) quote(s string) {
	var in inert
	for l := range strings.SplitSeq(strings.Trim(visible(s), "\n"), "\n") {
		m.say("%s", strings.TrimRight("> "+in.line(l), " "))
	}
	m.say("")
}

var backticks = regexp.MustCompile("`+")

// code is fenced by more signs than there are in it.
func (m text) code(language, s string) {
	n := 3
	for _, x := range backticks.FindAllString(s, -1) {
		n = max(n, len(x)+1)
	}
	f := strings.Repeat("`", n)
	m.say("%s%s\n%s\n%s\n", f, language, strings.TrimSuffix(visible(s), "\n"), f)
}

// written is a model's own Markdown.
func (m text) written(s string) {
	s = strings.Trim(visible(s), "\n")
	if strings.TrimSpace(s) == "" {
		return
	}
	open := ""
	var in inert
	for l := range strings.SplitSeq(s, "\n") {
		switch {
		case open != "" && ends(l, open):
			l, open = open, ""
		case open == "" && fenceOf(l) != "":
			// At the margin: one that is part of a list ends with it, and what we took for code would be none.
			l, open, in = strings.TrimLeft(l, " "), fenceOf(l), inert{}
		case open == "":
			l = in.line(l)
		}
		m.say("%s", l)
	}
	if open != "" {
		m.say("%s", open)
	}
	m.say("")
}

func (m text) images(all msg.Blocks) {
	for _, b := range all {
		if i, ok := b.(msg.Image); ok {
			m.say("*a picture (%s, %s bytes)*\n", oneLine(i.MIME), thousands(len(i.Data)))
		}
	}
}
