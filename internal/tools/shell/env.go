package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"jig/internal/sandbox"
)

// Mark is a variable in the environment of every command: the call that started it. A jig that
// finds it there was started by a model.
const Mark = "JIG_CALL"

// variables are an environment in its order. On Windows names differ by more than their case.
type variables struct {
	list []string
	fold bool
}

func (v variables) same(a, b string) bool {
	return a == b || v.fold && strings.EqualFold(a, b)
}

func (v variables) lookup(name string) (string, bool) {
	for i := len(v.list) - 1; i >= 0; i-- {
		if n, value, ok := strings.Cut(v.list[i], "="); ok && v.same(n, name) {
			return value, true
		}
	}
	return "", false
}

func (v variables) get(name string) string { value, _ := v.lookup(name); return value }

// with gives the environment with some variables set, in place of what they were.
func (v variables) with(set ...string) variables {
	out := variables{fold: v.fold}
	for _, kv := range v.list {
		name, _, _ := strings.Cut(kv, "=")
		replaced := false
		for _, s := range set {
			n, _, _ := strings.Cut(s, "=")
			replaced = replaced || v.same(n, name)
		}
		if !replaced {
			out.list = append(out.list, kv)
		}
	}
	out.list = append(out.list, set...)
	return out
}

// without gives the environment without some variables.
func (v variables) without(drop func(name string) bool) variables {
	out := variables{fold: v.fold}
	for _, kv := range v.list {
		// Windows keeps variables whose names begin with =, such as =C:
		name, _, _ := strings.Cut(strings.TrimPrefix(kv, "="), "=")
		if !drop(name) {
			out.list = append(out.list, kv)
		}
	}
	return out
}

// quiet are the settings that keep programs from waiting for somebody who is not there. They win
// over what the user's own environment says. An editor that does nothing accepts what is proposed,
// a commit message or a list of commits, and where nothing is proposed the program says so.
var quiet = []string{
	"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GH_PAGER=cat", "SYSTEMD_PAGER=cat", "AWS_PAGER=",
	"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true",
	"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "SSH_ASKPASS_REQUIRE=never",
	"DEBIAN_FRONTEND=noninteractive", "PIP_NO_INPUT=1", "TERM=dumb",
}

// secret reports whether a variable's name says that its value is one.
func secret(name string) bool {
	name = strings.ToUpper(name)
	if name == "API_KEY" {
		return true
	}
	for _, end := range []string{"_KEY", "_SECRET", "_TOKEN", "_PASSWORD"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// environments works out what commands get, but for what depends on the call. One that leaves the
// sandbox is jig again, which needs the keys; no other command does.
func (s *Shell) environments() (inside, outside variables) {
	outside = s.vars.without(func(name string) bool {
		switch name {
		case "PWD", "OLDPWD", "_", "TMPDIR", "TMPPREFIX", Mark,
			"BASH_ENV", "ENV": // files that every shell would read first
			return s.opts.OS != "windows"
		}
		return false
	}).with(quiet...)
	inside = outside.without(func(name string) bool {
		return secret(name) || slices.ContainsFunc(s.opts.Keys, func(k string) bool { return outside.same(k, name) })
	})
	if s.tier != sandbox.None {
		inside = inside.with(s.caches(inside)...)
	}
	return inside.with(s.opts.Extra...), outside.with(s.opts.Extra...)
}

// environment is what a command in dir gets.
func (s *Shell) environment(dir string, outside bool) []string {
	v := s.inside
	if outside {
		v = s.outside
	}
	out := slices.Clone(v.list)
	if s.opts.OS == "windows" {
		return out
	}
	temp := s.temp.Dir() // again each time: a command may have removed it
	for _, kv := range [][2]string{{"PWD", dir}, {"TMPDIR", temp}, {"TMPPREFIX", filepath.Join(temp, "zsh")}} {
		if _, set := v.lookup(kv[0]); !set {
			out = append(out, kv[0]+"="+kv[1])
		}
	}
	return out
}

// caches points the caches of common build tools at jig's own cache folder: their usual places are
// not writable inside. What the user has set, or made writable, stays.
func (s *Shell) caches(v variables) []string {
	if s.opts.Cache == "" {
		return nil
	}
	users := filepath.Join(s.opts.Home, ".cache")
	if s.opts.OS == "darwin" {
		users = filepath.Join(s.opts.Home, "Library", "Caches")
	} else if x := v.get("XDG_CACHE_HOME"); filepath.IsAbs(x) {
		users = x
	}
	p := s.policy()
	var out []string
	for _, c := range []struct{ name, usual, ours string }{
		{"GOCACHE", filepath.Join(users, "go-build"), "go-build"},
		{"npm_config_cache", filepath.Join(s.opts.Home, ".npm"), "npm"},
		{"PIP_CACHE_DIR", filepath.Join(users, "pip"), "pip"},
	} {
		if _, set := v.lookup(c.name); !set && (s.opts.Home == "" || !sandbox.Writable(p, c.usual)) {
			out = append(out, c.name+"="+filepath.Join(s.opts.Cache, c.ours))
		}
	}
	return out
}
