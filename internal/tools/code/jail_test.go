package code

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jig/internal/tool"
)

func TestJailOnUnix(t *testing.T) {
	for _, c := range []struct {
		root, arg, rel string
		fail           *tool.Failure
	}{
		{"/p", "a/b", "a/b", nil},
		{"/p", ".", ".", nil},
		{"/p", "", ".", nil},
		{"/p", "./a/../b//c/", "b/c", nil},
		{"/p", "a/../../p/b", "b", nil},
		{"/p", "/p", ".", nil},
		{"/p", "/p/", ".", nil},
		{"/p", "/p/a", "a", nil},
		{"/p", "/p/../p/a", "a", nil},
		{"/p", "..", "", outside},
		{"/p", "../secrets", "", outside},
		{"/p", "a/../../secrets", "", outside},
		{"/p", "/", "", outside},
		{"/p", "/px", "", outside},
		{"/p", "/etc/passwd", "", outside},
		{"/p", "/P/a", "", outside},
		{"/", "/etc/passwd", "etc/passwd", nil},
		{"/", "../../x", "x", nil},
		{"/p", `..\secrets`, `..\secrets`, nil},
		{"/p", "...", "...", nil},
		{"/p", "CON", "CON", nil},
	} {
		rel, fail := confine("linux", c.root, c.arg)
		if rel != c.rel || fail != c.fail {
			t.Errorf("%s: %q leads to %q, %v; want %q, %v", c.root, c.arg, rel, fail, c.rel, c.fail)
		}
	}
}

func TestJailOnWindows(t *testing.T) {
	const root = `C:\Users\me\proj`
	for _, c := range []struct {
		root, arg, rel string
		fail           *tool.Failure
	}{
		{root, `src\main.rs`, "src/main.rs", nil},
		{root, "src/main.rs", "src/main.rs", nil},
		{root, `C:\Users\me\proj\a`, "a", nil},
		{root, `c:/users/ME/Proj/Src`, "Src", nil},
		{root, `\Users\me\proj\a`, "a", nil},
		{root, `..\proj\a`, "a", nil},
		{root, `.`, ".", nil},
		{root, `a b\[id]\x.ts`, "a b/[id]/x.ts", nil},
		{root, `..\secrets`, "", outside},
		{root, `src\..\..\secrets`, "", outside},
		{root, `..\..\..\..\..\x`, "", outside},
		{root, `C:\Users\me\project2`, "", outside},
		{root, `D:\Users\me\proj\a`, "", outside},
		{root, `C:a`, "", outside},
		{root, `C:`, "", outside},
		{root, `\Windows`, "", outside},
		{root, `\\server\share\a`, "", outside},
		{root, `//server/share/a`, "", outside},
		{root, `\\?\C:\Users\me\proj\a`, "", outside},
		{root, `\\.\C:\Users\me\proj\a`, "", outside},
		{root, `\??\C:\x`, "", outside},
		{root, `\\`, "", outside},
		{root, `NUL`, "", unusable},
		{root, `con.txt`, "", unusable},
		{root, `src\COM1`, "", unusable},
		{root, `src\lpt9.log`, "", unusable},
		{root, `COM¹`, "", unusable},
		{root, `conin$`, "", unusable},
		{root, `aux .c`, "", unusable},
		{root, `.. \secrets`, "", unusable},
		{root, `...\secrets`, "", unusable},
		{root, `a.\b`, "", unusable},
		{root, `a \b`, "", unusable},
		{root, `file.txt:stream`, "", unusable},
		{root, `what?`, "", unusable},
		{root, "a\tb", "", unusable},
		{root, `console.txt`, "console.txt", nil},
		{root, `com10`, "com10", nil},
		{root, `.gitignore`, ".gitignore", nil},
		{`\\server\share\proj`, `a`, "a", nil},
		{`\\server\share\proj`, `\\SERVER\share\proj\a`, "a", nil},
		{`\\server\share\proj`, `\\server\second\proj\a`, "", outside},
		{`\\server\share\proj`, `..\..\..\x`, "", outside},
		{`C:\`, `Windows`, "Windows", nil},
	} {
		rel, fail := confine("windows", c.root, c.arg)
		if rel != c.rel || fail != c.fail {
			t.Errorf("%s: %q leads to %q, %v; want %q, %v", c.root, c.arg, rel, fail, c.rel, c.fail)
		}
	}
}

// Whatever is written, what comes out is clean, relative and climbs nowhere.
func TestNothingLeadsOutOfTheJail(t *testing.T) {
	part := rapid.SampledFrom([]string{"..", ".", "a", "b.txt", "", " ", "..  ", "C:", "p", "~", "...", "NUL", "\\", "x\\..", "//?"})
	rapid.Check(t, func(t *rapid.T) {
		goos := rapid.SampledFrom([]string{"linux", "windows"}).Draw(t, "goos")
		sep := rapid.SampledFrom([]string{"/", "\\"}).Draw(t, "separator")
		root := map[string]string{"linux": "/p/q", "windows": `C:\p\q`}[goos]
		arg := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), sep)
		rel, fail := confine(goos, root, arg)
		if fail != nil {
			if rel != "" {
				t.Fatalf("%q is refused and leads to %q", arg, rel)
			}
			return
		}
		if rel != path.Clean(rel) || path.IsAbs(rel) || rel == ".." || strings.HasPrefix(rel, "../") {
			t.Fatalf("%q leads to %q", arg, rel)
		}
		if goos == "windows" && strings.ContainsAny(rel, `\:`) {
			t.Fatalf("%q leads to %q", arg, rel)
		}
	})
}

func FuzzJail(f *testing.F) {
	for _, s := range []string{"a/b", "../x", `C:\x`, `\\?\C:\x`, "~", "/p/q/../../x", ".. /x", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		for goos, root := range map[string]string{"linux": "/p/q", "windows": `C:\p\q`} {
			rel, fail := confine(goos, root, arg)
			if fail == nil && (rel != path.Clean(rel) || path.IsAbs(rel) || rel == ".." || strings.HasPrefix(rel, "../")) {
				t.Fatalf("%s: %q leads to %q", goos, arg, rel)
			}
		}
	})
}

func TestPathsOutsideAreRefusedByEveryTool(t *testing.T) {
	p := given(t, files{"a": "x\n", "d/": ""})
	for name, rest := range map[string]args{
		"glob": {"pattern": "*"}, "grep": {"pattern": "x"}, "list_dir": {}, "read_file": {},
		"edit_file": {"old_string": "x", "new_string": "y"}, "write_file": {"content": "x"},
	} {
		for _, arg := range []string{"../secrets", "/etc/passwd", p.root + "x", "d/../..", "..", "~/x", "~", "file:///etc/passwd", " ../secrets\n"} {
			rest["path"] = arg
			p.says("path is outside the project root ("+p.root+"): "+shown(arg), name, rest)
		}
	}
	for _, pattern := range []string{"/etc/*", "../*.go", "~/*.md"} {
		p.says("path is outside the project root ("+p.root+"): "+pattern, "glob", args{"pattern": pattern})
		p.says("path is outside the project root ("+p.root+"): "+pattern, "grep", args{"pattern": "x", "include": pattern})
	}
	p.clean(".", "a", "d")
}

func TestNamesThatWindowsCannotHoldAreRefusedThere(t *testing.T) {
	p := given(t, files{"a": "x\n"})
	p.set = newSet("windows", `C:\proj`, Config{})
	for name, rest := range map[string]args{
		"glob": {"pattern": "*"}, "grep": {"pattern": "x"}, "list_dir": {}, "read_file": {},
		"edit_file": {"old_string": "x", "new_string": "y"}, "write_file": {"content": "x"},
	} {
		rest["path"] = `src\NUL`
		p.says(`path is not one that Windows can name safely: src\NUL`, name, rest)
		rest["path"] = `..\x`
		p.says(`path is outside the project root (C:\proj): ..\x`, name, rest)
	}
	p.says(`path is outside the project root (C:\proj): D:\x\*.go`, "glob", args{"pattern": `D:\x\*.go`})
}
