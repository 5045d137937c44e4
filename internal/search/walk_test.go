package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func walk(t *testing.T, tree Tree) []File {
	t.Helper()
	var files []File
	if _, err := Walk(context.Background(), tree, func(f File) error {
		files = append(files, f)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

func paths(files []File) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	return all
}

func TestWalkIsInLexicalOrderWithinEachDirectory(t *testing.T) {
	root := lay(t, map[string]string{"b": "", "a.x": "", "a/z": "", "a/b/c": "", "a-b": "", "B": "", "é": "", "a0": ""})
	want := []string{"B", "a/b/c", "a/z", "a-b", "a.x", "a0", "b", "é"}
	if got := paths(walk(t, Tree{Root: root})); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGitDirectoriesAndFilesAreLeftOutAtAnyDepth(t *testing.T) {
	root := lay(t, map[string]string{".git/config": "", "a/.git": "gitdir: x", "b/.git/x": "", "b/y": "", ".gitignore": "", ".github/z": ""})
	want := []string{".github/z", ".gitignore", "b/y"}
	if got := paths(walk(t, Tree{Root: root})); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOddNamesAreWalkedAndSearched(t *testing.T) {
	names := []string{"app/[id]/page.tsx", "app/[...slug]/x", "(group)/p", "a b/c d", "-rf", "--x/-y", "{{n}}/x", "$HOME", "~/x", "#a#", "'q'"}
	if os.PathSeparator == '/' {
		names = append(names, "a\nb/c\nd", "tab\tx", "back\\slash", "q?", "st*r", `"`, "cr\r", "\x80\xff/\xfe", " ")
	}
	files := map[string]string{}
	for _, n := range names {
		files[n] = "needle"
	}
	root := lay(t, files)
	got := paths(walk(t, Tree{Root: root}))
	slices.Sort(names)
	slices.Sort(got)
	if !slices.Equal(got, names) {
		t.Errorf("walk: got %q, want %q", got, names)
	}
	var hit []string
	if _, err := Search(context.Background(), Query{Tree: Tree{Root: root}, Pattern: compile(t, "needle")}, func(path string, _ []Line) bool {
		hit = append(hit, path)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(hit)
	if !slices.Equal(hit, names) {
		t.Errorf("search: got %q, want %q", hit, names)
	}
	for _, base := range []string{"app/[id]", "--x"} {
		if got := walk(t, Tree{Root: root, Base: base}); len(got) != 1 || !strings.HasPrefix(got[0].Path, base+"/") {
			t.Errorf("base %s: got %v", base, got)
		}
	}
}

func TestLinksAreReportedAndNeverFollowed(t *testing.T) {
	root := lay(t, map[string]string{"d/a": "x", "real/b": "x"})
	for _, l := range [][2]string{{".", "loop"}, {"/nope/nope", "broken"}, {"a", "d/link"}, {"..", "d/up"}, {"d", "dirlink"}} {
		if err := os.Symlink(l[0], filepath.Join(root, l[1])); err != nil {
			t.Fatal(err)
		}
	}
	files := walk(t, Tree{Root: root})
	want := []string{"broken", "d/a", "d/link", "d/up", "dirlink", "loop", "real/b"}
	if got := paths(files); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		if info.Mode().Type() != f.Type {
			t.Errorf("%s: type %v, but its metadata say %v", f.Path, f.Type, info.Mode().Type())
		}
	}
	got, stats := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x")})
	if want := "d/a:1:x\nreal/b:1:x\n"; got != want || stats.Unread != 0 || stats.Files != 2 {
		t.Errorf("got %q and %+v, want %q", got, stats, want)
	}
}

func TestPathsThroughALinkedBaseStayAsAskedFor(t *testing.T) {
	root := lay(t, map[string]string{"real/a": "x", "real/s/b": "x"})
	if err := os.Symlink("real", filepath.Join(root, "db")); err != nil {
		t.Fatal(err)
	}
	got, _ := grep(t, Query{Tree: Tree{Root: root, Base: "db"}, Pattern: compile(t, "x")})
	if want := "db/a:1:x\ndb/s/b:1:x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBaseIsCleaned(t *testing.T) {
	root := lay(t, map[string]string{"a/b/c": "", "a/b/d": ""})
	rules := ParseIgnore([]byte("/a/b/d"))
	for _, base := range []string{"a/b", "./a/b", "a/b/", "a//b", "a/x/../b"} {
		if got := paths(walk(t, Tree{Root: root + "/", Base: base, Ignore: rules})); !slices.Equal(got, []string{"a/b/c"}) {
			t.Errorf("%s: %q", base, got)
		}
	}
	for _, base := range []string{"", ".", "./", "a/.."} {
		if got := paths(walk(t, Tree{Root: root, Base: base, Ignore: rules})); !slices.Equal(got, []string{"a/b/c"}) {
			t.Errorf("%q: %q", base, got)
		}
	}
}

func TestBaseThatIsNoDirectoryIsAnError(t *testing.T) {
	root := lay(t, map[string]string{"f": "x"})
	for _, base := range []string{"f", "missing", "f/x"} {
		if _, err := Walk(context.Background(), Tree{Root: root, Base: base}, func(File) error { return nil }); err == nil {
			t.Errorf("walk from %s: no error", base)
		}
		if _, err := Search(context.Background(), Query{Tree: Tree{Root: root, Base: base}, Pattern: compile(t, "x")}, nil); err == nil {
			t.Errorf("search from %s: no error", base)
		}
	}
}

func TestVisitEndsTheWalk(t *testing.T) {
	root := lay(t, map[string]string{"a": "", "b": "", "c/d": ""})
	boom := errors.New("boom")
	for _, c := range []struct{ give, want error }{{boom, boom}, {fs.SkipAll, nil}} {
		n := 0
		_, err := Walk(context.Background(), Tree{Root: root}, func(File) error {
			n++
			if n == 2 {
				return c.give
			}
			return nil
		})
		if !errors.Is(err, c.want) || n != 2 {
			t.Errorf("%v: %d visits, error %v", c.give, n, err)
		}
	}
}

func TestDeepTreesNeedNoMoreDescriptors(t *testing.T) {
	dir := t.TempDir()
	for range 400 {
		dir = filepath.Join(dir, "d")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSuffix(dir, strings.Repeat(string(os.PathSeparator)+"d", 400))
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, stats := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x")})
	if want := strings.Repeat("d/", 400) + "f:1:x\n"; got != want || stats.Unread != 0 {
		t.Errorf("got %q, %+v", got, stats)
	}
}

func TestIgnoredEntriesAreCounted(t *testing.T) {
	files := map[string]string{"keep": "x"}
	for i := range 5 {
		files[fmt.Sprintf("out/%d", i)] = "x"
		files[fmt.Sprintf("%d.log", i)] = "x"
	}
	root := lay(t, files)
	_, stats := grep(t, Query{Tree: Tree{Root: root, Ignore: ParseIgnore([]byte("*.log\nout/"))}, Pattern: compile(t, "x")})
	if stats.Ignored != 6 || stats.Files != 1 {
		t.Errorf("%+v: want 6 ignored (five files and a directory) and 1 searched", stats)
	}
}
