package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

// HTML writes a session as one page that needs nothing else: no script, no font, no request. All that
// came from people, models, tools and files goes through esc, into text or into a quoted attribute;
// the policy of the page would keep a browser from running it even where that failed.
func HTML(to io.Writer, a About, facts []proto.Event) error {
	t := read(facts)
	b := bufio.NewWriter(to)
	p := page{b}
	p.head(a, t)
	writer := "" // of the reply before, whose name need not be said again
	for _, x := range t.parts {
		p.part(x, x.kind == reply && x.model == writer)
		if writer = ""; x.kind == reply {
			writer = x.model
		}
	}
	p.put("</main>\n</body>\n</html>\n")
	return b.Flush() // it remembers the first error
}

// page writes markup. Its put takes nothing but what stands in this package.
type page struct{ b *bufio.Writer }

type markup string

func (p page) put(s markup)  { _, _ = p.b.WriteString(string(s)) }
func (p page) text(s string) { _, _ = p.b.WriteString(esc(s)) }
func (p page) in(tag markup, s string) {
	p.put("<" + tag + ">")
	p.text(s)
	p.put("</" + name(tag) + ">")
}
func (p page) line(tag markup, s string) { p.in(tag, s); p.put("\n") }

func name(tag markup) markup {
	n, _, _ := strings.Cut(string(tag), " ")
	return markup(n)
}

// esc makes text inert, also within quotes, and shows what would not be seen or would make it read
// otherwise than it is.
func esc(s string) string { return html.EscapeString(visible(s)) }

func visible(s string) string {
	return strings.Map(func(r rune) rune {
		const pictures = 0x2400 // of control characters
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case r < 0x20:
			return pictures + r
		case r == 0x7f, r > 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f:
			return utf8.RuneError
		}
		return r
	}, s)
}

func (p page) head(a About, t *talk) {
	sum := sha256.Sum256([]byte(style))
	p.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.put(markup("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'\">\n"))
	p.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	p.put("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"jig\">\n")
	p.line("title", titleOr(a))
	p.put("<style>" + style + "</style>\n</head>\n<body>\n<header>\n")
	p.line("h1", titleOr(a))
	p.put("<dl>")
	for _, f := range facts(a, t) {
		p.put("<div>")
		p.in("dt", f[0])
		p.in("dd", f[1])
		p.put("</div>")
	}
	p.put("</dl>\n</header>\n<main>\n")
}

func titleOr(a About) string {
	if a.Title != "" {
		return a.Title
	}
	return "session " + a.ID
}

// facts are what is said of a session before its conversation, each with its name.
func facts(a About, t *talk) [][2]string {
	out := [][2]string{{"agent", a.Agent}, {"model", a.Provider + ":" + a.Model}, {"project", a.Root}}
	if !a.Created.IsZero() {
		out = append(out, [2]string{"begun", a.Created.Format("2006-01-02 15:04")})
	}
	if n := t.usage.Total(); n > 0 {
		out = append(out, [2]string{"tokens", thousands(t.usage.Input) + " in, " + thousands(t.usage.Output) + " out"})
	}
	if c := t.price(); c != "" {
		out = append(out, [2]string{"cost", c})
	}
	return append(out, [2]string{"session", a.ID})
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (p page) part(x part, again bool) {
	switch x.kind {
	case person:
		p.put("<section class=\"person\">\n<h2>You</h2>\n")
		p.blocks(x.blocks, false)
		p.put("</section>\n")
	case reply:
		p.reply(x, again)
	case notice:
		p.put("<section class=\"notice\">\n")
		p.long("jig told the model", x.blocks.Text(), "", false)
		p.images(x.blocks)
		p.put("</section>\n")
	case summary:
		p.put("<section class=\"summary\">\n<details><summary>The model reads a summary of everything above this line</summary>\n")
		prose(p, x.blocks.Text())
		p.put("</details>\n</section>\n")
	case remark:
		p.line("p class=\"remark\"", x.text)
	case problem:
		p.line("p class=\"remark problem\"", x.text)
	}
}

func (p page) reply(x part, again bool) {
	p.put("<section class=\"reply\">\n")
	switch {
	case again:
	case x.model == "":
		p.put("<h2>Model</h2>\n")
	default:
		p.line("h2", x.model)
	}
	p.blocks(x.blocks, true)
	for _, c := range x.calls {
		p.call(c)
	}
	p.put("</section>\n")
}

// blocks writes a message. A person's text is shown as it was typed.
func (p page) blocks(all msg.Blocks, formatted bool) {
	for _, b := range all {
		switch b := b.(type) {
		case msg.Text:
			switch {
			case strings.TrimSpace(b.Text) == "":
			case formatted:
				prose(p, b.Text)
			default:
				p.line("p class=\"typed\"", b.Text)
			}
		case msg.Reasoning:
			if strings.TrimSpace(b.Text) != "" {
				p.put("<details class=\"thinking\"><summary>Thinking</summary>\n")
				prose(p, b.Text)
				p.put("</details>\n")
			}
		}
	}
	p.images(all)
}

// pictures are the formats that a browser draws and cannot be made to run.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func (p page) images(all msg.Blocks) {
	for _, b := range all {
		i, ok := b.(msg.Image)
		switch {
		case ok && slices.Contains(pictures, i.MIME):
			p.put("<img alt=\"\" src=\"data:" + markup(i.MIME) + ";base64," + markup(base64.StdEncoding.EncodeToString(i.Data)) + "\">\n")
		case ok:
			p.line("p class=\"remark\"", fmt.Sprintf("a picture (%s, %s bytes)", i.MIME, thousands(len(i.Data))))
		}
	}
}

func (p page) call(c *call) {
	p.put("<div class=\"call\">\n<h3>")
	p.in("span", c.title)
	switch {
	case c.choice == proto.Deny:
		p.put(" <b class=\"bad\">declined</b>")
	case c.closed && c.result.Failed:
		p.put(" <b class=\"bad\">failed</b>")
	case !c.closed:
		p.put(" <b class=\"bad\">no result</b>")
	}
	if d := c.result.Card; d != nil && d.Kind == tool.CardDiff {
		p.put(" <b class=\"added\">")
		p.text(fmt.Sprintf("+%d", d.Added))
		p.put("</b> <b class=\"removed\">")
		p.text(fmt.Sprintf("−%d", d.Removed))
		p.put("</b>")
	}
	p.put("</h3>\n")
	isDiff := c.result.Card != nil && c.result.Card.Kind == tool.CardDiff
	if isDiff {
		p.diff(c.result.Card)
	}
	if args := strings.TrimSpace(c.args); args != "" && args != "{}" {
		p.put("<details><summary>Arguments</summary>\n<pre>\n")
		p.text(indented(args))
		p.put("</pre>\n</details>\n")
	}
	if text := c.result.Blocks.Text(); text != "" {
		p.long("Result", text, "result", isDiff) // which says it all
	}
	p.images(c.result.Blocks)
	p.put("</div>\n")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// What is longer is folded.
const (
	shortLines = 12
	shortBytes = 1500
	diffLines  = 80
)

// long shows a short text at once, and a long one when it is asked for.
func (p page) long(title markup, text string, class markup, fold bool) {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	fold = fold || lines > shortLines || len(text) > shortBytes
	if fold {
		p.put("<details><summary>" + title + " ")
		p.in("small", counted(lines, "line")+", "+counted(len(text), "byte"))
		p.put("</summary>\n")
	}
	p.put("<pre class=\"" + class + "\">\n")
	p.text(text)
	p.put("</pre>\n")
	if fold {
		p.put("</details>\n")
	}
}

func (p page) diff(d *tool.Card) {
	lines := strings.Split(strings.TrimSuffix(d.Text, "\n"), "\n")
	if len(lines) > diffLines {
		p.put("<details><summary>Diff ")
		p.in("small", thousands(len(lines))+" lines")
		p.put("</summary>\n")
		defer p.put("</details>\n")
	}
	p.put("<pre class=\"diff\">\n")
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "@@"):
			p.in("i", l)
		case strings.HasPrefix(l, "+"):
			p.in("ins", l)
		case strings.HasPrefix(l, "-"):
			p.in("del", l)
		default:
			p.in("span", l)
		}
		p.put("\n")
	}
	p.put("</pre>\n")
}
