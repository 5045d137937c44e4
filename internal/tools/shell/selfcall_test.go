package shell

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// shape is a parsed line as a test writes it: the words in brackets, then the redirections.
func shape(line string) string {
	c, ok := parseSimple(line)
	if !ok {
		return "-"
	}
	var b strings.Builder
	for _, w := range c.words {
		fmt.Fprintf(&b, "[%s]", w)
	}
	for _, r := range c.redirs {
		if r.Op == "dup" {
			fmt.Fprintf(&b, " %d>&%d", r.FD, r.From)
		} else {
			fmt.Fprintf(&b, " %d%s%s", r.FD, r.Op, r.Path)
		}
	}
	return b.String()
}

func TestOnlyOnePlainCommandNeedsNoInterpreter(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		// plain words and quotes
		{`jig`, "[jig]"}, {`  jig	list  `, "[jig][list]"}, {`jig mcp add x`, "[jig][mcp][add][x]"},
		{`/opt/bin/jig list`, "[/opt/bin/jig][list]"}, {`./jig list`, "[./jig][list]"},
		{`'jig' "list"`, "[jig][list]"}, {`j'i'"g" list`, "[jig][list]"}, {`\jig list`, "[jig][list]"}, {`ji\g`, "[jig]"},
		{`jig run x -m "do it"`, "[jig][run][x][-m][do it]"}, {`jig run x -m 'do it'`, "[jig][run][x][-m][do it]"},
		{`jig run x -m do\ it`, "[jig][run][x][-m][do it]"}, {`jig ""`, "[jig][]"}, {`jig ''`, "[jig][]"}, {`jig '"' "'"`, `[jig]["][']`},
		{`jig "a\"b\\c\d"`, `[jig][a"b\c\d]`}, {`jig "\$HOME \` + "`" + `x\` + "`" + `"`, "[jig][$HOME `x`]"},
		{`jig '$HOME $(x) ` + "`y`" + `'`, "[jig][$HOME $(x) `y`]"}, {`jig \$HOME`, "[jig][$HOME]"}, {"jig '`'", "[jig][`]"},
		{`jig "a; b | c && d & e > f < g (h) *?[i]{j,k} ~ # l"`, "[jig][a; b | c && d & e > f < g (h) *?[i]{j,k} ~ # l]"},
		{"jig 'line1\nline2'", "[jig][line1\nline2]"}, {"jig -m \"line1\nline2\"", "[jig][-m][line1\nline2]"},
		{`jig a#b`, "[jig][a#b]"}, {`jig "#a"`, "[jig][#a]"}, {`jig \#a`, "[jig][#a]"}, {`jig x! y!z`, "[jig][x!][y!z]"}, {`jig "wow!"`, "[jig][wow!]"},
		{`jig --opt=value a=b`, "[jig][--opt=value][a=b]"}, {`jig a:b,c.d@e%f+g^h]`, "[jig][a:b,c.d@e%f+g^h]]"}, {`jig é "日本"`, "[jig][é][日本]"},
		{`jig \*`, "[jig][*]"}, {`jig \&`, "[jig][&]"}, {`jig \;rm`, "[jig][;rm]"}, {`jig \~`, "[jig][~]"}, {`jig \{a,b\}`, "[jig][{a,b}]"}, {`jig "\!"`, `[jig][\!]`},
		// redirections to plain words
		{`jig list > out`, "[jig][list] 1>out"}, {`jig list >out`, "[jig][list] 1>out"}, {`jig list>out`, "[jig][list] 1>out"},
		{`jig list >> out`, "[jig][list] 1>>out"}, {`jig list >| out`, "[jig][list] 1>out"}, {`jig list < in`, "[jig][list] 0<in"}, {`jig list 0<in`, "[jig][list] 0<in"},
		{`jig list 2> err`, "[jig][list] 2>err"}, {`jig list 1>out 2>>err`, "[jig][list] 1>out 2>>err"},
		{`jig list 2>&1`, "[jig][list] 2>&1"}, {`jig list >&2`, "[jig][list] 1>&2"}, {`jig list 2>& 1`, "[jig][list] 2>&1"},
		{`jig list >out 2>&1`, "[jig][list] 1>out 2>&1"}, {`jig list 2>&1 >out`, "[jig][list] 2>&1 1>out"},
		{`jig list &> out`, "[jig][list] 1>out 2>&1"}, {`jig list &>>out`, "[jig][list] 1>>out 2>&1"}, {`jig list >& out`, "[jig][list] 1>out 2>&1"},
		{`jig list > 'a b' x`, "[jig][list][x] 1>a b"}, {`jig list > "a b"`, "[jig][list] 1>a b"}, {`jig a2>f`, "[jig][a2] 1>f"},
		{`jig 2 >f`, "[jig][2] 1>f"}, {`jig "2">f`, "[jig][2] 1>f"}, {`jig \2>f`, "[jig][2] 1>f"}, {`jig x&>f`, "[jig][x] 1>f 2>&1"}, {`jig 2&>f`, "[jig][2] 1>f 2>&1"},
		{`jig list > /dev/null 2>&1`, "[jig][list] 1>/dev/null 2>&1"},
		// more than one command
		{`jig list | head`, "-"}, {`jig list|head`, "-"}, {`jig list |& cat`, "-"}, {`jig; rm -rf x`, "-"}, {`jig ;`, "-"}, {`jig && rm x`, "-"}, {`jig || rm x`, "-"}, {`jig & rm x`, "-"},
		{`jig &`, "-"}, {`jig&`, "-"}, {"jig\nrm x", "-"}, {"jig list\n", "-"}, {"\njig list", "-"}, {"jig list \\\nx", "-"}, {"jig \"a\\\nb\"", "-"}, {"jig li\\\nst", "-"},
		{`(jig list)`, "-"}, {`{ jig list; }`, "-"}, {`jig list # note`, "-"}, {`#jig`, "-"}, {`jig () { rm x; }`, "-"}, {`jig list ;; x`, "-"},
		// expansions and substitutions
		{`jig $(rm x)`, "-"}, {"jig `rm x`", "-"}, {`jig "$(rm x)"`, "-"}, {"jig \"`rm x`\"", "-"}, {`jig <(rm x)`, "-"}, {`jig >(rm x)`, "-"}, {`jig > >(rm x)`, "-"}, {`jig < <(rm x)`, "-"},
		{`jig $HOME`, "-"}, {`jig "$HOME"`, "-"}, {`jig ${x:-y}`, "-"}, {`jig $((1+1))`, "-"}, {`jig $[1+1]`, "-"}, {`jig $'a\nb'`, "-"}, {`jig $"a"`, "-"}, {`jig $`, "-"}, {`jig a$`, "-"}, {`jig "costs $5"`, "-"},
		{`jig *`, "-"}, {`jig a?`, "-"}, {`jig [ab]`, "-"}, {`jig {a,b}`, "-"}, {`jig a}`, "-"}, {`jig ~`, "-"}, {`jig ~/x`, "-"}, {`jig --a=~/x`, "-"}, {`jig x@(y)`, "-"},
		{`jig =ls`, "-"}, {`!! list`, "[!!][list]"},
		// redirections to anything else
		{`jig <<E`, "-"}, {"jig <<E\nx\nE", "-"}, {`jig <<<x`, "-"}, {`jig <<-E`, "-"}, {`jig <> f`, "-"}, {`jig > $x`, "-"}, {`jig > ~/x`, "-"}, {`jig > *`, "-"}, {`jig > {a,b}`, "-"},
		{`jig >`, "-"}, {`jig > `, "-"}, {`jig > >`, "-"}, {`jig > ''`, "-"}, {`jig >>> f`, "-"}, {`jig 3> f`, "-"}, {`jig 10> f`, "-"}, {`jig 01> f`, "-"}, {`jig 2< f`, "-"}, {`jig 0> f`, "-"},
		{`jig <&3`, "-"}, {`jig <&-`, "-"}, {`jig >&-`, "-"}, {`jig 2>&-`, "-"}, {`jig >&3`, "-"}, {`jig >&1-`, "-"}, {`jig 2>&f`, "-"}, {`jig 2>& "1"`, "-"}, {`jig {fd}> f`, "-"}, {`jig &>&1`, "-"}, {`jig &>`, "-"}, {`jig >&`, "-"},
		{`jig 1>&-x`, "-"}, {`jig >&-x`, "-"}, {`jig >& -x`, "-"}, {`jig >&1x`, "-"}, {`jig >&2-x`, "-"}, {`jig >&"-x"`, "-"}, {`jig >&"x"`, "-"}, {`jig >&x-`, "-"}, {`jig >&\x`, "-"}, {`jig >&x-y`, "[jig] 1>x-y 2>&1"}, {`jig >1>&2`, "-"}, {`jig 2>>3>f`, "-"}, {`jig <0<f`, "-"}, {`jig > 1<f`, "-"},
		{`jig > /dev/tcp/127.0.0.1/80`, "-"}, {`jig < /dev/udp/x/1`, "-"}, {`>out jig`, "-"}, {`2>&1 jig`, "-"},
		// first words that are none
		{`VAR=x jig list`, "-"}, {`A=1 B=2 jig`, "-"}, {`a+=1 jig`, "-"}, {`a[0]=1 jig`, "-"}, {`"" jig`, "-"}, {``, "-"}, {`   `, "-"}, {`""`, "-"},
		// what is not ended, and characters that are no text
		{`jig "x`, "-"}, {`jig 'x`, "-"}, {`jig \`, "-"}, {`jig "x\`, "-"}, {"jig \x00", "-"}, {"jig '\x00'", "-"}, {"jig\rrm", "-"}, {"jig \r", "-"}, {"jig a\vb", "-"}, {"jig \x1b[A", "-"},
		{"jig\u00a0list", "-"}, {"jig\u2003list", "-"}, {"jig\u2028list", "-"}, {"jig\u0085list", "-"}, {"jig \xff", "-"}, {"jig 'a\rb'", "[jig][a\rb]"}, {"jig 'a\u00a0b'", "[jig][a\u00a0b]"}, {"jig a\\\u00a0b", "[jig][a\u00a0b]"},
	} {
		if got := shape(c.line); got != c.want {
			t.Errorf("%q: %s, want %s", c.line, got, c.want)
		}
	}
}

// TestBashAgreesOnWhatAPlainLineMeans gives lines of the dangerous characters to both.
func TestBashAgreesOnWhatAPlainLineMeans(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is needed: ", err)
	}
	pieces := []string{"a", "b", " ", " ", "'", "'", `"`, `"`, `\`, "$", "`", "!", "#", "=", "~", "*", "{", ",", "}", "2", "1", ":", "/", "-", "\t", "é", ";", "|", "&", "(", ")", "\n"}
	r := rand.New(rand.NewPCG(1, 2))
	var script bytes.Buffer
	var want []string
	for len(want) < 1500 {
		line := "jig "
		for range 1 + r.IntN(9) {
			line += pieces[r.IntN(len(pieces))]
		}
		c, ok := parseSimple(line)
		if !ok || len(c.redirs) > 0 {
			continue
		}
		var w strings.Builder
		for _, a := range c.words[1:] {
			fmt.Fprintf(&w, "[%s]", a)
		}
		want = append(want, w.String())
		fmt.Fprintf(&script, "%s\nprintf '\\036'\n", line)
	}
	// a function, so that one bash is enough for all
	cmd := exec.Command(bash, "-c", "jig() { local a; for a; do printf '[%s]' \"$a\"; done; }\n"+script.String())
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/nowhere", "HOME=/home/nobody", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x1e"), "\x1e")
	if len(got) != len(want) {
		t.Fatalf("%d lines, bash says %d", len(want), len(got))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %q, bash says %q", i, want[i], got[i])
		}
	}
}

// TestBashAgreesOnWhereAPlainLineRedirects runs random lines with redirections, and the same written
// with a descriptor at every operator and all else quoted: what ends up in which file must be one.
func TestBashAgreesOnWhereAPlainLineRedirects(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is needed: ", err)
	}
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	pieces := []string{"a", "b", " ", " ", "'", `"`, `\`, "2", "1", "0", "-", "<", ">", ">", ">", "&", ">&", "&>", ">>", "|", "a", "="}
	r := rand.New(rand.NewPCG(3, 4))
	var script bytes.Buffer
	var lines []string
	for len(lines) < 300 {
		line := "jig "
		for range 2 + r.IntN(9) {
			line += pieces[r.IntN(len(pieces))]
		}
		c, ok := parseSimple(line)
		if !ok || len(c.redirs) == 0 {
			continue
		}
		plain := "jig"
		for _, w := range c.words[1:] {
			plain += " " + quoted(w)
		}
		for _, r := range c.redirs {
			if r.Op == "dup" {
				plain += fmt.Sprintf(" %d>&%d", r.FD, r.From)
			} else {
				plain += fmt.Sprintf(" %d%s %s", r.FD, r.Op, quoted(r.Path))
			}
		}
		lines = append(lines, line)
		fmt.Fprintf(&script, "try %s %s %s\n", quoted(line), quoted(line), quoted(plain))
	}
	cmd := exec.Command(bash, "-c", `
jig() { local a; for a; do printf '[%s]' "$a"; done; printf err >&2; }
look() {
	local f text
	(eval "$1") >out.stdout 2>out.stderr </dev/null
	for f in *; do read -rd '' text <"$f"; printf '<%s:%s' "$f" "${text##*: line *: }"; done
	rm -f -- *
}
try() { a=$(look "$2"); b=$(look "$3"); test "$a" = "$b" || printf '%q: %s, and plainly %s\n' "$1" "$a" "$b"; }
`+script.String())
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// FuzzPlainLines: a line that needs no interpreter holds, outside quotes, nothing that one acts on,
// and written with every word quoted it is the same line again.
func FuzzPlainLines(f *testing.F) {
	for _, s := range []string{`jig run x -m "do it" > out 2>&1`, `jig; rm`, "jig\nrm", `jig "$(x)"`, `jig 'a'"b"\c`, `jig &>x`, `V=1 jig`, `jig <<<x`, "jig \\\n", `jig {a,b}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, ok := parseSimple(line)
		if !ok {
			return
		}
		if rest := outsideQuotes(line); strings.ContainsAny(rest, "|;()$`*?[{}~\n\r\x00") {
			t.Fatalf("%q is taken with %q in the open", line, rest)
		}
		if strings.Contains(strings.ReplaceAll(line, `\$`, ""), "$") && !strings.Contains(line, "'") {
			t.Fatalf("%q is taken with an expansion", line)
		}
		again := ""
		for _, w := range c.words {
			again += "'" + strings.ReplaceAll(w, "'", `'\''`) + "' "
		}
		d, ok := parseSimple(again)
		if !ok || strings.Join(d.words, "\x00") != strings.Join(c.words, "\x00") {
			t.Fatalf("%q has the words %q, again %q", line, c.words, d.words)
		}
		for _, r := range c.redirs {
			if r.FD < 0 || r.FD > 2 || (r.Op == "dup") != (r.Path == "") || netFile(r.Path) {
				t.Fatalf("%q: %+v", line, r)
			}
		}
	})
}

// outsideQuotes is another reading of the same quoting: what is left of a line without quoted text.
func outsideQuotes(line string) string {
	var b strings.Builder
	in := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case in == '\'':
			if c == in {
				in = 0
			}
		case c == '\\':
			i++
		case in == '"':
			if c == in {
				in = 0
			}
		case c == '\'' || c == '"':
			in = c
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
