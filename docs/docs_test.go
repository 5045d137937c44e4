package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"jig/docs"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)

func TestIndexLinksEveryPage(t *testing.T) {
	index, err := docs.Pages.ReadFile("index.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := fs.Glob(docs.Pages, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p != "index.md" && !strings.Contains(string(index), "]("+p+")") {
			t.Errorf("index.md does not link %s", p)
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
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(data), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				if _, err := os.Stat(filepath.Join(filepath.Dir(f), m[1])); err != nil {
					t.Errorf("%s links %s, which is not there", f, m[1])
				}
			}
		}
	}
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
