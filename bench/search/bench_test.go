package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tree is kept under a name that says its version, so what is written must
// not depend on the machine or the moment.
func TestGeneratedTreeIsTheSameEveryTime(t *testing.T) {
	var sums []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "tree")
		if err := writeTree(dir, 3<<20); err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			h.Write([]byte(filepath.ToSlash(strings.TrimPrefix(path, dir))))
			h.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, hex.EncodeToString(h.Sum(nil)))
	}
	const want = "5164b32a41435ef20218b5d72df7fe8de398dd38a1c042bc50588b20f50c410a"
	if sums[0] != want || sums[1] != want {
		t.Errorf("got %v, want %s; give what is written another name in treeVersion when it changes", sums, want)
	}
}

func TestNoTimeIsPrintedWhenTheLinesDiffer(t *testing.T) {
	b := bench{temp: t.TempDir()}
	for name, text := range map[string]string{"rg": "a:1:x\nodd:2:x\nb:1:x\n", "own": "b:1:x\na:1:y\n"} {
		if err := os.WriteFile(filepath.Join(b.temp, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := b.difference(map[string]bool{"odd": true}); err == nil || n != 0 || !strings.Contains(err.Error(), `only ripgrep has "a:1:x"`) {
		t.Errorf("%d, %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(b.temp, "own"), []byte("b:1:x\na:1:x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := b.difference(map[string]bool{"odd": true}); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestMedianTakesTheMiddleOfEachColumn(t *testing.T) {
	m := median([]spent{{3, 10}, {1, 30}, {2, 20}})
	if m != (spent{2 * time.Nanosecond, 20 * time.Nanosecond}) {
		t.Errorf("%v", m)
	}
}

func TestQuickTableOnASmallTree(t *testing.T) {
	if _, err := findRipgrep(); err != nil {
		if testing.Short() {
			t.Skip("needs ripgrep 15")
		}
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "tree")
	if err := writeTree(dir, 3<<20); err != nil {
		t.Fatal(err)
	}
	// The test binary is the program that is timed: it answers to the word find.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rg, err := findRipgrep()
	if err != nil {
		t.Fatal(err)
	}
	b := bench{runs: 1, rg: rg, self: self, temp: t.TempDir()}
	var out bytes.Buffer
	if err := b.subject(&out, subject{"small", dir}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n| "); n != len(queries)+1 {
		t.Errorf("%d rows in\n%s", n, &out)
	}
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "find" {
		main()
		return
	}
	os.Exit(m.Run())
}
