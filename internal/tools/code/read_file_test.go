package code

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// numbered is rows as read_file prints them.
func numbered(from int, lines ...string) string {
	for i := range lines {
		lines[i] = fmt.Sprintf("%6d\t%s", from+i, lines[i])
	}
	return strings.Join(lines, "\n")
}

func TestReadFileServesNumberedLines(t *testing.T) {
	p := given(t, files{"a": "one\ntwo\n\nfour\n", "open": "one\ntwo", "nl": "\n", "empty": "", "mark": "\uFEFF", "b/c": "x\n"})
	p.says(numbered(1, "one", "two", "", "four"), "read_file", args{"path": "a"})
	p.says(numbered(1, "one", "two"), "read_file", args{"path": "open"})
	p.says(numbered(1, ""), "read_file", args{"path": "nl"})
	p.says("[file is empty]", "read_file", args{"path": "empty"})
	p.says("[file is empty]", "read_file", args{"path": "empty", "offset": 5})
	p.says("[file is empty]", "read_file", args{"path": "mark"})
	p.says(numbered(1, "x"), "read_file", args{"path": p.path("b/c")})
}

func TestReadFileWindows(t *testing.T) {
	p := given(t, files{"a": "1\n2\n3\n4\n5\n"})
	for _, c := range []struct {
		offset, limit any
		want          string
	}{
		{nil, nil, numbered(1, "1", "2", "3", "4", "5")},
		{1, 5, numbered(1, "1", "2", "3", "4", "5")},
		{1, 9, numbered(1, "1", "2", "3", "4", "5")},
		{0, 0, numbered(1, "1", "2", "3", "4", "5")},
		{-3, -1, numbered(1, "1", "2", "3", "4", "5")},
		{2, nil, numbered(2, "2", "3", "4", "5") + "\n[showing lines 2-5 of 5]"},
		{1, 2, numbered(1, "1", "2") + "\n[showing lines 1-2 of 5]"},
		{"3", "2", numbered(3, "3", "4") + "\n[showing lines 3-4 of 5]"},
		{5, 1, numbered(5, "5") + "\n[showing lines 5-5 of 5]"},
		{5, 1 << 62, numbered(5, "5") + "\n[showing lines 5-5 of 5]"},
		{6, nil, "offset 6 is past the end of a (5 lines)"},
	} {
		p.says(c.want, "read_file", args{"path": "a", "offset": c.offset, "limit": c.limit})
	}
}

func TestReadFileStopsAtTheCap(t *testing.T) {
	line := strings.Repeat("x", 100)
	p := given(t, files{"a": strings.Repeat(line+"\n", 1000), "wide": strings.Repeat("é", 40000) + "\nsecond\n", "one": strings.Repeat("y", 70000),
		"bytes": strings.Repeat("\xff", 65536), "edge": strings.Repeat("z", 65536-7), "over": strings.Repeat("z", 65536-6)})
	o := p.call("read_file", args{"path": "a"})
	rows := strings.Split(o.text, "\n")
	shown := len(rows) - 1
	if want := fmt.Sprintf("[output truncated — showing lines 1-%d of 1000; call read_file with offset=%d to continue]", shown, shown+1); rows[shown] != want {
		t.Errorf("ends with %q, want %q", rows[shown], want)
	}
	if want := numbered(shown, line); rows[shown-1] != want || len(o.text) < 65536-2*108 {
		t.Errorf("%d bytes; the last row is %q", len(o.text), rows[shown-1])
	}
	next := p.call("read_file", args{"path": "a", "offset": shown + 1, "limit": 1})
	if want := numbered(shown+1, line) + fmt.Sprintf("\n[showing lines %d-%d of 1000]", shown+1, shown+1); next.text != want {
		t.Errorf("%q", next.text)
	}
	for path, c := range map[string]struct{ char, note string }{
		"wide":  {"é", "\n[output truncated — showing lines 1-1 of 2; call read_file with offset=2 to continue]"},
		"one":   {"y", "\n[output truncated — showing lines 1-1 of 1; call read_file with offset=2 to continue]"},
		"over":  {"z", "\n[output truncated — showing lines 1-1 of 1; call read_file with offset=2 to continue]"},
		"bytes": {"\uFFFD", "\n[output truncated — showing lines 1-1 of 1; call read_file with offset=2 to continue]"},
	} {
		o := p.call("read_file", args{"path": path})
		body, ok := strings.CutSuffix(o.text, "…"+c.note)
		if !ok || strings.Trim(body, c.char) != "     1\t" || len(o.text) < 65536-200 {
			t.Errorf("%s: %q", path, brief(o.text))
		}
	}
	p.says(numbered(1, strings.Repeat("z", 65536-7)), "read_file", args{"path": "edge"})
	p.says(numbered(2, "second")+"\n[showing lines 2-2 of 2]", "read_file", args{"path": "wide", "offset": 2})
}

func TestReadFileOfLargeFiles(t *testing.T) {
	p := given(t, files{"full": strings.Repeat("0123456789abcde\n", 20<<16)})
	p.says(numbered(1, "0123456789abcde")+"\n[showing lines 1-1 of 1310720]", "read_file", args{"path": "full", "limit": 1})

	// Text at first, then nothing but a hole: size decides, not what a binary check would find.
	f, err := os.Create(p.path("sparse"))
	p.must(err)
	_, err = f.WriteString(strings.Repeat("# text\n", 2000))
	p.must(err)
	p.must(f.Truncate(3 << 30))
	p.must(f.Close())
	p.says(numbered(1, "# text", "# text")+"\n[showing lines 1-2 of 2001]\n[file is 3072.0 MB; only the first 20 MB was read]",
		"read_file", args{"path": "sparse", "limit": 2})
	p.says("sparse is too large to edit (3072.0 MB)", "edit_file", args{"path": "sparse", "old_string": "text", "new_string": "x"})
	p.says("offset 3000 is past the end of sparse (2001 lines)", "read_file", args{"path": "sparse", "offset": 3000})
	p.says("no matches for text", "grep", args{"pattern": "text"})

	p.put("line", strings.Repeat("m", 100<<20))
	o := p.call("read_file", args{"path": "line"})
	want := "…\n[output truncated — showing lines 1-1 of 1; call read_file with offset=2 to continue]\n[file is 100.0 MB; only the first 20 MB was read]"
	if body, ok := strings.CutSuffix(o.text, want); !ok || strings.Trim(body, "m") != "     1\t" {
		t.Errorf("%q", brief(o.text))
	}
}

func TestReadFileRefusals(t *testing.T) {
	p := given(t, files{"d/f": "x\n", "utf16": "\xff\xfeh\x00i\x00", "late": strings.Repeat("a", 8000) + "\x00b", "nul": strings.Repeat("a", 7999) + "\x00", "big": "\x00" + strings.Repeat("b", 3<<20)})
	p.must(os.Symlink("loop", p.path("loop")))
	p.must(os.Symlink("nowhere", p.path("dangling")))
	for path, want := range map[string]string{
		"nope":                   "file does not exist: " + p.path("nope"),
		"d/f/g":                  "file does not exist: " + p.path("d/f/g"),
		"dangling":               "file does not exist: " + p.path("dangling"),
		"d":                      p.path("d") + " is a directory, not a file",
		".":                      p.root + " is a directory, not a file",
		"utf16":                  "utf16 looks like a binary file (6 B); read_file only serves text",
		"nul":                    "nul looks like a binary file (7.8 KB); read_file only serves text",
		"big":                    "big looks like a binary file (3.0 MB); read_file only serves text",
		"loop":                   "cannot read loop: too many levels of symbolic links",
		"x\x00":                  `cannot read "x\x00": invalid argument`,
		strings.Repeat("n", 300): "cannot read " + strings.Repeat("n", 300) + ": file name too long",
	} {
		p.says(want, "read_file", args{"path": path})
	}
	p.says(numbered(1, strings.Repeat("a", 8000)+"\uFFFDb"), "read_file", args{"path": "late"})
}

func TestWhatIsReadOfOtherEncodingsAndLineEnds(t *testing.T) {
	p := given(t, files{"latin1": "caf\xe9\n\xff\xff\n", "crlf": "a\r\nb\r\n", "mixed": "a\r\nb\nc\r\n", "mark": "\uFEFFimport os\n", "cr": "a\rb", "open": "a\r\nb"})
	for path, want := range map[string]string{
		"latin1": numbered(1, "caf\uFFFD", "\uFFFD\uFFFD"),
		"crlf":   numbered(1, "a", "b"),
		"mixed":  numbered(1, "a\r", "b", "c\r"),
		"mark":   numbered(1, "import os"),
		"cr":     numbered(1, "a\rb"),
		"open":   numbered(1, "a", "b"),
	} {
		p.says(want, "read_file", args{"path": path})
	}
}

func TestReadingFollowsLinks(t *testing.T) {
	outside := t.TempDir()
	p := given(t, files{"real": "x\n"})
	p.must(os.WriteFile(outside+"/o", []byte("out\n"), 0o644))
	p.must(os.Symlink("real", p.path("link")))
	p.must(os.Symlink(outside, p.path("away")))
	p.says(numbered(1, "x"), "read_file", args{"path": "link"})
	p.says(numbered(1, "out"), "read_file", args{"path": "away/o"})
	p.says("o (4 B)", "list_dir", args{"path": "away"})
	p.says("away/o:1: out", "grep", args{"pattern": "out", "path": "away"})
	p.says("away/o", "glob", args{"pattern": "o", "path": "away"})
	p.says("no matches for out", "grep", args{"pattern": "out"})
}
