package shell

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jig/internal/sandbox"
	"jig/internal/tool"
)

// machine is a made-up one: its files, and its environment.
func machine(goos string, env map[string]string, onPath map[string]string, files ...string) Machine {
	exists := func(path string) bool {
		for _, f := range files {
			if f == path {
				return true
			}
		}
		for _, f := range onPath {
			if f == path {
				return true
			}
		}
		return false
	}
	return Machine{
		OS: goos, Getenv: func(name string) string { return env[name] }, Exists: exists,
		Look: func(name string) string {
			if strings.ContainsAny(name, `/\`) {
				if exists(name) {
					return name
				}
				return ""
			}
			return onPath[name]
		},
	}
}

func TestWhichShellRunsIt(t *testing.T) {
	const (
		gitBash = `C:\Program Files\Git\bin\bash.exe`
		wsl     = `C:\Windows\System32\bash.exe`
		pwsh    = `C:\Program Files\PowerShell\7\pwsh.exe`
		winps   = `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
		cmdExe  = `C:\Windows\System32\cmd.exe`
	)
	everything := map[string]string{"bash.exe": wsl, "pwsh.exe": pwsh, "powershell.exe": winps, "cmd.exe": cmdExe, "git.exe": `C:\Program Files\Git\cmd\git.exe`}
	without := func(names ...string) map[string]string {
		out := map[string]string{}
		for k, v := range everything {
			out[k] = v
		}
		for _, n := range names {
			delete(out, n)
		}
		return out
	}
	for _, c := range []struct {
		what             string
		m                Machine
		path, dialect    string
		name, why, fails string
	}{
		{"bash on PATH", machine("linux", nil, map[string]string{"bash": "/bin/bash"}), "/bin/bash", "posix", "bash", "", ""},
		{"a Mac", machine("darwin", nil, map[string]string{"bash": "/bin/bash", "zsh": "/bin/zsh"}), "/bin/bash", "posix", "bash", "", ""},
		{"JIG_SHELL by name", machine("darwin", map[string]string{"JIG_SHELL": "zsh"}, map[string]string{"bash": "/bin/bash", "zsh": "/bin/zsh"}), "/bin/zsh", "posix", "zsh", "", ""},
		{"JIG_SHELL by path", machine("linux", map[string]string{"JIG_SHELL": "/opt/pwsh"}, nil, "/opt/pwsh"), "/opt/pwsh", "powershell", "PowerShell 7 (pwsh)", "", ""},
		{"JIG_SHELL blank is not set", machine("linux", map[string]string{"JIG_SHELL": " "}, map[string]string{"bash": "/bin/bash"}), "/bin/bash", "posix", "bash", "", ""},
		{"JIG_SHELL names nothing", machine("linux", map[string]string{"JIG_SHELL": "fish"}, map[string]string{"bash": "/bin/bash"}), "", "posix", "fish",
			`JIG_SHELL names "fish", which is no executable file on this system`, ""},
		{"no bash", machine("linux", nil, nil), "", "posix", "bash", "bash is not installed, or not on PATH; JIG_SHELL can name another shell", ""},
		{"Git Bash beside git", machine("windows", nil, everything, gitBash), gitBash, "posix", "Git Bash", "", ""},
		{"git's bash by variable", machine("windows", map[string]string{"JIG_GIT_BASH_PATH": `D:\x\bash.exe`}, everything, gitBash, `D:\x\bash.exe`), `D:\x\bash.exe`, "posix", "Git Bash", "", ""},
		{"a variable that names nothing", machine("windows", map[string]string{"JIG_GIT_BASH_PATH": `D:\x\bash.exe`}, everything, gitBash), gitBash, "posix", "Git Bash", "", ""},
		{"Git Bash in its usual place", machine("windows", map[string]string{"ProgramFiles": `C:\Program Files`}, without("git.exe"), gitBash), gitBash, "posix", "Git Bash", "", ""},
		{"Git Bash of 32 bits", machine("windows", map[string]string{"ProgramFiles(x86)": `C:\P86`}, nil, `C:\P86\Git\bin\bash.exe`), `C:\P86\Git\bin\bash.exe`, "posix", "Git Bash", "", ""},
		{"Git Bash of one user", machine("windows", map[string]string{"LOCALAPPDATA": `C:\U\L`}, nil, `C:\U\L\Programs\Git\bin\bash.exe`), `C:\U\L\Programs\Git\bin\bash.exe`, "posix", "Git Bash", "", ""},
		{"bash.exe alone is the subsystem's", machine("windows", nil, without("git.exe")), pwsh, "powershell", "PowerShell 7 (pwsh)", "", ""},
		{"Windows PowerShell", machine("windows", nil, without("git.exe", "pwsh.exe")), winps, "powershell", "Windows PowerShell (powershell)", "", ""},
		{"cmd by COMSPEC", machine("windows", map[string]string{"COMSPEC": `D:\cmd.exe`}, without("git.exe", "pwsh.exe", "powershell.exe"), `D:\cmd.exe`), `D:\cmd.exe`, "cmd", "cmd.exe", "", ""},
		{"cmd on PATH", machine("windows", nil, map[string]string{"cmd.exe": cmdExe}), cmdExe, "cmd", "cmd.exe", "", ""},
		{"a COMSPEC that is something else", machine("windows", map[string]string{"COMSPEC": `C:\4nt.exe`}, map[string]string{"cmd.exe": cmdExe}, `C:\4nt.exe`), cmdExe, "cmd", "cmd.exe", "", ""},
		{"JIG_SHELL on Windows", machine("windows", map[string]string{"JIG_SHELL": "cmd.exe"}, everything, gitBash), cmdExe, "cmd", "cmd.exe", "", ""},
		{"JIG_SHELL on Windows names nothing", machine("windows", map[string]string{"JIG_SHELL": `C:\no\pwsh.exe`}, everything, gitBash), "", "powershell", "PowerShell 7 (pwsh)",
			`JIG_SHELL names "C:\\no\\pwsh.exe", which is no executable file on this system`, ""},
		{"nothing at all", machine("windows", nil, nil), "", "", "", "",
			"no shell interpreter found: tried Git Bash (install Git for Windows or set JIG_GIT_BASH_PATH), pwsh.exe, powershell.exe and cmd.exe — set JIG_SHELL to name one"},
	} {
		in, err := c.m.find()
		if err != nil || c.fails != "" {
			if err == nil || err.Error() != c.fails {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if in.path != c.path || in.dialect.name != c.dialect || in.name != c.name || in.why != c.why {
			t.Errorf("%s: %q %q %q %q", c.what, in.path, in.dialect.name, in.name, in.why)
		}
	}
}

// dialects are the three interpreters a description is made for, as sessions that start none.
func dialects(t *testing.T, change ...func(*Options)) map[string]*Shell {
	out := map[string]*Shell{}
	for name, m := range map[string]Machine{
		"posix":      machine("linux", nil, map[string]string{"bash": "/bin/bash"}),
		"powershell": machine("windows", nil, map[string]string{"pwsh.exe": `C:\pwsh.exe`}),
		"cmd":        machine("windows", nil, map[string]string{"cmd.exe": `C:\cmd.exe`}),
	} {
		o := Options{OS: m.OS, Root: "/p", Temp: t.TempDir(), Machine: m}
		for _, c := range change {
			c(&o)
		}
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = s
	}
	return out
}

func TestAWindowsMachineWithoutAnInterpreterRefusesTheSet(t *testing.T) {
	_, err := New(Options{OS: "windows", Root: "/p", Temp: t.TempDir(), Machine: machine("windows", nil, nil)})
	if err == nil || !strings.HasPrefix(err.Error(), "no shell interpreter found: tried Git Bash") {
		t.Error(err)
	}
	if _, err := New(Options{OS: "linux", Root: "/p", Temp: t.TempDir(), Machine: machine("linux", nil, nil)}); err != nil {
		t.Error("a machine without bash refuses the set:", err)
	}
}

func TestTheFirstSentenceNamesTheInterpreterAndTheRestItsDialect(t *testing.T) {
	for name, want := range map[string]struct {
		first    string
		has, not []string
	}{
		"posix": {"Run one command line with bash ", []string{"&&", "heredocs", "set -o pipefail", "`", "tail -n 50 LOG", "(nohup, setsid)", "go test ./... 2>&1 | tail -20"},
			[]string{"PowerShell", "$null", "findstr"}},
		"powershell": {"Run one command line with PowerShell 7 (pwsh) ", []string{"Chain with ;", "objects", "$null", "Get-Content -Tail 50 LOG", "(Start-Process)", "cargo test 2>&1 | Select-Object -Last 20"},
			[]string{"nohup", "tail -", "pipefail", "&&", "heredoc"}},
		"cmd": {"Run one command line with cmd.exe ", []string{"&&", ">NUL", "type LOG", "(start /b)", "findstr"}, []string{"nohup", "tail -", "pipefail", "$null"}},
	} {
		s := dialects(t)[name]
		doc := s.spec.Doc
		all := doc + string(s.spec.Input)
		if !strings.HasPrefix(doc, want.first) {
			t.Errorf("%s begins: %.80s", name, doc)
		}
		if strings.ContainsAny(doc, "{}") {
			t.Errorf("%s: a blank is open: %s", name, doc)
		}
		plain := strings.NewReplacer(`\u0026`, "&", `\u003e`, ">").Replace(all)
		for _, h := range want.has {
			if !strings.Contains(plain, h) {
				t.Errorf("%s does not say %q: %s", name, h, plain)
			}
		}
		for _, n := range want.not {
			if strings.Contains(plain, n) {
				t.Errorf("%s says %q", name, n)
			}
		}
	}
}

func TestTheDescriptionSaysWhichRegimeItIsIn(t *testing.T) {
	for _, c := range []struct {
		tier    sandbox.Tier
		config  Config
		has     string
		mention bool // of the writable places
	}{
		{sandbox.Bwrap, Config{Write: []string{"/data"}}, "Commands run inside an OS sandbox: file writes are confined to the project root and temp/cache directories (writes elsewhere fail with permission errors), and network access is BLOCKED.", true},
		{sandbox.Namespaces, Config{Network: true}, "(writes elsewhere fail with permission errors), and network access is allowed.", true},
		{sandbox.Landlock, Config{}, "network access is BLOCKED.", true},
		{sandbox.None, Config{}, "Commands run WITHOUT a sandbox on this system, with the user's full permissions — be conservative.", false},
		{sandbox.Bwrap, Config{Sandbox: "off", Network: true}, "Commands run WITHOUT a sandbox on this system", false},
		{"", Config{}, "Commands run WITHOUT a sandbox on this system", false},
	} {
		s := dialects(t, in(c.tier), func(o *Options) { o.Config = c.config })["posix"]
		doc := s.spec.Doc
		if !strings.Contains(doc, c.has) || strings.Contains(doc, "Writable: /p, "+s.opts.Temp) != c.mention {
			t.Errorf("%s %+v: %s", c.tier, c.config, doc)
		}
		if len(c.config.Write) > 0 && !strings.Contains(doc, "/data") {
			t.Errorf("a configured place is not named: %s", doc)
		}
	}
}

func TestWhatEveryRequestCarriesIsSmall(t *testing.T) {
	for name, s := range dialects(t, in(sandbox.Bwrap)) {
		b, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
			"name": Name, "description": s.spec.Doc, "parameters": s.spec.Input}})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", name, len(b))
		if len(b) > 2900 {
			t.Errorf("%s takes %d bytes of every request: %s", name, len(b), b)
		}
	}
}

func TestReceiptsSpeakTheDialect(t *testing.T) {
	for _, c := range []struct{ dialect, log, started, yielded string }{
		{"posix", "/tmp/jig-jobs/931/b1.log", "run `tail -n 50 /tmp/jig-jobs/931/b1.log` to see progress meanwhile.", "(`tail -f /tmp/jig-jobs/931/b1.log` only if you need progress)."},
		{"posix", "/tmp/a b/b1.log", "run `tail -n 50 '/tmp/a b/b1.log'` to see", "(`tail -f '/tmp/a b/b1.log'` only"},
		{"posix", "/tmp/it's/b1.log", `run ` + "`" + `tail -n 50 '/tmp/it'\''s/b1.log'` + "`", `tail -f '/tmp/it'\''s/b1.log'`},
		{"powershell", `C:\T\b1.log`, "run `Get-Content -Tail 50 C:\\T\\b1.log` to see progress meanwhile.", "(`Get-Content -Tail 50 C:\\T\\b1.log` only if you need progress)."},
		{"powershell", `C:\J D\b1.log`, `Get-Content -Tail 50 'C:\J D\b1.log'`, `Get-Content -Tail 50 'C:\J D\b1.log'`},
		{"cmd", `C:\T\b1.log`, "run `type C:\\T\\b1.log` to see progress meanwhile.", "(`type C:\\T\\b1.log` only if you need progress)."},
		{"cmd", `C:\J D\b1.log`, `type "C:\J D\b1.log"`, `type "C:\J D\b1.log"`},
	} {
		in := dialects(t)[c.dialect].interp
		j := &job{}
		j.ID, j.Pid, j.Log = "b1", 4242, c.log
		if got := in.started(j); !strings.HasPrefix(got, "Started background job b1 (pid 4242). Output: "+c.log+"\nA notice with its exit status and output arrives when it finishes; run `") || !strings.Contains(got, c.started) {
			t.Errorf("%s: %s", c.dialect, got)
		}
		if got := in.yielded(j, defaultYield, "out\n"); !strings.HasPrefix(got, "Still running after 20s as background job b1 (pid 4242). Output so far:\nout\nA notice with its exit status and output arrives when it finishes; do not poll (`") || !strings.Contains(got, c.yielded) {
			t.Errorf("%s: %s", c.dialect, got)
		}
		j.Pid = 0
		if got := in.yielded(j, defaultYield, "\n"); !strings.HasPrefix(got, "Still running after 20s as background job b1 (pid ?). No output so far.\nA notice with") {
			t.Errorf("%s: %s", c.dialect, got)
		}
	}
}

func TestHeadersFoldTheDirectoryIntoTheIdiom(t *testing.T) {
	for name, want := range map[string]string{"posix": "cd sub && make", "powershell": "cd sub; make", "cmd": "cd /d sub && make"} {
		if got := dialects(t)[name].interp.enter("sub", "make"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestArgumentsFollowTheName(t *testing.T) {
	for program, want := range map[string]string{
		"/bin/bash": "-c", "/bin/zsh": "-c", "fish": "-c", `C:\pwsh.exe`: "-NoLogo -NoProfile -NonInteractive -Command",
		"powershell.exe": "-NoLogo -NoProfile -NonInteractive -Command", `C:\Windows\CMD.EXE`: "/C", "/x/pwsh": "-NoLogo -NoProfile -NonInteractive -Command",
	} {
		if got := strings.Join(dialectOf(program).arguments, " "); got != want {
			t.Errorf("%s: %s", program, got)
		}
	}
}

// TestWhereThereIsNoSandboxOrNoPosixNothingLeaves: on Windows every call is asked about, a jig command
// like any other, and a line in another dialect is not judged by the rules of POSIX.
func TestWhereThereIsNoSandboxOrNoPosixNothingLeaves(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "jig.exe")
	if err := os.WriteFile(bin, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		os, shell, path string
		tier            sandbox.Tier
		title           string
		asks            []string
	}{
		{"windows", "", `C:\pwsh.exe`, sandbox.None, "[shell cd sub; " + bin + " list]", []string{ScopeInside}},
		{"windows", "cmd.exe", `C:\cmd.exe`, sandbox.None, "[shell cd /d sub && " + bin + " list]", []string{ScopeInside}},
		{"linux", "pwsh", "/bin/pwsh", sandbox.Namespaces, "[shell cd sub; " + bin + " list]", nil},
		{"darwin", "pwsh", "/bin/pwsh", sandbox.SandboxExec, "[shell cd sub; " + bin + " list]", nil},
	} {
		m := machine(c.os, map[string]string{"JIG_SHELL": c.shell}, map[string]string{"pwsh": c.path, "pwsh.exe": c.path, "cmd.exe": c.path})
		s, err := New(Options{OS: c.os, Root: "/p", Temp: t.TempDir(), Binary: bin, Tier: c.tier, Machine: m})
		if err != nil {
			t.Fatal(err)
		}
		if sp := s.Specs()[0]; !slices.Equal(sp.Asks, c.asks) || strings.Contains(sp.Doc, "A jig command on its own") || sp.Name != "shell" {
			t.Errorf("%s with %s: asks %q, %s", c.os, c.path, sp.Asks, sp.Doc)
		}
		args, err := json.Marshal(map[string]string{"command": bin + " list", "cwd": "sub"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Prepare(t.Context(), tool.Call{ID: "c1", Name: Name, Args: args})
		if err != nil {
			t.Fatal(err)
		}
		if title := label(p.Title); title != label(c.title) || !p.Together || (p.Ask != nil) != (c.asks != nil) || p.Ask != nil && p.Ask.Scope != ScopeInside {
			t.Errorf("%s with %s: %q, together %v, %+v", c.os, c.path, p.Title, p.Together, p.Ask)
		}
		s.Close()
	}
}
