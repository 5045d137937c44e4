package export

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// prose writes what of a model's Markdown can be told apart without doubt: code, headings, tables as
// they stand, bold words and links. Everything else is shown as it was written. A whole Markdown
// processor would let more of a stranger's text become markup than a transcript is worth.
func prose(p page, text string) {
	var para []string
	flush := func() {
		if s := strings.Trim(strings.Join(para, "\n"), "\n"); s != "" {
			p.put("<p>")
			inline(p, s)
			p.put("</p>\n")
		}
		para = nil
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case fenceOf(l) != "":
			flush()
			i = code(p, lines, i)
		case strings.HasPrefix(l, "|"):
			flush()
			from := i
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|") {
				i++
			}
			p.put("<pre>\n")
			p.text(strings.Join(lines[from:i+1], "\n"))
			p.put("</pre>\n")
		case heading.MatchString(l):
			flush()
			p.put("<h4>")
			inline(p, strings.TrimSpace(strings.Trim(l, "# ")))
			p.put("</h4>\n")
		case strings.TrimSpace(l) == "":
			flush()
		default:
			para = append(para, bullet.ReplaceAllString(l, "$1• "))
		}
	}
	flush()
}

var (
	bullet  = regexp.MustCompile(`^( *)[-*+] `)
	heading = regexp.MustCompile(`^#{1,6} +\S`)
	fence   = regexp.MustCompile("^ {0,3}(`{3,}[^`]*|~{3,}.*)$")
)

// fenceOf is the row of signs that a block of code begins with, "" where none does.
func fenceOf(line string) string {
	if !fence.MatchString(line) {
		return ""
	}
	line = strings.TrimLeft(line, " ")
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	return line[:n]
}

// ends says that a line ends the block of code that began so.
func ends(line, open string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(open) && strings.Trim(line, open[:1]) == ""
}

// code writes the block that begins at a line and gives its last one. One without an end goes on to the
// end of the text, as everywhere.
func code(p page, lines []string, at int) int {
	open, last := fenceOf(lines[at]), at+1
	for last < len(lines) && !ends(lines[last], open) {
		last++
	}
	p.put("<pre>\n")
	p.text(strings.Join(lines[at+1:min(last, len(lines))], "\n"))
	p.put("</pre>\n")
	return last
}

// piece is what is recognised within a line.
var piece = regexp.MustCompile("`[^`\n]+`" + `|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\(https?://[^\s()<>]+\)|https?://[^\s<>"'` + "`" + `)\]]+`)

func inline(p page, s string) {
	for s != "" {
		at := piece.FindStringIndex(s)
		if at == nil {
			break
		}
		p.text(s[:at[0]])
		found := s[at[0]:at[1]]
		s = s[at[1]:]
		switch found[0] {
		case '`':
			p.in("code", strings.Trim(found, "`"))
		case '*':
			p.in("strong", strings.Trim(found, "*"))
		case '[':
			label, address, _ := strings.Cut(strings.TrimSuffix(found[1:], ")"), "](")
			link(p, label, address)
		default:
			bare := strings.TrimRight(found, ".,;:!?")
			link(p, bare, bare)
			p.text(found[len(bare):])
		}
	}
	p.text(s)
}

// link leads to the web, or is no link.
func link(p page, label, address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		p.text(label)
		if label != address {
			p.text(" (" + address + ")")
		}
		return
	}
	p.put("<a rel=\"noopener noreferrer nofollow\" href=\"")
	p.text(u.String())
	p.put("\">")
	p.text(label)
	p.put("</a>")
}

// indented is JSON as people read it, or what it is where it is none.
func indented(args string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(args), "", "  ") != nil {
		return args
	}
	return b.String()
}
