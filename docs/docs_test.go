package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"jig/docs"
)

var link = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)

// TestIndexLinksEveryPageAndSaysWhatItIsFor: whoever reads the manual has no search and no list.
func TestIndexLinksEveryPageAndSaysWhatItIsFor(t *testing.T) {
	index, err := docs.Pages.ReadFile("index.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := fs.Glob(docs.Pages, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		row := regexp.MustCompile(`(?m)^\| \[` + regexp.QuoteMeta(p) + `\]\(` + regexp.QuoteMeta(p) + `\) \| \S.+\? \|$`)
		if p != "index.md" && !row.Match(index) {
			t.Errorf("index.md has no row that links %s and says which question it answers", p)
		}
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*\.md$`).MatchString(p) {
			t.Errorf("%s is no name that can be typed without a doubt", p)
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, pattern := range []string{"*.md", "../*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || files == nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range files {
			for _, m := range link.FindAllStringSubmatch(read(t, f), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				to := f
				if m[1] != "" {
					to = filepath.Join(filepath.Dir(f), m[1])
				}
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s links %s, which is not there", f, m[1])
					continue
				}
				if anchor := strings.TrimPrefix(m[2], "#"); anchor != "" && !slices.Contains(headings(read(t, to)), anchor) {
					t.Errorf("%s links %s#%s, and there is no such heading", f, m[1], anchor)
				}
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// headings are the anchors of a page, as sites that show Markdown make them.
func headings(page string) (out []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		kept := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		out = append(out, kept)
	}
	return out
}

// YAML in the manual is copied by people; a tab in it does not load.
func TestExamplesHaveNoTabsInYAML(t *testing.T) {
	files, _ := filepath.Glob("*.md")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(block[1], "\t") {
				t.Errorf("%s has a tab in a YAML example:\n%s", f, block[1])
			}
		}
	}
}
