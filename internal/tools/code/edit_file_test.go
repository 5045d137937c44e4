package code

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// edits reads a file and edits it, and compares what the model reads and what the file then holds.
func (p *project) edits(name, old, with string, all bool, says, holds string) outcome {
	p.Helper()
	p.call("read_file", args{"path": name})
	o := p.says(says, "edit_file", args{"path": name, "old_string": old, "new_string": with, "replace_all": all})
	p.holds(name, holds)
	return o
}

func TestEditFile(t *testing.T) {
	p := given(t, files{"a/b.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	o := p.edits("a/b.txt", "5\n", "five\n", false, "1 replacement(s) in a/b.txt\n\n"+numbered(2, "2", "3", "4", "five", "6", "7", "8"), "1\n2\n3\n4\nfive\n6\n7\n8\n9\n")
	if c := o.card; c == nil || c.Title != "a/b.txt" || c.Text != "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n" || c.Added != 1 || c.Removed != 1 {
		t.Errorf("%+v", o.card)
	}
	// An edit is known to the session, so the next one needs no reading in between.
	p.says("1 replacement(s) in a/b.txt\n\n"+numbered(1, "one", "2", "3", "4"), "edit_file", args{"path": "a/b.txt", "old_string": "1", "new_string": "one"})
	p.says("1 replacement(s) in a/b.txt\n\n"+numbered(6, "6", "7", "8", "nine"), "edit_file", args{"path": p.path("a/b.txt"), "old_string": "9", "new_string": "nine"})
	p.says("1 replacement(s) in a/b.txt\n\n"+numbered(5, "five", "6", "7", "8"), "edit_file", args{"path": "a/b.txt", "old_string": "nine\n", "new_string": ""})
	p.put("twice", "x y\nx\n")
	p.edits("twice", "x", "zz", true, "2 replacement(s) in twice\n\n"+numbered(1, "zz y", "zz"), "zz y\nzz\n")
	p.edits("twice", "zz y\nzz\n", "", false, "1 replacement(s) in twice", "")
	p.put("long", strings.Repeat("w", 800)+"\n")
	p.edits("long", "\n", "!\n", false, "1 replacement(s) in long\n\n"+clip(numbered(1, strings.Repeat("w", 800)), 500), strings.Repeat("w", 800)+"!\n")
	p.clean(".", "a", "twice", "long")
}

func TestEditRefusals(t *testing.T) {
	const text = "a\nb\nb\nbbb\n"
	p := given(t, files{"f": text, "unread": text, "d/": ""})
	p.call("read_file", args{"path": "f"})
	p.must(os.Symlink("loop", p.path("loop")))
	for _, c := range []struct{ path, old, with, want string }{
		{"unread", "a", "c", "unread has not been read in this session — read it with read_file before modifying it"},
		{"nope", "a", "c", "nope has not been read in this session — read it with read_file before modifying it"},
		{"d", "a", "c", "d has not been read in this session — read it with read_file before modifying it"},
		{"f", "", "c", "old_string must not be empty (use write_file to create or replace a whole file)"},
		{"f", "zzz", "zzz", "old_string and new_string are identical"},
		{"f", "zzz", "c", "old_string not found in f — it must match the file content exactly, whitespace included; read the file again if unsure"},
		{"f", "b\n", "c", "old_string appears 3 times in f; extend it with surrounding context to make it unique, or set replace_all"},
		{"f", "bb", "c", ""},
		{"loop", "a", "b", "cannot write loop: too many levels of symbolic links"},
		// What is wrong with the arguments is told before what is wrong with the file.
		{"unread", "", "c", "old_string must not be empty (use write_file to create or replace a whole file)"},
		{"unread", "a", "a", "old_string and new_string are identical"},
	} {
		if c.want == "" {
			p.says("1 replacement(s) in f\n\n"+numbered(1, "a", "b", "b", "cb"), "edit_file", args{"path": c.path, "old_string": c.old, "new_string": c.with})
			continue
		}
		prep, err := p.prepare("edit_file", args{"path": c.path, "old_string": c.old, "new_string": c.with})
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v", c, err)
		}
		if prep.Run != nil {
			t.Errorf("%+v would run", c)
		}
	}
	p.holds("unread", text)
}

func TestReplacementTextIsNotAPattern(t *testing.T) {
	odd := "$& $1 $$ ${x} \\1 %s $` \\n \\u0041 {{x}}"
	p := given(t, files{"f": "(done)\n", "g": "done done\n"})
	p.edits("f", "done", odd, false, "1 replacement(s) in f\n\n"+numbered(1, "("+odd+")"), "("+odd+")\n")
	p.edits("g", "done", odd, true, "2 replacement(s) in g\n\n"+numbered(1, odd+" "+odd), odd+" "+odd+"\n")
	p.edits("f", odd, "(.*)", false, "1 replacement(s) in f\n\n"+numbered(1, "((.*))"), "((.*))\n")
}

func TestEditOfCRLFFiles(t *testing.T) {
	const lost = "old_string not found in f — it must match the file content exactly, whitespace included; read the file again if unsure"
	for _, c := range []struct{ name, content, old, with, says, holds string }{
		{"only CRLF", "a\r\nb\r\nc\r\n", "a\nb", "x\ny", "1 replacement(s) in f\n\n" + numbered(1, "x", "y", "c"), "x\r\ny\r\nc\r\n"},
		{"only CRLF, text with CRLF", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "1 replacement(s) in f\n\n" + numbered(1, "x", "y"), "x\r\ny\r\n"},
		{"only CRLF, half of the text with CRLF", "a\r\nb\r\nc\r\n", "a\r\nb\nc", "x\r\ny\nz", "1 replacement(s) in f\n\n" + numbered(1, "x", "y", "z"), "x\r\ny\r\nz\r\n"},
		{"only CRLF, an end alone", "a\r\nb\r\n", "b\n", "", "1 replacement(s) in f\n\n" + numbered(1, "a"), "a\r\n"},
		{"mixed ends", "a\r\nb\nc\r\n", "a\nb", "x\ny", lost, "a\r\nb\nc\r\n"},
		{"mixed ends, exact", "a\r\nb\nc\r\n", "a\r\nb", "x\r\ny", "1 replacement(s) in f\n\n" + numbered(1, "x\r", "y", "c\r"), "x\r\ny\nc\r\n"},
		{"only LF, text with CRLF", "a\nb\n", "a\r\nb", "x", lost, "a\nb\n"},
		{"carriage returns only", "a\rb\r", "a\nb", "x", lost, "a\rb\r"},
		{"an exact match stays exact", "a\r\nb\r\n", "b", "x\ny", "1 replacement(s) in f\n\n" + numbered(1, "a\r", "x", "y\r"), "a\r\nx\ny\r\n"},
		{"no final end", "a\r\nb", "a\nb", "x\ny", "1 replacement(s) in f\n\n" + numbered(1, "x", "y"), "x\r\ny"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := given(t, files{"f": c.content})
			p.edits("f", c.old, c.with, false, c.says, c.holds)
		})
	}
	p := given(t, files{"f": "a\r\nb\r\nc\r\n"})
	o := p.edits("f", "b\n", "B\n", false, "1 replacement(s) in f\n\n"+numbered(1, "a", "B", "c"), "a\r\nB\r\nc\r\n")
	if want := "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"; o.card == nil || o.card.Text != want {
		t.Errorf("%+v", o.card)
	}
	p.put("g", strings.Repeat("x\r\ny\r\n", 2))
	p.edits("g", "x\ny", "z", true, "2 replacement(s) in g\n\n"+numbered(1, "z", "z"), "z\r\nz\r\n")
}

func TestByteOrderMarkIsHiddenAndKept(t *testing.T) {
	p := given(t, files{"f": "\uFEFFimport os\nx\n"})
	o := p.edits("f", "import os", "import sys", false, "1 replacement(s) in f\n\n"+numbered(1, "import sys", "x"), "\uFEFFimport sys\nx\n")
	if want := "@@ -1,2 +1,2 @@\n-import os\n+import sys\n x\n"; o.card == nil || o.card.Text != want {
		t.Errorf("%+v", o.card)
	}
	p.says("f:1: import sys", "grep", args{"pattern": "^import"})
	p.says("1 replacement(s) in f\n\n"+numbered(1, "import sys", "y"), "edit_file", args{"path": "f", "old_string": "x", "new_string": "y"})
	p.holds("f", "\uFEFFimport sys\ny\n")
	p.edits("f", "import sys\ny\n", "", false, "1 replacement(s) in f", "\uFEFF")
	p.put("f", "\uFEFFa\r\nb\r\n")
	p.edits("f", "a\nb", "c\nd", false, "1 replacement(s) in f\n\n"+numbered(1, "c", "d"), "\uFEFFc\r\nd\r\n")
	// A whole file is written as it was given.
	p.says("wrote 2 B to f (overwritten)", "write_file", args{"path": "f", "content": "x\n"})
	p.holds("f", "x\n")
}

func TestEditsKeepOtherEncodings(t *testing.T) {
	const lost = "old_string not found in f — it must match the file content exactly, whitespace included; read the file again if unsure"
	for _, c := range []struct{ content, old, with, says, holds string }{
		{"const x = 1;\n// caf\xe9\n", "x = 1", "x = 2", "1 replacement(s) in f\n\n" + numbered(1, "const x = 2;", "// caf\uFFFD"), "const x = 2;\n// caf\xe9\n"},
		{"\xd6\xd0\xce\xc4 a\n", "a", "b", "1 replacement(s) in f\n\n" + numbered(1, "\uFFFD\uFFFD\uFFFD\uFFFD b"), "\xd6\xd0\xce\xc4 b\n"},
		{"// caf\xe9\n", "caf\uFFFD", "cafe", lost, "// caf\xe9\n"},
		{"// caf\xe9\n", "caf\u00e9", "cafe", lost, "// caf\xe9\n"},
		{"really \uFFFD\n", "\uFFFD", "x", "1 replacement(s) in f\n\n" + numbered(1, "really x"), "really x\n"},
	} {
		p := given(t, files{"f": c.content})
		p.edits("f", c.old, c.with, false, c.says, c.holds)
	}
	p := given(t, files{"f": "caf\xe9\n"})
	if o := p.edits("f", "caf", "the", false, "1 replacement(s) in f\n\n"+numbered(1, "the\uFFFD"), "the\xe9\n"); o.card.Text != "@@ -1 +1 @@\n-caf\uFFFD\n+the\uFFFD\n" {
		t.Errorf("%+v", o.card)
	}
}

func TestFinalNewlineIsNeitherLostNorInvented(t *testing.T) {
	for _, c := range []struct{ content, old, with, holds string }{
		{"one\ntwo\nthree", "two", "2", "one\n2\nthree"},
		{"one\ntwo\nthree", "three", "3", "one\ntwo\n3"},
		{"abc\n", "abc", "x", "x\n"},
		{"abc\n", "abc\n", "x", "x"},
		{"abc", "abc", "x\n", "x\n"},
		{"abc\n", "abc\n", "", ""},
	} {
		p := given(t, files{"f": c.content})
		p.call("read_file", args{"path": "f"})
		p.call("edit_file", args{"path": "f", "old_string": c.old, "new_string": c.with})
		p.holds("f", c.holds)
		p.call("write_file", args{"path": "f", "content": c.content})
		p.holds("f", c.content)
	}
}

func TestWhitespaceIsMatchedExactly(t *testing.T) {
	const text = "all:\n\tgo build\n\tgo test\n        spaces\n"
	const lost = "old_string not found in Makefile — it must match the file content exactly, whitespace included; read the file again if unsure"
	p := given(t, files{"Makefile": text})
	p.edits("Makefile", "        go build", "\tgo vet", false, lost, text)
	p.edits("Makefile", "     2\t\tgo build", "\tgo vet", false, lost, text)
	p.edits("Makefile", "go build ", "go vet ", false, lost, text)
	p.edits("Makefile", "\tgo build", "\tgo vet", false, "1 replacement(s) in Makefile\n\n"+numbered(1, "all:", "\tgo vet", "\tgo test", "        spaces"),
		"all:\n\tgo vet\n\tgo test\n        spaces\n")
}

func TestAnEditCannotGrowWithoutBounds(t *testing.T) {
	p := given(t, files{"f": strings.Repeat("a", 1<<20)})
	p.edits("f", "a", strings.Repeat("b", 1000), true, "cannot write f: the result would be larger than 256.0 MB", strings.Repeat("a", 1<<20))
}

// Every byte outside of the matches stays, and each match becomes the new text.
func TestEditKeepsEveryByteOutside(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "\n", "\r\n", "\r", "\xe9", "\uFEFF", "é", "\x00", " ", "\t", "$1", "ab"})
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOf(piece).Draw(t, "content"), "")
		old := strings.Join(rapid.SliceOfN(piece, 1, 3).Draw(t, "old"), "")
		with := strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, "new"), "")
		all := rapid.Bool().Draw(t, "all")
		checkReplace(t, []byte(content), old, with, all)
	})
}

func checkReplace(t interface{ Fatalf(string, ...any) }, content []byte, old, with string, all bool) {
	before := bytes.Clone(content)
	r, n := replace(content, old, with, all)
	if !bytes.Equal(before, content) {
		t.Fatalf("the old content was changed")
	}
	if exact := bytes.Count(content, []byte(old)); exact == 0 {
		if n > 0 && (!allCRLF(content) || !strings.Contains(old, "\n")) {
			t.Fatalf("found without an exact match")
		}
		old, with = withCRLF(old), withCRLF(with)
	} else if n != exact {
		t.Fatalf("%d matches, there are %d", n, exact)
	}
	if n == 0 || n > 1 && !all {
		if r.content != nil || r.n != 0 {
			t.Fatalf("changed with %d matches", n)
		}
		return
	}
	// Cut the matches out of the old content by hand and put the new text in.
	var want []byte
	rest := content
	for range r.n {
		i := bytes.Index(rest, []byte(old))
		want = append(append(want, rest[:i]...), with...)
		rest = rest[i+len(old):]
	}
	want = append(want, rest...)
	if !bytes.Equal(r.content, want) || r.at != bytes.Index(content, []byte(old)) {
		t.Fatalf("%q became %q at %d, want %q", content, r.content, r.at, want)
	}
	if s := r.around(); !utf8.ValidString(s) || len(s) > 7*(lineWidth+20) {
		t.Fatalf("around is %q", s)
	}
}

func FuzzReplace(f *testing.F) {
	f.Add([]byte("a\r\nb\r\n"), "a\nb", "x\ny", false)
	f.Add([]byte("\xef\xbb\xbfx"), "x", "", true)
	f.Add([]byte("caf\xe9"), "caf", "$1", false)
	f.Add([]byte("aaa"), "aa", "b", true)
	f.Fuzz(func(t *testing.T, content []byte, old, with string, all bool) {
		if old == "" || len(content)*(len(with)+1) > 1<<24 {
			return
		}
		checkReplace(t, content, old, with, all)
	})
}

func TestDiffsOfLargeChangesAreBounded(t *testing.T) {
	var before, after strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&before, "line %d\n", i)
		fmt.Fprintf(&after, "other %d\n", i*7)
	}
	const around = "1\n2\n3\n4\n"
	c := diff(spot{rel: "f"}, []byte(around+before.String()+around), []byte(around+after.String()+around))
	if c == nil || c.Added != 150_000 || c.Removed != 150_000 || len(c.Text) > maxCard+100 || !strings.HasSuffix(c.Text, " more lines not shown\n") ||
		!strings.HasPrefix(c.Text, "@@ -5,150000 +5,150000 @@\n-line 0\n") {
		t.Fatalf("%d bytes, +%d -%d, ends with %q", len(c.Text), c.Added, c.Removed, c.Text[len(c.Text)-80:])
	}
	wide := strings.Repeat("é", maxCard)
	if c := diff(spot{rel: "f"}, nil, []byte(wide)); len(c.Text) > maxCard+100 || !utf8.ValidString(c.Text) || c.Added != 1 {
		t.Errorf("%d bytes", len(c.Text))
	}
	if c := diff(spot{rel: "f"}, []byte("a\nb\n"), []byte("a\nb\n")); c != nil {
		t.Errorf("%+v", c)
	}
	if c := diff(spot{rel: "f"}, []byte("\xe9\n"), []byte("\xe8\n")); c == nil || c.Text != "@@ -1 +1 @@\n-\uFFFD\n+\uFFFD\n" {
		t.Errorf("%+v", c)
	}
}

// The hunks of any change lead from the old text to the new one.
func TestDiffsApply(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "a", "-x\n", "+y\n", "@@\n"})
	rapid.Check(t, func(t *rapid.T) {
		a := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "a"), "")
		b := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "b"), "")
		c := diff(spot{rel: "f"}, []byte(a), []byte(b))
		if c == nil {
			if a != b {
				t.Fatal("no diff of different texts")
			}
			return
		}
		if got := apply(t, a, c.Text); got != b {
			t.Fatalf("%q with\n%s is %q, want %q", a, c.Text, got, b)
		}
	})
}

// apply is a patch program of a few lines.
func apply(t *rapid.T, a, hunks string) string {
	old := strings.SplitAfter(a, "\n")
	var out strings.Builder
	at := 0
	var kind byte // of the line before
	for text := range strings.Lines(hunks) {
		before := kind
		kind = text[0]
		if strings.HasPrefix(text, "@@ -") {
			var from, n int
			if _, err := fmt.Sscanf(text, "@@ -%d,%d", &from, &n); err != nil {
				n = 1
			}
			if n > 0 {
				from--
			}
			for ; at < from; at++ {
				out.WriteString(old[at])
			}
			continue
		}
		if strings.HasPrefix(text, "\\") {
			if s := strings.TrimSuffix(out.String(), "\n"); before != '-' {
				out.Reset()
				out.WriteString(s)
			}
			continue
		}
		switch body := text[1:]; text[0] {
		case '+':
			out.WriteString(body)
		case ' ', '-':
			if strings.TrimSuffix(old[at], "\n") != strings.TrimSuffix(body, "\n") {
				t.Fatalf("hunk says %q where there is %q", body, old[at])
			}
			if text[0] == ' ' {
				out.WriteString(old[at])
			}
			at++
		}
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return out.String()
}
