package cli

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jig/docs"
)

// TestManualSpeaksOfEveryCommandAndFlag: cli.md lists them because it is written from them. What one is
// for, and when to use it, is on another page.
func TestManualSpeaksOfEveryCommandAndFlag(t *testing.T) {
	pages, err := fs.Glob(docs.Pages, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	var prose strings.Builder
	for _, name := range pages {
		if name == "cli.md" {
			continue
		}
		text, err := fs.ReadFile(docs.Pages, name)
		if err != nil {
			t.Fatal(err)
		}
		prose.Write(text)
	}
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Hidden {
			return
		}
		if c.HasParent() && !mentions(prose.String(), c.CommandPath()) {
			t.Errorf("no page but cli.md speaks of %s", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			seen++
			if f.Hidden || f.Name == "help" || f.Name == "version" {
				return
			}
			if !mentions(prose.String(), "--"+f.Name) && (f.Shorthand == "" || !mentions(prose.String(), "-"+f.Shorthand)) {
				t.Errorf("no page but cli.md speaks of --%s (%s)", f.Name, c.CommandPath())
			}
		})
	}
	walk(newRoot(World{}))
	if seen < 20 || prose.Len() < 10_000 {
		t.Errorf("only %d flags and %d bytes were looked at", seen, prose.Len())
	}
}

// mentions says whether a text has these words, and not only as the beginning of longer ones.
func mentions(text, words string) bool {
	pattern := `(^|[^\w-])` + strings.ReplaceAll(regexp.QuoteMeta(words), " ", `\s+`) + `($|[^\w-])`
	return regexp.MustCompile(pattern).MatchString(text)
}
