package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
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

func TestLinesEndAtLineFeedsOnly(t *testing.T) {
	root := lay(t, map[string]string{
		"cr":    "x1\rx2\n",
		"crlf":  "a\r\nx\r\nb",
		"empty": "",
		"last":  "a\nx",
		"nl":    "\n\n\nx\n\n",
		"u2028": "a\u2028x\n",
	})
	got, _ := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x")})
	want := "cr:1:x1\rx2\ncrlf:2:x\r\nlast:2:x\nnl:4:x\nu2028:1:a\u2028x\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got, _ = grep(t, Query{Tree: Tree{Root: root, Base: "."}, Pattern: compile(t, "^$")})
	if want := "nl:1:\nnl:2:\nnl:3:\nnl:5:\n"; got != want {
		t.Errorf("empty lines: got %q, want %q", got, want)
	}
}

func TestByteOrderMarkIsHidden(t *testing.T) {
	root := lay(t, map[string]string{
		"bom":   "\xef\xbb\xbfimport os\nimport re\n",
		"mid":   "a\n\xef\xbb\xbfimport\n",
		"only":  "\xef\xbb\xbf",
		"twice": "\xef\xbb\xbf\xef\xbb\xbfimport\n",
	})
	got, _ := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "^import"), Context: 1})
	if want := "bom:1:import os\nbom:2:import re\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBinaryIsAZeroInTheFirstEightThousandBytes(t *testing.T) {
	at := func(n int) string { return strings.Repeat("x", n) + "\x00\nx\n" }
	root := lay(t, map[string]string{"first": at(0), "at7999": at(7999), "at8000": at(8000), "utf16": "\xff\xfex\x00\n\x00"})
	got, stats := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "^x$")})
	if want := "at8000:2:x\n"; got != want || stats.Binary != 3 || stats.Files != 1 {
		t.Errorf("got %q and %+v, want %q", got, stats, want)
	}
}

func TestFilesOverTheLimitAreLeftOutAndThoseAtTheLimitAreNot(t *testing.T) {
	const limit = 10 << 20
	root := lay(t, map[string]string{"at": strings.Repeat("-", limit-2) + "\nx", "over": strings.Repeat("-", limit-1) + "\nx", "sparse": "x\n"})
	if err := os.Truncate(filepath.Join(root, "sparse"), 3<<30); err != nil {
		t.Fatal(err)
	}
	got, stats := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), MaxFile: limit})
	if want := "at:2:x\n"; got != want || stats.Large != 2 || stats.Binary != 0 {
		t.Errorf("got %.100q and %+v, want %q and 2 large", got, stats, want)
	}
}

// Lines, windows and matches fall across each other in every way; a plain
// reading of the file says what is right.
func TestWindowsDoNotShowInTheResult(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	files := map[string]string{}
	for i := range 12 {
		var b strings.Builder
		for b.Len() < window*r.IntN(4)+r.IntN(3) {
			n := r.IntN(60)
			if r.IntN(300) == 0 {
				n = r.IntN(2 * window)
			}
			b.WriteString(strings.Repeat("-", n))
			if r.IntN(50) == 0 {
				b.WriteString("x")
			}
			if r.IntN(300) != 0 {
				b.WriteString("\n")
			}
		}
		files[fmt.Sprint("f", i)] = b.String()
	}
	files["exact"] = strings.Repeat("-", window-1) + "\n" + strings.Repeat("x", window-1) + "\nx"
	files["long"] = strings.Repeat("-", 3*window) + "x"
	root := lay(t, files)
	for _, context := range []int{0, 1, 10} {
		want := ""
		for _, name := range slices.Sorted(maps.Keys(files)) {
			want += slowGrep(name, files[name], "x", context)
		}
		got, _ := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Context: context})
		if got != want {
			t.Errorf("context %d: %d bytes found, %d wanted", context, len(got), len(want))
		}
	}
}

func slowGrep(name, text, needle string, context int) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var b strings.Builder
	for i, line := range lines {
		near := false
		for j := max(0, i-context); j <= min(len(lines)-1, i+context); j++ {
			near = near || strings.Contains(lines[j], needle)
		}
		if strings.Contains(line, needle) {
			fmt.Fprintf(&b, "%s:%d:%s\n", name, i+1, line)
		} else if near {
			fmt.Fprintf(&b, "%s:%d-%s\n", name, i+1, line)
		}
	}
	return b.String()
}

// manyLines makes a tree in which batches find more than they may keep.
func manyLines(t *testing.T) string {
	files := map[string]string{}
	for i := range 300 {
		text := strings.Repeat(fmt.Sprintf("x%d\n", i), 1+i%7)
		if i%50 == 3 {
			text = strings.Repeat("x and a line of some length\n", 40_000)
		}
		files[fmt.Sprintf("d%d/e%d/f%d", i%5, i%11, i)] = text
	}
	return lay(t, files)
}

func TestOrderDoesNotDependOnTheNumberOfWorkers(t *testing.T) {
	root := manyLines(t)
	want, stats := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Workers: 1})
	for _, workers := range []int{2, 3, 8, 0} {
		got, other := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Workers: workers})
		if got != want || other != stats {
			t.Errorf("%d workers: %d bytes and %+v, want %d and %+v", workers, len(got), other, len(want), stats)
		}
	}
	if n := strings.Count(want, "\n"); n < 240_000 {
		t.Errorf("only %d lines", n)
	}
}

func TestSearchEndsWhenItsCallerHasEnough(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := manyLines(t)
	var first []string
	for _, workers := range []int{1, 2, 8} {
		var got []string
		_, err := Search(context.Background(), Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Workers: workers}, func(path string, lines []Line) bool {
			for _, l := range lines {
				got = append(got, fmt.Sprint(path, l.N))
				if len(got) == 1000 {
					return false
				}
			}
			return true
		})
		if err != nil || len(got) != 1000 {
			t.Fatalf("%d lines, %v", len(got), err)
		}
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Errorf("%d workers: other lines than with one", workers)
		}
	}
}

func TestCancelledSearchLeavesNothingRunning(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := manyLines(t)
	defer checkDescriptors(t)()
	for _, after := range []int{0, 1, 40, 800} {
		ctx, cancel := context.WithCancel(context.Background())
		if after == 0 {
			cancel()
		}
		calls := 0
		_, err := Search(ctx, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Workers: 4}, func(string, []Line) bool {
			if calls++; calls == after {
				cancel()
			}
			return true
		})
		cancel()
		if !errors.Is(err, context.Canceled) || calls != after {
			t.Errorf("cancelled after %d calls: %d calls, %v", after, calls, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Walk(ctx, Tree{Root: root}, func(File) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("walk: %v", err)
	}
}

func TestPanicOfTheCallersFunctionReachesTheCaller(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := manyLines(t)
	defer checkDescriptors(t)()
	for _, workers := range []int{1, 4} {
		func() {
			defer func() {
				if v := recover(); v != "boom" {
					t.Errorf("recovered %v", v)
				}
			}()
			Search(context.Background(), Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Workers: workers}, func(string, []Line) bool { panic("boom") })
		}()
	}
}

// checkDescriptors returns a function that fails the test when more files are
// open than now. It sees them only where /proc shows them.
func checkDescriptors(t *testing.T) func() {
	t.Helper()
	open := func() int { names, _ := os.ReadDir("/proc/self/fd"); return len(names) }
	before := open()
	return func() {
		if n := open(); n > before {
			t.Errorf("%d files open, %d before", n, before)
		}
	}
}

func TestIncludeChoosesFiles(t *testing.T) {
	root := lay(t, map[string]string{"a.go": "x", "b.ts": "x", "c/d.go": "x"})
	g, err := CompileGlob("**/*.go")
	if err != nil {
		t.Fatal(err)
	}
	got, stats := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x"), Include: g.Match})
	if want := "a.go:1:x\nc/d.go:1:x\n"; got != want || stats.Files != 2 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilesThatSayTheyAreEmptyAreRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux has a file system that makes files while they are read")
		return
	}
	got, _ := grep(t, Query{Tree: Tree{Root: "/proc/sys", Base: "kernel/random"}, Pattern: compile(t, "^[0-9]+$"), MaxFile: 1 << 20})
	if !strings.Contains(got, "kernel/random/poolsize:1:") {
		t.Errorf("got %q", got)
	}
}
