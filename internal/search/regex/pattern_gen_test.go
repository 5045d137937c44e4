package regex

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// patternMaker writes random patterns from the whole documented syntax of Rust's
// regex crate, some of them wrong, whether or not the package can read them.
type patternMaker struct {
	r     *rand.Rand
	names int
}

func newPatternMaker(seed uint64) *patternMaker {
	return &patternMaker{r: rand.New(rand.NewPCG(seed, 0x5EED))}
}

func (g *patternMaker) pick(choices ...string) string { return choices[g.r.IntN(len(choices))] }

func (g *patternMaker) chance(percent int) bool { return g.r.IntN(100) < percent }

// pattern returns a whole pattern.
func (g *patternMaker) pattern() string {
	g.names = 0
	var b strings.Builder
	if g.chance(25) {
		b.WriteString("(?" + g.flags() + ")")
	}
	b.WriteString(g.alternation(3))
	s := b.String()
	// A comment is left its end: ripgrep's own group would be lost in it.
	if g.chance(6) && !strings.Contains(s, "#") {
		s = g.damage(s)
	}
	return s
}

// damage makes an error likely: it deletes, doubles or inserts something.
func (g *patternMaker) damage(s string) string {
	runes := []rune(s)
	if len(runes) == 0 {
		return g.pick("*", "(", "[", `\`)
	}
	i := g.r.IntN(len(runes))
	switch g.r.IntN(3) {
	case 0:
		return string(runes[:i]) + string(runes[i+1:])
	case 1:
		return string(runes[:i+1]) + string(runes[i:])
	}
	// A bare ")" is left out: ripgrep's own group around the pattern would take it.
	return string(runes[:i]) + g.pick("*", "(", "[", "]", `\`, "{", "}", "?", "|", "^", "-", "&&") + string(runes[i:])
}

func (g *patternMaker) flags() string {
	on := g.someOf("imsRUux")
	if g.chance(35) {
		if off := g.someOf("imsRUux"); off != "" {
			return on + "-" + off
		}
	}
	if on == "" && !g.chance(3) {
		return "i"
	}
	return on
}

func (g *patternMaker) someOf(letters string) string {
	var b strings.Builder
	for _, c := range letters {
		if g.chance(18) {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (g *patternMaker) alternation(depth int) string {
	n := 1
	for g.chance(22) {
		n++
	}
	parts := make([]string, n)
	for i := range parts {
		parts[i] = g.concat(depth)
	}
	return strings.Join(parts, "|")
}

func (g *patternMaker) concat(depth int) string {
	n := 1 + g.r.IntN(4)
	if g.chance(4) {
		n = 0
	}
	var b strings.Builder
	for range n {
		b.WriteString(g.atom(depth))
		for p := 30; g.chance(p); p = 8 {
			b.WriteString(g.repetition())
		}
		if g.chance(2) {
			b.WriteString(g.pick(" ", "\t", "#x\n", " # note\n"))
		}
	}
	return b.String()
}

func (g *patternMaker) repetition() string {
	lazy := g.pick("", "", "?")
	switch g.r.IntN(8) {
	case 0, 1:
		return "*" + lazy
	case 2, 3:
		return "+" + lazy
	case 4, 5:
		return "?" + lazy
	}
	n := g.r.IntN(4)
	m := n + g.r.IntN(4)
	if g.chance(3) {
		m = g.r.IntN(3)
	}
	return g.pick(fmt.Sprintf("{%d}", n), fmt.Sprintf("{%d,}", n), fmt.Sprintf("{%d,%d}", n, m),
		fmt.Sprintf("{ %d , %d }", n, m), fmt.Sprintf("{,%d}", m)) + lazy
}

func (g *patternMaker) atom(depth int) string {
	switch k := g.r.IntN(100); {
	case k < 38 || depth == 0 && k >= 86:
		return g.literal()
	case k < 44:
		return "."
	case k < 54:
		return g.escapedSet()
	case k < 66:
		return g.class(2)
	case k < 78:
		return g.assertion()
	case k < 80:
		return g.strange()
	case k < 86:
		return g.word()
	}
	return g.group(depth - 1)
}

func (g *patternMaker) group(depth int) string {
	body := g.alternation(depth)
	switch g.r.IntN(6) {
	case 0:
		return "(" + body + ")"
	case 1:
		g.names++
		return fmt.Sprintf("(%s<%s%d>%s)", g.pick("?P", "?"), g.pick("n", "_", "é", "a.b[0]"), g.names, body)
	case 2:
		return "(?" + g.flags() + ":" + body + ")"
	case 3:
		return "(?" + g.flags() + ")"
	}
	return "(?:" + body + ")"
}

func (g *patternMaker) word() string {
	return g.pick("foo", "bar", "ab", "Straße", "kelvin", "test", "éa", "λόγος", "да", "日本", "a1", "_x", "foo_test(", "😀")
}

func (g *patternMaker) literal() string {
	switch g.r.IntN(14) {
	case 0:
		return g.pick("é", "É", "ß", "ſ", "\u212a", "k", "Σ", "ς", "σ", "да", "日", "😀", "ǅ", "\u0301", "İ", "ı", "\u00a0", "\u2028")
	case 1:
		return g.pick(`\.`, `\\`, `\+`, `\*`, `\?`, `\(`, `\)`, `\|`, `\[`, `\]`, `\{`, `\}`, `\^`, `\$`, `\#`, `\&`, `\-`, `\~`,
			`\/`, `\@`, `\:`, `\%`, `\"`, `\'`, `\ `, `\!`, `\,`, `\;`, `\=`, "\\`", `\_`)
	case 2:
		return g.pick(`\t`, `\r`, `\f`, `\v`, `\a`, `\x41`, `\x{61}`, `\u0061`, `\u{e9}`, `\U000000E9`, `\x{1F600}`, `\U{62}`, `\x7F`,
			`\xe9`, `\xff`, `\xC3`, `\xA9`, `\x{ff}`, `\x20`, `\u00df`)
	}
	return g.pick("a", "b", "c", "o", "A", "B", "_", "0", "1", "7", "x", "e", "s", "k", " ", "-", "(?:)", "=", "ab", "fo", "\t")
}

func (g *patternMaker) escapedSet() string {
	switch g.r.IntN(3) {
	case 0:
		return g.pick(`\d`, `\D`, `\s`, `\S`, `\w`, `\W`)
	case 1:
		return g.pick(`\d`, `\s`, `\w`)
	}
	p := g.pick("p", "p", "P")
	if g.chance(25) {
		return `\` + p + g.pick("L", "N", "P", "S", "Z", "M", "C", "l", "Q")
	}
	name := g.pick("L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Po", "S", "Sm",
		"Sc", "Sk", "So", "Z", "Zs", "Cc", "Cf", "Co", "Cn", "LC", "Letter", "Uppercase_Letter", "lowercase letter", "punct", "digit", "cntrl",
		"Greek", "Cyrillic", "Latin", "Han", "Hira", "Common", "Inherited", "isGreek", "Arabic", "Any", "ASCII", "Assigned",
		"Alphabetic", "Alpha", "Lowercase", "Uppercase", "Upper", "White_Space", "Emoji", "Emoji_Presentation", "Extended_Pictographic",
		"Math", "Dash", "Hex", "ASCII_Hex_Digit", "XIDS", "XID_Continue", "ID_Start", "Cased", "CI", "Ideographic", "Diacritic", "Join_C",
		"Grapheme_Base", "Gr_Ext", "RI", "Quotation_Mark", "Term", "STerm", "Soft_Dotted", "CWL", "CWU", "CWT", "CWCF", "CWCM", "DI", "Pat_Syn",
		"gc=Lu", "gc:Nd", "General_Category=Punctuation", "gc!=L", "sc=Greek", "Script=Cyrillic", "sc!=Latin", "scx=Latin", "scx:Deva",
		"Script_Extensions=Han", "age=3.0", "Age=V6_0", "age:1.1", "age!=5.2", "gcb=Extend", "GCB=LV", "wb=ALetter", "Word_Break=Numeric",
		"sb=Lower", "Sentence_Break=STerm",
		"", "Nope", "gc=Nope", "sc=Nope", "Nope=L", "Block=ASCII", "^L", "gc", "age=99", "Cs", "Alpha=Yes", "Composition_Exclusion")
	return `\` + p + "{" + name + "}"
}

func (g *patternMaker) assertion() string {
	return g.pick("^", "$", "^", "$", `\b`, `\b`, `\B`, `\A`, `\z`, `\b{start}`, `\b{end}`, `\b{start-half}`, `\b{end-half}`, `\<`, `\>`,
		`(?-u:\b)`, `(?-u:\B)`, `(?-u:\b{start})`, `(?-u:\b{end})`, `(?-u:\b{start-half})`, `(?-u:\b{end-half})`, `(?-u:\<)`, `(?-u:\>)`,
		`(?R:^)`, `(?R:$)`, `(?-m:^)`, `(?-m:$)`)
}

// strange is what is refused, or what is easily got wrong.
func (g *patternMaker) strange() string {
	return g.pick(`(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)`, `\1`, `\01`, `\8`, `\Z`, `\Q`, `\h`, `\e`, `\N`, `\K`, `\G`, `\X`, `\cA`, `\x`, `\x4`, `\x{`,
		`\x{}`, `\x{110000}`, `\x{D800}`, `\u12`, `\p`, `\pé`, `\p{L`, `\b{`, `\b{foo}`, `\b{start`, `\B{start}`, `(?)`, `(?-)`, `(?z)`, `(?ii)`, `(?i-i)`,
		`(?i--s)`, `(?P<>a)`, `(?P<1>a)`, `(?<a`, `(?P=n)`, `(?P<d>a)(?P<d>b)`, `a{`, `a{}`, `a{x}`, `a{1`, `a{1,`, `a{2,1}`, `a{99999999999}`,
		`[a`, `[]`, `[^]`, `[z-a]`, `[a-\d]`, `[\d-z]`, `[\b]`, `[\A]`, `[[:nope:]]`, `[[:alpha:]`, `[:alpha:]`, `\n`, `[\n]`, `[\na]`, `(?:\n|a)`,
		`(\n)|a`, `\x0A`, `\x00`, `[\x00a]`, `(?s).`, `(?-u)\xff`, `(?-u:\xC3\xA9)`, `(?-u:.)`, `(?-u:\W)`, `(?-u:[^a])`, `(?-u:é)`, `(?-u:[é])`,
		`(?-u:\pL)`, `(?-u)\w`, `(?i-u:é)`, `(?i-u)k`, `**`, `(*)`, `|*`, `()`, `(|)`, `\n{0}`, `a||b`, `(?:a{2}){3}`, `^*`, `\b+`, `$?`)
}

func (g *patternMaker) class(depth int) string {
	var b strings.Builder
	b.WriteString(g.pick("[", "[", "[", "[^", "[^"))
	b.WriteString(g.pick("", "", "", "", "", "-", "]"))
	for range 1 + g.r.IntN(4) {
		b.WriteString(g.classItem(depth))
	}
	for g.chance(20) {
		b.WriteString(g.pick("&&", "--", "~~"))
		for range g.r.IntN(3) {
			b.WriteString(g.classItem(depth))
		}
	}
	b.WriteString(g.pick("", "", "", "", "", "", "-"))
	return b.String() + "]"
}

func (g *patternMaker) classItem(depth int) string {
	switch k := g.r.IntN(20); {
	case k < 6:
		return g.pick("a", "b", "o", "k", "s", "1", "_", "x", " ", ".", "é", "ß", "日", `\n`, `\t`, `\]`, `\\`, `\-`, `\^`, `\x61`, `\u{e9}`, "&", "~", "^", "#")
	case k < 11:
		return g.pick("a-c", "a-z", "A-Z", "0-9", "α-ω", "а-я", "b-o", `\x00-\x7f`, `\x80-\xff`, "!-/", "é-ÿ", `\u{1F600}-\u{1F64F}`, "a - c", " -~")
	case k < 14:
		return g.escapedSet()
	case k < 16:
		return g.pick("[:alpha:]", "[:^alpha:]", "[:digit:]", "[:space:]", "[:punct:]", "[:word:]", "[:upper:]", "[:^lower:]", "[:alnum:]",
			"[:ascii:]", "[:blank:]", "[:cntrl:]", "[:graph:]", "[:print:]", "[:xdigit:]")
	case k < 18 && depth > 0:
		return g.class(depth - 1)
	}
	return g.pick("e", "f", "t", "A", "7", "0-1", "w-z")
}
