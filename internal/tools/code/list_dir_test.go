package code

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestListDir(t *testing.T) {
	p := given(t, files{"src/": "", "Cargo.toml": strings.Repeat("x", 1229), "README.md": strings.Repeat("x", 39322), "big": strings.Repeat("x", 3<<19), "a": "1", "empty/": "", ".git/config": "c", ".gitignore": "a\n"})
	p.must(os.Symlink("src", p.path("link")))
	p.says(".git/\nempty/\nsrc/\n.gitignore (2 B)\nCargo.toml (1.2 KB)\nREADME.md (38.4 KB)\na (1 B)\nbig (1.5 MB)\nlink (3 B)", "list_dir", args{})
	p.says("[directory is empty]", "list_dir", args{"path": "empty/"})
	p.says("[directory is empty]", "list_dir", args{"path": "link"})
	p.says("config (1 B)", "list_dir", args{"path": ".git"})
	p.says("not a directory: ./a", "list_dir", args{"path": "./a"})
	p.says("not a directory: nope", "list_dir", args{"path": "nope"})
	p.says("not a directory: a/b", "list_dir", args{"path": "a/b"})
	p.must(os.Symlink("loop", p.path("loop")))
	p.says("cannot list loop: too many levels of symbolic links", "list_dir", args{"path": "loop"})
}

func TestListDirStopsAt500Entries(t *testing.T) {
	p := given(t, nil)
	var want []string
	for i := range 501 {
		p.put(fmt.Sprintf("f%03d", i), "")
		want = append(want, fmt.Sprintf("f%03d (0 B)", i))
	}
	p.says(strings.Join(want[:500], "\n")+"\n[showing 500 of 501 entries]", "list_dir", args{})
	p.must(os.Remove(p.path("f500")))
	p.says(strings.Join(want[:500], "\n"), "list_dir", args{})
}

func TestListDirStaysUnderTheCap(t *testing.T) {
	p := given(t, nil)
	for i := range 400 {
		p.put(fmt.Sprintf("%0250d", i), "")
	}
	o := p.call("list_dir", args{})
	rows := strings.Split(o.text, "\n")
	if want := fmt.Sprintf("[showing %d of 400 entries]", len(rows)-1); rows[len(rows)-1] != want || len(rows) < 250 {
		t.Errorf("%d rows, the last is %q", len(rows), rows[len(rows)-1])
	}
}
