package config

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzLoad feeds a file to every reader of foreign bytes. None may panic or run away;
// every message is one line without control characters, and an untrusted or trusted
// project brings in nothing that runs.
func FuzzLoad(f *testing.F) {
	for _, c := range faults() {
		f.Add([]byte(c.file))
	}
	for _, s := range []string{everyKey, hostile, bomb(), "---\nid: x\nextends: x\n---\nbody ${cwd}\n", "---\n- a\n---", "\ufeff---\r\nlabel: x\r\n---\r\n",
		"a: &a {b: &b [*b]}\n<<: *a\n", "? &k x\n: *k\n", "- - - -\n", "%YAML 1.1\n---\n!!map {}\n...\n---\n", "agents: {a: {extends: a}, b: {extends: a}}",
		"keys: {a: '${env:A}${env:B}${userhome}'}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		for _, s := range []Source{
			{Level: User, Path: "/u/config.yaml", Dir: "/u", Data: data},
			{Level: Project, Trusted: true, Path: "/p/config.yaml", Dir: "/p", Data: data},
			{Level: User, Kind: PersonaFile, Path: "/u/x.md", Dir: "/u", Data: data},
			{Level: User, Kind: PersonaFile, Path: "/u/y.md", Dir: "/u", Data: append([]byte("---\n"), data...)},
		} {
			c, warnings, err := Load(Input{Env: machine("A=1", "B=${cwd}"), Sources: []Source{s}})
			for _, w := range warnings {
				oneLine(t, w.String())
			}
			var joined interface{ Unwrap() []error }
			if errors.As(err, &joined) {
				for _, e := range joined.Unwrap() {
					oneLine(t, e.Error())
				}
			}
			if s.Kind == PersonaFile && err != nil {
				t.Fatalf("a persona fails the load: %v", err)
			}
			inspect(t, c, s)
		}
		for _, line := range Survey("linux", []Source{{Path: "/p/config.yaml", Data: data}, {Kind: PersonaFile, Path: "/p/x.md", Data: data}}) {
			oneLine(t, line)
		}
		if took := time.Since(start); took > time.Minute {
			t.Fatalf("%d bytes took %v", len(data), took)
		}
	})
}

func inspect(t *testing.T, c *Config, s Source) {
	if s.Level == Project {
		if len(c.ClientTools) > 0 {
			t.Fatal("a project brought in a client tool")
		}
		for _, m := range c.MCPServers {
			if m.Command != "" || m.Has("command") {
				t.Fatal("a project brought in a command as a server")
			}
		}
	}
	for name, a := range c.Agents {
		if name != a.Name || !validName(name) {
			t.Fatalf("agent %q is called %q", name, a.Name)
		}
		for _, tool := range a.Enabled(true) {
			v := struct {
				A string         `json:"auto_write"`
				B *bool          `json:"read_only"`
				C []string       `json:"write"`
				D map[string]any `json:"vars"`
				E int            `json:"n"`
			}{}
			if err := tool.Decode(&v); err != nil {
				oneLine(t, err.Error())
			}
		}
		for _, ref := range a.ModelRefs() {
			if _, err := c.ResolveModel(ref); err != nil {
				oneLine(t, err.Error())
			}
		}
	}
	for name := range c.Models {
		if r, err := c.ResolveModel(name); err == nil {
			if err := r.CheckKey(); err != nil {
				oneLine(t, err.Error())
			}
		}
	}
}

// oneLine fails when a message would do anything on a screen but stand there.
func oneLine(t *testing.T, s string) {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
		t.Fatalf("a message is not one plain line: %q", s)
	}
}

// FuzzPaths: paths of any system come out clean and stay where they belong.
func FuzzPaths(f *testing.F) {
	for _, p := range []string{"/a/b/../c", `C:\a\..\..\b`, `\\s\h\x`, "a/./b", `C:x`, "//", `\\`, "~", `\\?\C:\x`, "C:"} {
		f.Add(p, "/a")
	}
	f.Fuzz(func(t *testing.T, p, q string) {
		if len(p) > 4096 || len(q) > 4096 {
			return // longer than a path can be
		}
		for _, goos := range []string{"linux", "windows", "darwin"} {
			c := Clean(goos, p)
			if Clean(goos, c) != c {
				t.Fatalf("%s: %q cleans to %q and then to %q", goos, p, c, Clean(goos, c))
			}
			if IsAbs(goos, p) != IsAbs(goos, c) {
				t.Fatalf("%s: %q is absolute: %v, but %q: %v", goos, p, IsAbs(goos, p), c, IsAbs(goos, c))
			}
			Base(goos, p)
			ProjectRoot(goos, p, func(string) bool { return false })
			ProjectLevels(goos, q, p)
		}
	})
}
