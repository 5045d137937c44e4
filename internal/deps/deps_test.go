package deps

import (
	_ "embed"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

//go:embed policy.txt
var policy string

// rule is one line of the policy.
type rule struct {
	floor           int
	ours, foreign   []string
	anythingBeneath bool
}

func rules(t *testing.T) map[string]rule {
	out := map[string]rule{}
	for i, line := range strings.Split(policy, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		head, rest, ok := strings.Cut(line, ":")
		floor, name, ok2 := strings.Cut(strings.TrimSpace(head), " ")
		n, err := strconv.Atoi(floor)
		if !ok || !ok2 || err != nil || out[name].ours != nil {
			t.Fatalf("policy.txt:%d: cannot read %q", i+1, line)
		}
		ours, foreign, _ := strings.Cut(rest, "|")
		r := rule{floor: n, ours: strings.Fields(ours), foreign: strings.Fields(foreign)}
		r.anythingBeneath = slices.Equal(r.ours, []string{"*"})
		out[name] = r
	}
	return out
}

// name is a package's name in the policy.
func name(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, "jig/"), "internal/")
}

func TestImportsFollowThePolicy(t *testing.T) {
	all := rules(t)
	seen := map[string]bool{}
	for dir, files := range packages(t) {
		pkg := name(dir)
		r, ok := all[pkg]
		if !ok {
			t.Errorf("%s has no line in internal/deps/policy.txt: give it one, with a reason", dir)
			continue
		}
		seen[pkg] = true
		for file, imports := range files {
			for _, imp := range imports {
				if why := refuse(all, r, imp); why != "" {
					t.Errorf("%s imports %s: %s", file, imp, why)
				}
			}
		}
	}
	for pkg := range all {
		if !seen[pkg] && pkg != "docs" {
			t.Errorf("policy.txt has a line for %s, which does not exist", pkg)
		}
	}
}

func refuse(all map[string]rule, r rule, imp string) string {
	if strings.HasPrefix(imp, "jig/") || imp == "jig" {
		target, ok := all[name(imp)]
		switch {
		case !ok:
			return "that package has no line in the policy"
		case target.floor > r.floor:
			return "that is upwards"
		case !r.anythingBeneath && !slices.Contains(r.ours, name(imp)):
			return "the policy has no such arrow"
		}
		return ""
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	if slices.ContainsFunc(r.foreign, func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") }) {
		return ""
	}
	return "the policy does not name that module"
}

// packages gives, for each folder with Go files, the imports of each file that is no test, for every
// platform. Nested modules are not ours to judge.
func packages(t *testing.T) map[string]map[string][]string {
	root := filepath.Join("..", "..")
	out := map[string]map[string][]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			nested := rel != "." && exists(filepath.Join(p, "go.mod"))
			if strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || nested {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, src, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		if strings.Contains(string(src[:f.Package]), "//go:build ignore") {
			return nil // a generator
		}
		dir := path.Join("jig", path.Dir(rel))
		if out[dir] == nil {
			out[dir] = map[string][]string{}
		}
		out[dir][rel] = []string{}
		for _, s := range f.Imports {
			imp, _ := strconv.Unquote(s.Path.Value)
			out[dir][rel] = append(out[dir][rel], imp)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func exists(p string) bool { _, err := os.Stat(p); return err == nil }

// Packages named after what the compiler needs have no meaning that would say what does not belong.
func TestNoPackageIsNamedAfterNothing(t *testing.T) {
	empty := []string{"util", "utils", "common", "shared", "types", "helpers", "core", "base", "manager", "service"}
	for dir := range packages(t) {
		if slices.Contains(empty, path.Base(dir)) {
			t.Errorf("%s: say what the package is for", dir)
		}
	}
}

// What only one floor may do is said about the standard library, too.
func TestOnlyTheRimReadsFlagsAndTheEnvironment(t *testing.T) {
	for dir, files := range packages(t) {
		pkg := name(dir)
		if pkg == "cli" || pkg == "cmd/jig" || strings.HasPrefix(pkg, "bench") {
			continue
		}
		for file, imports := range files {
			if slices.Contains(imports, "flag") {
				t.Errorf("%s imports flag", file)
			}
			src, err := os.ReadFile(filepath.Join("..", "..", file))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []string{"os.Getenv(", "os.LookupEnv(", "os.Environ(", "os.Args"} {
				if strings.Contains(string(src), f) {
					t.Errorf("%s uses %s: take a value instead", file, f)
				}
			}
		}
	}
}

// A room nobody may enter from: the pipeline and the clients must not know the machine's doors.
func TestLoopAndClientsTouchNoFile(t *testing.T) {
	for dir, files := range packages(t) {
		if pkg := name(dir); pkg != "agent" && pkg != "session" && pkg != "proto" && pkg != "print" && pkg != "config" {
			continue
		}
		for file, imports := range files {
			for _, imp := range []string{"os", "os/exec", "net", "net/http", "io/ioutil"} {
				if slices.Contains(imports, imp) {
					t.Errorf("%s imports %s", file, imp)
				}
			}
		}
	}
}
