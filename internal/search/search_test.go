package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jig/internal/search/regex"
)

// lay writes files into a new directory and returns it.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func compile(t *testing.T, pattern string) *regex.Regexp {
	t.Helper()
	re, err := regex.Compile(pattern, regex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// grep runs a query and returns its lines as path:n:text and path:n-text.
func grep(t *testing.T, q Query) (string, Stats) {
	t.Helper()
	var b strings.Builder
	stats, err := Search(context.Background(), q, func(path string, lines []Line) bool {
		for _, l := range lines {
			mark := '-'
			if l.Hit {
				mark = ':'
			}
			fmt.Fprintf(&b, "%s:%d%c%s\n", path, l.N, mark, l.Text)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), stats
}

func TestContextLinesMergeInAscendingOrder(t *testing.T) {
	root := lay(t, map[string]string{
		"a": "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10",
		"b": "x1\n\n\nx4\n",
	})
	got, _ := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Context: 1})
	want := "a:2-2\na:3:x3\na:4-4\na:5:x5\na:6-6\na:9-9\na:10:x10\n" +
		"b:1:x1\nb:2-\nb:3-\nb:4:x4\n"
	if got != want {
		t.Errorf("got\n%s want\n%s", got, want)
	}
	got, _ = grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Context: 10})
	want = "a:1-1\na:2-2\na:3:x3\na:4-4\na:5:x5\na:6-6\na:7-7\na:8-8\na:9-9\na:10:x10\n" +
		"b:1:x1\nb:2-\nb:3-\nb:4:x4\n"
	if got != want {
		t.Errorf("got\n%s want\n%s", got, want)
	}
}
