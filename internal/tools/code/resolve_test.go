package code

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHomeIsExpandedBeforeTheBoundaryIsChecked(t *testing.T) {
	p := given(t, files{"home/notes.md": "hi\n", "~x": "tilde\n"})
	p.set = newSet("linux", p.root, Config{Home: p.path("home")})
	p.says("     1\thi", "read_file", args{"path": "~/notes.md"})
	p.says("home/notes.md", "glob", args{"pattern": "~/*.md"})
	p.says("home/notes.md:1: hi", "grep", args{"pattern": "hi", "path": "~"})
	p.says("notes.md (3 B)", "list_dir", args{"path": " ~\n"})
	p.says("wrote 1 B to home/x/y (created)", "write_file", args{"path": "~/x/y", "content": "1"})
	p.says("1 replacement(s) in home/notes.md\n\n     1\tho", "edit_file", args{"path": "~/notes.md", "old_string": "hi", "new_string": "ho"})
	p.says("     1\ttilde", "read_file", args{"path": "~x"})
	p.clean(".", "home", "~x")
	p.set = newSet("linux", p.root, Config{Home: filepath.Dir(p.root)})
	p.says("path is outside the project root ("+p.root+"): ~/x/y", "write_file", args{"path": "~/x/y", "content": "1"})
	p.says("path is outside the project root ("+p.root+"): ~/*.md", "glob", args{"pattern": "~/*.md"})
	p.set = newSet("windows", `C:\p`, Config{Home: `C:\Users\me`})
	p.says(`path is outside the project root (C:\p): ~\x`, "read_file", args{"path": `~\x`})
}

func TestSpellingsOfHabit(t *testing.T) {
	p := given(t, files{"README.md": "r\n", "a b.txt": "ab\n", " pad ": "pad\n", "@types/x.d.ts": "t\n", "types/x.d.ts": "plain\n", "types/y.d.ts": "y\n", "file:/odd": "odd\n"})
	for path, want := range map[string]string{
		"README.md\n": "r", " README.md ": "r", "@README.md": "r", "file://" + p.path("README.md"): "r", "FILE://localhost" + p.path("README.md"): "r",
		"file://" + p.path("a%20b.txt"): "ab", "a b.txt": "ab", " pad ": "pad", `"README.md"`: "r",
		"@types/x.d.ts": "t", "@types/y.d.ts": "y", "file:///odd": "odd",
	} {
		p.says("     1\t"+want, "read_file", args{"path": path})
	}
	p.says("file does not exist: "+p.path("@nope.md"), "read_file", args{"path": "@nope.md"})
	p.says("file does not exist: "+p.path("nope.md"), "read_file", args{"path": "file://" + p.path("nope.md") + "\n"})
	p.says("path is outside the project root ("+p.root+"): file:///p", "read_file", args{"path": "file:///p"})
	p.says("file does not exist: "+p.path("file:/other/p"), "read_file", args{"path": "file://other/p"})

	// A new file is named as it is written, but for what cannot be meant.
	p.says("wrote 1 B to @types/y.d.ts (created)", "write_file", args{"path": "@types/y.d.ts", "content": "1"})
	p.says("wrote 1 B to new.txt (created)", "write_file", args{"path": " new.txt\n", "content": "1"})
	p.says("wrote 1 B to url.txt (created)", "write_file", args{"path": "file://" + p.path("url.txt"), "content": "1"})
	p.holds("types/y.d.ts", "y\n")
	p.clean(".", "README.md", "a b.txt", " pad ", "@types", "types", "file:", "new.txt", "url.txt")
}

const (
	nfc = "caf\u00e9.txt"
	nfd = "cafe\u0301.txt"
)

func TestNamesThatDifferOnlyInUnicodeForm(t *testing.T) {
	p := given(t, files{nfd: "d\n", "Shot 9.41\u202fAM.txt": "shot\n", "It\u2019s": "its\n",
		"vie\u0323\u0302t/x": "viet\n", "\u1112\u1161\u11ab": "han\n"})
	for path, want := range map[string]string{
		nfc: "d", nfd: "d", "Shot 9.41 AM.txt": "shot", "It's": "its", "vi\u1ec7t/x": "viet", "vi\u00ea\u0323t/x": "viet", "\ud55c": "han",
	} {
		p.says("     1\t"+want, "read_file", args{"path": path})
	}
	p.says("[directory is empty]", "list_dir", args{"path": mkdir(p, "u\u0308")})
	p.says("x (5 B)", "list_dir", args{"path": "vi\u1ec7t"})
	p.says("vie\u0323\u0302t/x:1: viet", "grep", args{"pattern": "viet", "path": "vi\u1ec7t"})
	p.says("1 replacement(s) in "+nfd+"\n\n     1\tD", "edit_file", args{"path": nfc, "old_string": "d", "new_string": "D"})

	// What looks the same is overwritten, not doubled; a name that is only similar is a new one.
	p.says("wrote 2 B to "+nfd+" (overwritten)", "write_file", args{"path": nfc, "content": "e\n"})
	p.says("wrote 2 B to It's (created)", "write_file", args{"path": "It's", "content": "2\n"})
	p.holds("It\u2019s", "its\n")

	p.put("It\u2018s x", "")
	p.put("It\u2019s x", "")
	p.says(`It's x does not exist, and several names differ from it only in their Unicode form: "It\u2018s x", "It\u2019s x"`,
		"read_file", args{"path": "It's x"})
	p.says("     1\t2", "read_file", args{"path": "It's"})
}

func mkdir(p *project, name string) string {
	p.put(name+"/", "")
	return name
}

func TestAmbiguousNamesAreToldByEveryTool(t *testing.T) {
	p := given(t, files{"o\u0302\u0323/a": "", "o\u0323\u0302/a": ""})
	for name, rest := range map[string]args{
		"glob": {"pattern": "*"}, "grep": {"pattern": "x"}, "list_dir": {}, "read_file": {},
		"edit_file": {"old_string": "x", "new_string": "y"}, "write_file": {"content": "x"},
	} {
		rest["path"] = "\u1ed9"
		p.says("\u1ed9 does not exist, and several names differ from it only in their Unicode form: "+
			`"o\u0302\u0323", "o\u0323\u0302"`, name, rest)
	}
}

func TestNamesThatWouldBreakALineAreQuotedAndFoundAgain(t *testing.T) {
	p := given(t, files{"two\nlines.txt": "needle\n", "latin\xe9.txt": "needle\n", "-rf": "needle\n", "esc\x1b[31m": "needle\n"})
	if _, err := os.Lstat(p.path("latin\xe9.txt")); err != nil {
		t.Fatal("this file system refuses names that are no UTF-8: ", err)
	}
	p.says("-rf:1: needle\n\"esc\\x1b[31m\":1: needle\nlatin\uFFFD.txt:1: needle\n\"two\\nlines.txt\":1: needle", "grep", args{"pattern": "needle"})
	p.says("-rf (7 B)\n\"esc\\x1b[31m\" (7 B)\nlatin\uFFFD.txt (7 B)\n\"two\\nlines.txt\" (7 B)", "list_dir", args{})
	for _, path := range []string{"two\nlines.txt", `"two\nlines.txt"`, "latin\uFFFD.txt", "-rf", `"esc\x1b[31m"`} {
		p.says("     1\tneedle", "read_file", args{"path": path})
	}
	o := p.says("1 replacement(s) in \"two\\nlines.txt\"\n\n     1\tpin", "edit_file", args{"path": `"two\nlines.txt"`, "old_string": "needle", "new_string": "pin"})
	if o.Title != `[edit_file "two\nlines.txt"]` {
		t.Error(o.Title)
	}
	p.says("file does not exist: \""+p.root+"/no\\nfile\"", "read_file", args{"path": "no\nfile"})
	p.says("\"two\\nlines.txt\"", "glob", args{"pattern": "two*"})
}

func TestBracketsDashesAndSpacesInPaths(t *testing.T) {
	p := given(t, files{"app/users/[id]/page.tsx": "needle\n", "app/users/i/page.tsx": "needle\n", "app/[...slug]/x.ts": "x\n", "(group)/p.tsx": "p\n",
		"-rf": "one\n", "--no-verify": "--no-verify -> Result\n"})
	p.says("app/users/[id]/page.tsx", "glob", args{"pattern": "app/users/[id]/*.tsx"})
	p.says("app/users/[id]/page.tsx:1: needle", "grep", args{"pattern": "needle", "path": "app/users/[id]"})
	p.says("app/users/[id]/page.tsx:1: needle", "grep", args{"pattern": "needle", "include": "app/users/[id]/*"})
	p.says("app/users/[id]/page.tsx:1: needle\napp/users/i/page.tsx:1: needle", "grep", args{"pattern": "needle"})
	p.says("page.tsx (7 B)", "list_dir", args{"path": "app/users/[id]"})
	p.says("app/[...slug]/x.ts", "glob", args{"pattern": "app/[...slug]/*.ts"})
	p.says("(group)/p.tsx", "glob", args{"pattern": "(group)/*"})
	p.says("     1\tone", "read_file", args{"path": "-rf"})
	p.says("--no-verify:1: --no-verify -> Result", "grep", args{"pattern": "--no-verify"})
	p.says("--no-verify:1: --no-verify -> Result", "grep", args{"pattern": "-> Result"})
	p.says("-rf:1: one", "grep", args{"pattern": "-*e", "include": "-rf"})
	p.says("no matches for --pre=touch x", "grep", args{"pattern": "--pre=touch x", "include": "-x"})
	p.says("-rf", "glob", args{"pattern": "-r*"})
}
