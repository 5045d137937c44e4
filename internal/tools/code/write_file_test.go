package code

import (
	"os"
	"strings"
	"testing"
)

func TestWriteFile(t *testing.T) {
	p := given(t, files{"old": "1\n2\n", "d/": ""})
	o := p.says("wrote 1.2 KB to new/deep/x.txt (created)", "write_file", args{"path": "new/deep/x.txt", "content": strings.Repeat("x", 1229)})
	if o.card == nil || o.card.Added != 1 || o.card.Title != "new/deep/x.txt" {
		t.Errorf("%+v", o.card)
	}
	p.holds("new/deep/x.txt", strings.Repeat("x", 1229))
	p.clean("new/deep", "x.txt")
	p.says("wrote 2 B to new/deep/x.txt (overwritten)", "write_file", args{"path": "new/deep/x.txt", "content": "y\n"})
	p.says("old has not been read in this session — read it with read_file before modifying it", "write_file", args{"path": "old", "content": "x"})
	p.call("read_file", args{"path": "old", "limit": 1})
	o = p.says("wrote 6 B to old (overwritten)", "write_file", args{"path": "old", "content": "1\nzwei"})
	if o.card == nil || o.card.Text != "@@ -1,2 +1,2 @@\n 1\n-2\n+zwei\n\\ No newline at end of file\n" || o.card.Added != 1 || o.card.Removed != 1 {
		t.Errorf("%+v", o.card)
	}
	p.holds("old", "1\nzwei")
	o = p.says("wrote 6 B to old (overwritten)", "write_file", args{"path": "old", "content": "1\nzwei"})
	if o.card != nil {
		t.Errorf("nothing changed, and yet %+v", o.card)
	}
	p.says("wrote 0 B to old (overwritten)", "write_file", args{"path": "old", "content": ""})
	p.says("wrote 0 B to empty (created)", "write_file", args{"path": "empty", "content": ""})
	p.holds("old", "")
	p.holds("empty", "")
	p.says("d is a directory", "write_file", args{"path": "d", "content": "x"})
	p.says(". is a directory", "write_file", args{"path": ".", "content": "x"})
	p.says("nope is a directory", "write_file", args{"path": "nope/", "content": "x"})
	p.says("cannot write old/x: not a directory", "write_file", args{"path": "old/x", "content": "x"})
	p.says("cannot write "+strings.Repeat("n", 300)+": file name too long", "write_file", args{"path": strings.Repeat("n", 300), "content": "x"})
	p.clean(".", "d", "empty", "new", "old")
	info, err := os.Stat(p.path("empty"))
	p.must(err)
	if info.Mode().Perm() != 0o644 {
		t.Errorf("a new file has mode %v", info.Mode())
	}
}

func TestWriteFileWritesExactlyWhatItWasGiven(t *testing.T) {
	p := given(t, files{"f": "a\r\nb\r\n"})
	p.call("read_file", args{"path": "f"})
	for _, content := range []string{"a\nb\n", "no end", "\r\n\r", "\uFEFFx", "$1 %s \\n", "\u2028\uFFFD", "x\x00y"} {
		if o := p.call("write_file", args{"path": "f", "content": content}); o.err != nil {
			t.Error(o.err)
		}
		p.holds("f", content)
	}
}

func TestWriteFileOverAFileTooLargeToCompareShowsNoDiff(t *testing.T) {
	p := given(t, files{"f": strings.Repeat("0123456789abcde\n", 20<<16) + "more\n"})
	p.call("read_file", args{"path": "f", "limit": 1})
	prep, err := p.prepare("write_file", args{"path": "f", "content": "x\n"})
	p.must(err)
	if prep.Ask == nil || prep.Ask.Card != nil {
		t.Errorf("%+v", prep.Ask)
	}
	if o := p.run("write_file", prep); o.text != "wrote 2 B to f (overwritten)" || o.card != nil {
		t.Errorf("%q %+v", o.text, o.card)
	}
	p.holds("f", "x\n")
}
