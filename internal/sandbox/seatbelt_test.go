package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// form is an expression of the profile's language: an atom or a list.
type form struct {
	atom string // with its quotes, if it is a string
	list []form
}

// parse reads a whole profile and refuses what the language does not have.
func parse(s string) ([]form, error) {
	var out []form
	for {
		f, rest, err := parseOne(s)
		if err != nil || rest == "" && f.atom == "" && f.list == nil {
			return out, err
		}
		out, s = append(out, f), rest
	}
}

func parseOne(s string) (form, string, error) {
	for {
		s = strings.TrimLeft(s, " \n\t")
		if !strings.HasPrefix(s, ";") {
			break
		}
		_, s, _ = strings.Cut(s, "\n")
	}
	switch {
	case s == "":
		return form{}, "", nil
	case s[0] == '(':
		f := form{list: []form{}}
		s = s[1:]
		for {
			s = strings.TrimLeft(s, " \n\t")
			if s == "" {
				return f, "", fmt.Errorf("a list that does not end")
			}
			if s[0] == ')' {
				return f, s[1:], nil
			}
			var g form
			var err error
			if g, s, err = parseOne(s); err != nil {
				return f, s, err
			}
			f.list = append(f.list, g)
		}
	case s[0] == ')':
		return form{}, s, fmt.Errorf("a list that does not begin")
	case s[0] == '"' || strings.HasPrefix(s, `#"`):
		open := strings.IndexByte(s, '"')
		for i := open + 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return form{atom: s[:i+1]}, s[i+1:], nil
			}
		}
		return form{}, s, fmt.Errorf("a string that does not end")
	}
	n := strings.IndexAny(s, " \n\t()\"")
	if n < 0 {
		n = len(s)
	}
	return form{atom: s[:n]}, s[n:], nil
}

// operations and filters of the language that the profile may use.
var (
	operations = []string{"default", "file-write*", "file-write-data", "file-ioctl", "file-read*", "signal", "process-info*",
		"mach-priv-task-port", "appleevent-send", "lsopen", "job-creation", "network*", "system-socket"}
	pathFilters = []string{"literal", "subpath", "regex"}
)

// check holds a rule to the grammar: (allow|deny operation… filter…), paths by parameter or literal.
func check(f form, params map[string]string, used map[string]bool) error {
	if len(f.list) < 2 {
		return fmt.Errorf("%v is no rule", f)
	}
	filters := false
	for _, x := range f.list[1:] {
		if x.list == nil {
			if filters || !slices.Contains(operations, x.atom) {
				return fmt.Errorf("operation %q", x.atom)
			}
			continue
		}
		filters = true
		if len(x.list) != 2 {
			return fmt.Errorf("filter %v", x)
		}
		name, arg := x.list[0].atom, x.list[1]
		switch {
		case name == "target" && arg.atom == "same-sandbox":
		case name == "regex" && strings.HasPrefix(arg.atom, `#"^/`):
		case !slices.Contains(pathFilters, name):
			return fmt.Errorf("filter %q", name)
		case arg.list != nil:
			if len(arg.list) != 2 || arg.list[0].atom != "param" {
				return fmt.Errorf("filter %v", x)
			}
			p := strings.Trim(arg.list[1].atom, `"`)
			if _, ok := params[p]; !ok {
				return fmt.Errorf("no parameter %s", p)
			}
			used[p] = true
		case !strings.HasPrefix(arg.atom, `"/`):
			return fmt.Errorf("filter %v", x)
		}
	}
	return nil
}

// verdict is what the profile says of an operation on a path: the last rule that applies.
func verdict(rules []form, params map[string]string, op, path string) string {
	out := ""
	for _, r := range rules {
		applies, filters, hit := false, false, false
		for _, x := range r.list[1:] {
			if x.list == nil {
				applies = applies || x.atom == "default" || x.atom == op || strings.HasSuffix(x.atom, "*") && strings.HasPrefix(op, strings.TrimSuffix(x.atom, "*"))
				continue
			}
			filters = true
			arg := strings.Trim(x.list[1].atom, `"`)
			if x.list[1].list != nil {
				arg = params[strings.Trim(x.list[1].list[1].atom, `"`)]
			}
			switch x.list[0].atom {
			case "literal":
				hit = hit || path == arg
			case "subpath":
				hit = hit || within(arg, path)
			}
		}
		if applies && (!filters || hit) {
			out = r.list[0].atom
		}
	}
	return out
}

func profile(t *testing.T, p Policy) ([]form, map[string]string) {
	t.Helper()
	text, list := Seatbelt(p)
	params := map[string]string{}
	for _, x := range list {
		name, path, ok := strings.Cut(x, "=")
		if _, twice := params[name]; !ok || twice {
			t.Errorf("parameter %q", x)
		}
		params[name] = path
	}
	forms, err := parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if len(forms) < 3 || len(forms[0].list) != 2 || forms[0].list[0].atom != "version" || forms[0].list[1].atom != "1" {
		t.Fatalf("the profile does not begin with its version:\n%s", text)
	}
	used := map[string]bool{}
	for _, f := range forms[1:] {
		if f.list == nil || f.list[0].atom != "allow" && f.list[0].atom != "deny" {
			t.Fatalf("not a rule: %v", f)
		}
		if err := check(f, params, used); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	for name := range params {
		if !used[name] {
			t.Errorf("parameter %s is not used", name)
		}
	}
	return forms[1:], params
}

func TestTheSeatbeltProfileSaysWhatThePolicySays(t *testing.T) {
	p := Policy{Root: "/src", Write: []string{"/src", "/tmp", `/odd "path")(allow file-write*`}, Hide: []string{"/tmp/agent"},
		Git: Git{Dir: "/main/.git/worktrees/w", Common: "/main/.git"}}
	rules, params := profile(t, p)
	for _, x := range []struct{ op, path, want string }{
		{"file-write-create", "/src/a", "allow"},
		{"file-write-create", "/private/tmp/a", "allow"},
		{"file-write-create", `/odd "path")(allow file-write*/x`, "allow"},
		{"file-write-create", "/Users/me/.zshrc", "deny"},
		{"file-write-data", "/dev/null", "allow"},
		{"file-write-data", "/dev/disk0", "deny"},
		{"file-write-mode", "/srcx", "deny"},
		{"file-write-create", "/main/.git/objects/x", "allow"},
		{"file-write-create", "/main/.git/hooks/pre-commit", "deny"},
		{"file-write-data", "/main/.git/config", "deny"},
		{"file-write-create", "/main/.git/worktrees/w/index.lock", "allow"},
		{"file-write-data", "/main/.git/worktrees/w/config.worktree", "deny"},
		{"file-read-data", "/Users/me/.zshrc", "allow"},
		{"file-read-data", "/tmp/agent/s", "deny"},
		{"network-outbound", "/tmp/s", "allow"},
		{"network-outbound", "/tmp/agent/s", "deny"},
		{"network-outbound", "", "deny"},
		{"appleevent-send", "", "deny"},
		{"lsopen", "", "deny"},
		{"signal", "", "deny"},
	} {
		if got := verdict(rules, params, x.op, x.path); got != x.want {
			t.Errorf("%s %s: %s", x.op, x.path, got)
		}
	}
	p.Network = true
	rules, params = profile(t, p)
	if verdict(rules, params, "network-outbound", "") != "allow" {
		t.Error("the network was asked for and is closed")
	}
}

func FuzzNoPathEndsAString(f *testing.F) {
	f.Add(`/a"b`, "/c")
	f.Add("/a\n)(allow default)", `/\`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsRune(a+b, 0) || !strings.HasPrefix(a, "/") || !strings.HasPrefix(b, "/") {
			return
		}
		one, _ := Seatbelt(Policy{Write: []string{"/w"}, Hide: []string{"/h"}, Git: Git{Dir: "/g", Common: "/g"}})
		two, _ := Seatbelt(Policy{Write: []string{a}, Hide: []string{b}, Git: Git{Dir: "/g", Common: "/g"}})
		if !strings.HasPrefix(a, "/w") && len(seatbeltSpellings(writePlace{a, resolve(a)})) == 1 && one != two {
			t.Errorf("the profile depends on a path:\n%s", two)
		}
	})
}
