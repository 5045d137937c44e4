package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// simple is a command line that means the same without an interpreter: words, and files that its
// output goes to or its input comes from, in the order they are written.
type simple struct {
	words  []string
	redirs []redirection
}

// redirection connects a descriptor to a file or to what another descriptor is connected to.
type redirection struct {
	FD   int    // 0, 1 or 2
	Op   string // "<", ">", ">>" or "dup"
	Path string // for a file
	From int    // for dup
}

// parseSimple reads a line as a POSIX shell would and reports whether it is one simple command
// without anything that a shell would expand, substitute, run or read besides. Whatever is in doubt
// is not simple: the cost of that is a call that stays in the sandbox.
func parseSimple(line string) (simple, bool) {
	if !utf8.ValidString(line) || strings.IndexByte(line, 0) >= 0 {
		return simple{}, false
	}
	p := &parser{s: line}
	for p.ok() {
		p.blanks()
		if p.at == len(p.s) {
			break
		}
		p.element()
	}
	if p.failed || len(p.out.words) == 0 || p.out.words[0] == "" {
		return simple{}, false
	}
	return p.out, true
}

type parser struct {
	s      string
	at     int
	failed bool
	out    simple
}

// word is one word of the line.
type word struct {
	text   string
	digits bool // it is a number without quotes, which before < or > is a descriptor
	equals bool // it holds an = without quotes, which makes a first word an assignment
	plain  bool // it holds no quotes
}

func (p *parser) ok() bool { return !p.failed }

func (p *parser) fail() { p.failed = true }

func (p *parser) has(prefix string) bool { return strings.HasPrefix(p.s[p.at:], prefix) }

func (p *parser) blanks() {
	for p.has(" ") || p.has("\t") {
		p.at++
	}
}

// element is a word or a redirection.
func (p *parser) element() {
	switch {
	case p.has("&>"):
		p.redirect(-1)
		return
	case p.has("<"), p.has(">"):
		p.redirect(-1)
		return
	}
	w := p.word()
	switch {
	case p.failed:
	case w.digits && (p.has("<") || p.has(">")):
		if len(w.text) != 1 || w.text[0] > '2' {
			p.fail()
			return
		}
		p.redirect(int(w.text[0] - '0'))
	case len(p.out.words) == 0 && w.equals:
		p.fail()
	default:
		p.out.words = append(p.out.words, w.text)
	}
}

// redirect reads an operator and its target; fd is the descriptor before it, -1 for none. One that
// stands before the first word is not what the line begins with.
func (p *parser) redirect(fd int) {
	if len(p.out.words) == 0 {
		p.fail()
		return
	}
	for _, op := range []string{"&>>", "&>", ">>", ">&", ">|", ">", "<"} {
		if !p.has(op) {
			continue
		}
		p.at += len(op)
		p.blanks()
		if p.at == len(p.s) {
			break
		}
		w := p.word() // fails at what a longer operator, such as << or <>, would go on with
		if p.failed || w.text == "" || netFile(w.text) || w.digits && (p.has("<") || p.has(">")) {
			break // a number right before an operator is a descriptor, and no target
		}
		p.connect(fd, op, w)
		return
	}
	p.fail()
}

func (p *parser) connect(fd int, op string, w word) {
	file := func(fd int, op string) {
		p.out.redirs = append(p.out.redirs, redirection{FD: fd, Op: op, Path: w.text})
	}
	both := func(op string) {
		file(1, op)
		p.out.redirs = append(p.out.redirs, redirection{FD: 2, Op: "dup", From: 1})
	}
	out := fd
	if fd < 0 {
		out = 1
	}
	switch {
	case op == "<" && fd <= 0:
		file(0, "<")
	case op == "&>" && fd < 0:
		both(">")
	case op == "&>>" && fd < 0:
		both(">>")
	case op == ">&" && w.digits && out > 0 && (w.text == "1" || w.text == "2"):
		p.out.redirs = append(p.out.redirs, redirection{FD: out, Op: "dup", From: int(w.text[0] - '0')})
	case op == ">&" && fd < 0 && w.namesFile():
		both(">")
	case op == ">>" && out > 0:
		file(out, ">>")
	case (op == ">" || op == ">|") && out > 0:
		file(out, ">")
	default:
		p.fail()
	}
}

// namesFile reports whether the word after >& is a file for certain. What begins or ends like a
// descriptor's number, its closing or its move is none, and quotes are read twice there.
func (w word) namesFile() bool {
	return w.plain && strings.IndexByte("-0123456789", w.text[0]) < 0 && !strings.HasSuffix(w.text, "-")
}

// netFile is true of the names that a shell takes for connections.
func netFile(path string) bool {
	return strings.HasPrefix(path, "/dev/tcp/") || strings.HasPrefix(path, "/dev/udp/")
}

// word reads one word. It fails where the word is not just its own characters.
func (p *parser) word() word {
	var b strings.Builder
	start := p.at
	w := word{digits: true, plain: true}
	for p.at < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.at:])
		switch {
		case r == ' ', r == '\t', r == '<', r == '>', p.has("&>"):
			return w.done(p, &b, start)
		case r == '\'':
			w.digits, w.plain = false, false
			p.single(&b)
			continue
		case r == '"':
			w.digits, w.plain = false, false
			p.double(&b)
			continue
		case r == '\\':
			w.digits, w.plain = false, false
			p.at++
			if r, n = utf8.DecodeRuneInString(p.s[p.at:]); n == 0 || r == '\n' {
				p.fail()
				return w
			}
		case strings.ContainsRune("|&;()$`*?[{}~", r), unicode.IsControl(r), unicode.IsSpace(r):
			p.fail()
			return w
		case p.at == start && (r == '#' || r == '='):
			p.fail()
			return w
		case r == '=':
			w.equals = true
		}
		w.digits = w.digits && r >= '0' && r <= '9'
		b.WriteRune(r)
		p.at += n
	}
	return w.done(p, &b, start)
}

func (w word) done(p *parser, b *strings.Builder, start int) word {
	if p.at == start {
		p.fail() // nothing where a word must be
	}
	w.text = b.String()
	return w
}

// single reads '…', in which everything is itself.
func (p *parser) single(b *strings.Builder) {
	end := strings.IndexByte(p.s[p.at+1:], '\'')
	if end < 0 {
		p.fail()
		p.at = len(p.s)
		return
	}
	b.WriteString(p.s[p.at+1 : p.at+1+end])
	p.at += end + 2
}

// double reads "…". Operators in it are text; a $ or a backtick is not, whatever follows.
func (p *parser) double(b *strings.Builder) {
	for p.at++; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; c {
		case '"':
			p.at++
			return
		case '$', '`':
			p.fail()
			p.at = len(p.s)
			return
		case '\\':
			if p.at+1 == len(p.s) || p.s[p.at+1] == '\n' {
				p.fail()
				p.at = len(p.s)
				return
			}
			if strings.IndexByte("$`\"\\", p.s[p.at+1]) >= 0 {
				p.at++
			}
			b.WriteByte(p.s[p.at])
		default:
			b.WriteByte(c)
		}
	}
	p.fail()
}
