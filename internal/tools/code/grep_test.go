package code

import (
	"fmt"
	"strings"
	"testing"
)

func TestGrep(t *testing.T) {
	p := given(t, files{
		"cmd/main.go": "package main\n\nfunc main() {\n\tstart()\n}\n\nfunc start() {}\n", "lib/x.rs": "fn start() {}\n",
		"bin": "start\x00", ".git/x": "start\n", "mark": "\uFEFFstart here\n", "latin1": "caf\xe9 start\n", "crlf": "start\r\nx\r\n",
	})
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"pattern": `start\(`}, "cmd/main.go:4: \tstart()\ncmd/main.go:7: func start() {}\nlib/x.rs:1: fn start() {}"},
		{args{"pattern": " start"}, "cmd/main.go:7: func start() {}\nlatin1:1: caf\uFFFD start\nlib/x.rs:1: fn start() {}"},
		{args{"pattern": "^start"}, "crlf:1: start\nmark:1: start here"},
		{args{"pattern": `start\(`, "path": "lib"}, "lib/x.rs:1: fn start() {}"},
		{args{"pattern": `start\(`, "include": "*.go"}, "cmd/main.go:4: \tstart()\ncmd/main.go:7: func start() {}"},
		{args{"pattern": `start\(`, "include": "cmd/**", "path": "."}, "cmd/main.go:4: \tstart()\ncmd/main.go:7: func start() {}"},
		{args{"pattern": `start\(`, "include": "lib/*", "path": "cmd"}, `no matches for start\(`},
		{args{"pattern": `start\(\)$`, "context": 1}, "cmd/main.go:3- func main() {\ncmd/main.go:4: \tstart()\ncmd/main.go:5- }"},
		{args{"pattern": `start\(`, "include": "main.go", "context": "2"},
			"cmd/main.go:2- \ncmd/main.go:3- func main() {\ncmd/main.go:4: \tstart()\ncmd/main.go:5- }\ncmd/main.go:6- \ncmd/main.go:7: func start() {}"},
		{args{"pattern": "Start"}, "no matches for Start"},
		{args{"pattern": "  "}, "no matches for   "},
		{args{"pattern": "x", "include": "[a"}, "invalid include pattern: [a"},
		{args{"pattern": "x", "path": "mark"}, "not a directory: mark"},
		{args{"pattern": "x", "path": "./nope"}, "not a directory: ./nope"},
	} {
		p.says(c.want, "grep", c.a)
	}
	for _, pattern := range []string{"(", `(a)\1`, "(?=x)", "a{2,1}"} {
		if o := p.call("grep", args{"pattern": pattern}); !strings.HasPrefix(o.text, "invalid regular expression: ") || strings.Contains(o.text, "invalid pattern") || strings.Contains(o.text, "\n") || o.err == nil {
			t.Errorf("%s: %q", pattern, o.text)
		}
	}
}

func TestGrepContextIsClamped(t *testing.T) {
	var all []string
	for i := 1; i <= 40; i++ {
		all = append(all, fmt.Sprintf("l%d", i))
	}
	p := given(t, files{"a": strings.Join(all, "\n") + "\n"})
	var want []string
	for i := 10; i <= 30; i++ {
		sep := "-"
		if i == 20 {
			sep = ":"
		}
		want = append(want, fmt.Sprintf("a:%d%s l%d", i, sep, i))
	}
	p.says(strings.Join(want, "\n"), "grep", args{"pattern": "^l20$", "context": 99})
	p.says("a:20: l20", "grep", args{"pattern": "^l20$", "context": -5})
}

func TestGrepStopsAfter100Matches(t *testing.T) {
	const note = "\n[stopped after 100 matches; refine the pattern or use include to narrow the search]"
	hit := func(name string, n int) (rows []string) {
		for i := 1; i <= n; i++ {
			rows = append(rows, fmt.Sprintf("%s:%d: hit", name, i))
		}
		return rows
	}
	p := given(t, files{"a": strings.Repeat("hit\n", 60), "b": strings.Repeat("hit\n", 40)})
	all := append(hit("a", 60), hit("b", 40)...)
	p.says(strings.Join(all, "\n"), "grep", args{"pattern": "hit"})
	p.put("c", "before\nhit\n")
	p.says(strings.Join(all, "\n")+note, "grep", args{"pattern": "hit"})
	p.says(strings.Join(all, "\n")+note, "grep", args{"pattern": "hit", "context": 1})
	p.put("b", strings.Repeat("hit\n", 40)+"after\nmore\nhit\n")
	p.says(strings.Join(append(all, "b:41- after"), "\n")+note, "grep", args{"pattern": "hit", "context": 1})
}

func TestGrepStopsAtTheCapAndClipsLines(t *testing.T) {
	p := given(t, files{"a": strings.Repeat("x", 501) + "\n" + strings.Repeat("y", 500) + "\n" + strings.Repeat("é", 300) + "\n" + strings.Repeat("z", 2_000_000) + "\n"})
	p.says("a:1: "+strings.Repeat("x", 500)+"…\na:2: "+strings.Repeat("y", 500)+"\na:3: "+strings.Repeat("é", 250)+"…\na:4: "+strings.Repeat("z", 500)+"…",
		"grep", args{"pattern": "."})

	line := strings.Repeat("w", 499)
	p = given(t, files{"a": strings.Repeat("hit\n"+strings.Repeat(line+"\n", 10), 100)})
	o := p.call("grep", args{"pattern": "hit", "context": 10})
	rows := strings.Split(o.text, "\n")
	hits := strings.Count(o.text, ": hit\n")
	if want := fmt.Sprintf("[stopped after %d matches; refine the pattern or use include to narrow the search]", hits); rows[len(rows)-1] != want || hits >= 100 || len(o.text) < 64000 {
		t.Errorf("%d bytes, the last row is %q, want %q", len(o.text), rows[len(rows)-1], want)
	}
}

func TestGrepSkipsLargeFiles(t *testing.T) {
	p := given(t, files{"at": "needle\n" + strings.Repeat("x", 10<<20-7), "over": "needle\n" + strings.Repeat("x", 10<<20-6)})
	p.says("at:1: needle", "grep", args{"pattern": "needle"})
}
