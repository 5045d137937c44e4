package code

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// aged gives files times in the order they are named, the oldest first.
func (p *project) aged(names ...string) {
	p.Helper()
	for i, name := range names {
		at := time.Unix(1_700_000_000+int64(i), 0)
		p.must(os.Chtimes(p.path(name), at, at))
	}
}

func TestGlobFindsNewestFirst(t *testing.T) {
	p := given(t, files{"a.go": "", "src/b.go": "", "src/deep/c.go": "", "src/d.ts": "", ".git/e.go": "", ".hidden/f.go": "", "src/sub/.git/g.go": ""})
	p.aged("src/deep/c.go", "a.go", ".hidden/f.go", "src/b.go", "src/d.ts")
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"pattern": "*.go"}, "src/b.go\n.hidden/f.go\na.go\nsrc/deep/c.go"},
		{args{"pattern": "*.go", "path": "src"}, "src/b.go\nsrc/deep/c.go"},
		{args{"pattern": "src/*.go"}, "src/b.go"},
		{args{"pattern": "./src/*.go"}, "src/b.go"},
		{args{"pattern": p.root + "/src/*.go"}, "src/b.go"},
		{args{"pattern": "src/**/*.go"}, "src/b.go\nsrc/deep/c.go"},
		{args{"pattern": "src/**", "path": "src/deep"}, "src/deep/c.go"},
		{args{"pattern": "**/?.{go,ts}"}, "src/d.ts\nsrc/b.go\n.hidden/f.go\na.go\nsrc/deep/c.go"},
		{args{"pattern": "[ab].go"}, "src/b.go\na.go"},
		{args{"pattern": "*.rs"}, "no files match *.rs"},
		{args{"pattern": "src/*.rs", "path": "src"}, "no files match src/*.rs"},
		{args{"pattern": "nope/*.rs"}, "no files match nope/*.rs"},
		{args{"pattern": "a.go/*.rs"}, "no files match a.go/*.rs"},
		{args{"pattern": "src"}, "no files match src"},
		{args{"pattern": "*.[go"}, "invalid glob pattern: *.[go"},
		{args{"pattern": "src/{a,b"}, "invalid glob pattern: src/{a,b"},
		{args{"pattern": "*.go", "path": "a.go"}, "not a directory: a.go"},
		{args{"pattern": "*.go", "path": "./nope"}, "not a directory: ./nope"},
	} {
		p.says(c.want, "glob", c.a)
	}
	p.aged("a.go", "src/b.go")
	same := time.Unix(1_800_000_000, 0)
	for _, name := range []string{"src/deep/c.go", "a.go", "src/b.go", ".hidden/f.go"} {
		p.must(os.Chtimes(p.path(name), same, same))
	}
	p.says(".hidden/f.go\na.go\nsrc/b.go\nsrc/deep/c.go", "glob", args{"pattern": "*.go"})
}

func TestGlobShows200OfWhatItFound(t *testing.T) {
	p := given(t, nil)
	var want []string
	for i := range 201 {
		name := fmt.Sprintf("f%03d", i)
		p.put(name, "")
		p.must(os.Chtimes(p.path(name), time.Unix(int64(9000-i), 0), time.Unix(int64(9000-i), 0)))
		want = append(want, name)
	}
	p.says(strings.Join(want[:200], "\n")+"\n[showing the 200 newest of 201 matches; narrow the pattern to see the rest]", "glob", args{"pattern": "*"})
	p.says(strings.Join(want[:200], "\n"), "glob", args{"pattern": "f[01]*"})
}

func TestGlobCollectsAtMost10000(t *testing.T) {
	t.Parallel()
	p := given(t, nil)
	for i := range 10_003 {
		p.must(os.Symlink("x", p.path(fmt.Sprintf("%05d", i)))) // quicker than files
	}
	o := p.call("glob", args{"pattern": "*"})
	rows := strings.Split(o.text, "\n")
	if len(rows) != 201 || rows[200] != "[showing the 200 newest of 10000 matches; narrow the pattern to see the rest]" {
		t.Errorf("%d rows, the last is %q", len(rows), rows[len(rows)-1])
	}
}

func TestGlobStaysUnderTheCap(t *testing.T) {
	p := given(t, nil)
	dir := strings.Repeat(strings.Repeat("d", 200)+"/", 3)
	for i := range 199 {
		p.put(dir+fmt.Sprintf("%0100d", i), "")
	}
	o := p.call("glob", args{"pattern": "0*"})
	rows := strings.Split(o.text, "\n")
	if want := fmt.Sprintf("[showing the %d newest of 199 matches; narrow the pattern to see the rest]", len(rows)-1); rows[len(rows)-1] != want || len(rows) < 80 {
		t.Errorf("%d rows, the last is %q", len(rows), rows[len(rows)-1])
	}
}

func TestIgnoredFilesAreLeftOutUnlessTheyAreNamed(t *testing.T) {
	p := given(t, files{".gitignore": "dist/\nnode_modules\n*.log\n.env\n!keep.log\n", "dist/app.js": "needle\n", "app.js": "needle\n",
		"lib/node_modules/x/package.json": "needle\n", "a.log": "needle\n", "keep.log": "needle\n", ".env": "needle\n", "sub/.gitignore": "y\n", "sub/y": "needle\n"})
	p.aged("sub/y", "keep.log", "app.js", ".gitignore", "sub/.gitignore")
	for pattern, want := range map[string]string{
		"*":                                "sub/.gitignore\n.gitignore\napp.js\nkeep.log\nsub/y",
		"*.js":                             "app.js",
		"*.log":                            "keep.log",
		"a.*":                              "no files match a.*",
		"dist/app.js":                      "dist/app.js",
		"dist/**":                          "dist/app.js",
		"**/node_modules/x/package.json":   "lib/node_modules/x/package.json",
		"lib/node_modules/**/package.json": "lib/node_modules/x/package.json",
		"package.json":                     "no files match package.json",
		".env":                             ".env",
		"a.log":                            "a.log",
	} {
		p.says(want, "glob", args{"pattern": pattern})
	}
	p.says("dist/app.js", "glob", args{"pattern": "*.js", "path": "dist"})
	p.says("app.js:1: needle\nkeep.log:1: needle\nsub/y:1: needle", "grep", args{"pattern": "needle"})
	p.says("dist/app.js:1: needle", "grep", args{"pattern": "needle", "path": "dist"})
	p.says("dist/app.js:1: needle", "grep", args{"pattern": "needle", "include": "dist/*"})
	p.says(numbered(1, "needle"), "read_file", args{"path": "dist/app.js"})

	// Rules are read anew for each call, and git follows no link to them.
	p.put(".gitignore", "app.js\n")
	p.says("no files match app.j[s]", "glob", args{"pattern": "app.j[s]", "path": "sub"})
	p.says("a.log", "glob", args{"pattern": "a.lo[g]"})
	p.must(os.Remove(p.path(".gitignore")))
	p.put("rules", "app.js\n")
	p.must(os.Symlink("rules", p.path(".gitignore")))
	p.says("dist/app.js\napp.js", "glob", args{"pattern": "app.j[s]", "path": "."})
}

func TestLinksInATreeEndAndAreNotFollowed(t *testing.T) {
	p := given(t, files{"real/a.md": "needle\n"})
	p.must(os.Symlink("/nope", p.path("broken.md")))
	p.must(os.Symlink(".", p.path("loop")))
	p.must(os.Symlink("real", p.path("db")))
	p.must(os.Symlink("self", p.path("self")))
	p.aged("real/a.md")
	p.says("broken.md\nreal/a.md", "glob", args{"pattern": "**/*.md"})
	p.says("real/a.md:1: needle", "grep", args{"pattern": "needle"})
	p.says("db/a.md:1: needle", "grep", args{"pattern": "needle", "path": "db"})
	p.says("cannot list self: too many levels of symbolic links", "grep", args{"pattern": "needle", "path": "self"})
	p.says("cannot list self: too many levels of symbolic links", "glob", args{"pattern": "*", "path": "self"})
}
