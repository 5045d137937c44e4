package shell

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jig/internal/sandbox"
	"jig/internal/tool"
)

const refusal = "shell was not executed: it requires interactive approval, which is unavailable in this non-interactive run. " +
	"Set the toolset's auto-approve option (tools.code.auto_write / tools.shell.auto_run) to permit it here."

func TestArgumentsAreRefusedBeforeAnythingRuns(t *testing.T) {
	s := begin(t)
	for _, c := range []struct {
		a    any
		want string
	}{
		{args{}, "missing required argument: command"}, {args{"command": ""}, "missing required argument: command"},
		{args{"command": " \n"}, "missing required argument: command"}, {`{"command":null}`, "missing required argument: command"},
		{args{"command": "", "timeout": 0}, "missing required argument: command"},
		{args{"command": "touch x", "timeout": 0}, "timeout must be a positive number of seconds"},
		{args{"command": "touch x", "timeout": -5}, "timeout must be a positive number of seconds"},
		{args{"command": "touch x", "timeout": "soon"}, "timeout must be a positive number of seconds"},
		{args{"command": "touch x", "timeout": true}, "timeout must be a positive number of seconds"},
		{args{"command": "touch x", "timeout": []int{1}}, "timeout must be a positive number of seconds"},
		{args{"command": 5}, "argument command must be a string, got a number: 5; nothing was run"},
		{args{"command": "touch x", "background": "maybe"}, `argument background must be true or false, got a string: "maybe"; nothing was run`},
		{args{"command": "touch x", "dir": "a"}, "unknown argument: dir (the arguments are command, cwd, timeout, background); nothing was run"},
		{`{"command":"touch x","timeout":1,"timeout":2}`, "argument timeout is given twice; nothing was run"},
		{`{"command":"touch \ud800"}`, `argument command is not valid Unicode text (a lone surrogate \ud800); nothing was run`},
		{`["touch x"]`, "the arguments must be one JSON object, got an array; nothing was run"},
	} {
		if r := s.call(c.a); r.Blocks.Text() != c.want || !r.Failed {
			t.Errorf("%v: %q", c.a, r.Blocks.Text())
		}
	}
	s.says("ls -A", "[command produced no output]")
	if r := s.call(args{"command": "echo ok", "timeout": "30", "background": "false", "cwd": nil}); r.Blocks.Text() != "ok\n" {
		t.Errorf("%q", r.Blocks.Text())
	}
	if _, err := s.Prepare(context.Background(), tool.Call{Name: "bash", Args: json.RawMessage(`{}`)}); err == nil {
		t.Error("another tool's call is taken")
	} else if _, ok := tool.Sentence(err); ok {
		t.Error("an error of ours passes as a sentence for the model")
	}
}

// leaving is a session whose program is where commands cannot write, and the program.
func leavingSession(t *testing.T, change ...func(*Options)) (*session, string) {
	bin := self(t, apart(t))
	return begin(t, append([]func(*Options){in(sandbox.Namespaces), func(o *Options) {
		o.Binary, o.Config.AutoRun = bin, false
	}}, change...)...), bin
}

func TestTitlesAndQuestions(t *testing.T) {
	sandboxed, bin := leavingSession(t)
	auto, autoBin := leavingSession(t, func(o *Options) { o.Config.AutoRun = true })
	open := begin(t, func(o *Options) { o.Config = Config{Sandbox: "off"}; o.Tier = sandbox.Bwrap })
	for _, c := range []struct {
		what     string
		s        *session
		a        args
		title    string
		together bool
		scope    string
	}{
		{"in the sandbox", sandboxed, args{"command": "git status"}, "[shell git status]", true, ""},
		{"two lines", sandboxed, args{"command": "a\nb"}, "[shell a …]", true, ""},
		{"with a directory", sandboxed, args{"command": " make ", "cwd": "sub/dir"}, "[shell cd sub/dir && make]", true, ""},
		{"in the background", sandboxed, args{"command": "make", "background": true, "cwd": "/x"}, "[shell (background) cd /x && make]", true, ""},
		{"a jig call", sandboxed, args{"command": bin + " mcp list"}, "[shell " + bin + " mcp list (outside the sandbox)]", false, ScopeOutside},
		{"a jig call with more", sandboxed, args{"command": bin + " mcp list | head"}, "[shell " + bin + " mcp list | head]", true, ""},
		{"a jig call in the background", sandboxed, args{"command": bin + " x", "background": true}, "[shell (background) " + bin + " x (outside the sandbox)]", false, ScopeOutside},
		{"a jig call, unasked", auto, args{"command": autoBin + " mcp list"}, "[shell " + autoBin + " mcp list (outside the sandbox)]", true, ""},
		{"without a sandbox", open, args{"command": "git status"}, "[shell git status]", true, ScopeInside},
		{"without a sandbox there is nothing to leave", open, args{"command": open.opts.Binary + " mcp list"}, "", true, ScopeInside},
	} {
		p, err := c.s.prepare(c.a)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		scope := ""
		if p.Ask != nil {
			scope = p.Ask.Scope
			if p.Ask.Refusal != refusal || p.Ask.Covers == "" || strings.Contains(p.Ask.Text, "\n") || p.Ask.Card.Text != c.a["command"] {
				t.Errorf("%s asks %+v", c.what, p.Ask)
			}
			if (scope == ScopeOutside) != strings.Contains(p.Ask.Text, "(outside the sandbox)") {
				t.Errorf("%s asks %q", c.what, p.Ask.Text)
			}
		}
		if c.title != "" && p.Title != c.title || p.Together != c.together || scope != c.scope {
			t.Errorf("%s: %q, together %v, asks %q", c.what, p.Title, p.Together, scope)
		}
	}
	long := strings.Repeat("x", 70)
	if p, _ := sandboxed.prepare(args{"command": long}); p.Title != "[shell "+long[:63]+"…]" {
		t.Error(p.Title)
	}
}

func TestTheSpecSaysWhatPlansMayAsk(t *testing.T) {
	sandboxed, _ := leavingSession(t)
	auto := begin(t)
	open := begin(t, func(o *Options) { o.Config = Config{} })
	inTemp := begin(t, in(sandbox.Namespaces), func(o *Options) { o.Config = Config{}; o.Binary = self(t, t.TempDir()) })
	for name, c := range map[string]struct {
		s    *session
		asks []string
	}{
		"sandboxed": {sandboxed, []string{ScopeOutside}}, "auto_run": {auto, nil}, "no sandbox": {open, []string{ScopeInside}},
		"a program that commands could replace": {inTemp, nil},
	} {
		sp := c.s.Specs()
		if len(sp) != 1 || sp[0].Name != "shell" || sp[0].Show != tool.Group || !slices.Equal(sp[0].Asks, c.asks) ||
			!strings.HasPrefix(sp[0].Together, "always") || !json.Valid(sp[0].Input) {
			t.Errorf("%s: %+v", name, sp)
		}
		if says := strings.Contains(sp[0].Doc, "A jig command on its own"); says != (c.s.self != nil) {
			t.Errorf("%s: the description says %v of commands that leave", name, says)
		}
	}
}

func TestWhatMayLeaveTheSandbox(t *testing.T) {
	s, bin := leavingSession(t)
	dir := filepath.Dir(bin)
	s.sh("ln -s " + bin + " link; mkdir -p a/b; ln -s " + dir + " a/bin; cp " + bin + " copy; printf '#!/bin/sh\\n' > script; chmod +x script")
	for _, c := range []struct {
		command, cwd string
		want         bool
	}{
		{bin + " list", "", true}, {"'" + bin + "' list", "", true}, {"./link list", "", true}, {"../../link list", "a/b", true}, {"a/bin/jig list", "", true},
		{"bin/jig list", "a", true}, {filepath.Join(dir, "..", filepath.Base(dir), "jig"), "", true}, {bin + " list > out 2>&1", "", true},
		{"./copy list", "", false}, {"./script", "", false}, {"jig list", "", false}, {"link list", "", false}, {"./nothing", "", false}, {"./a", "", false},
		{bin + " list | head", "", false}, {bin + "; rm x", "", false}, {"V=1 " + bin, "", false}, {bin + " $(x)", "", false}, {"exec " + bin, "", false}, {"command " + bin, "", false},
		{"bash -c " + bin, "", false}, {"link list", "a", false},
	} {
		if _, got := s.leaves(c.command, s.directory(c.cwd)); got != c.want {
			t.Errorf("%s in %q leaves: %v", c.command, c.cwd, got)
		}
	}
}
