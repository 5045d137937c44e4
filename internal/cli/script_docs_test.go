//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"jig/docs"
)

// pageLink is a link to another page of the manual.
var pageLink = regexp.MustCompile(`\]\(([a-z0-9-]+\.md)(?:#[^)\s]*)?\)`)

// cmdManual reads the manual as a model does, from index.md along the links, and checks that each page
// comes whole and that none is out of reach: manual PROGRAM ARGUMENT…. The program takes calls.
func cmdManual(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, -1, "manual PROGRAM ARGUMENT…")
	read := map[string]bool{}
	for next := []string{"index.md"}; len(next) > 0; next = next[1:] {
		name := next[0]
		if read[name] {
			continue
		}
		read[name] = true
		want, err := fs.ReadFile(docs.Pages, name)
		if err != nil {
			ts.Fatalf("a page links %s, which is not in the manual", name)
		}
		c := command(ts, args)
		c.Stdin = strings.NewReader(fmt.Sprintf(`{"tool":"jig_docs","args":{"path":%q}}`, name))
		got, err := c.Output()
		if err != nil || !bytes.Equal(got, want) {
			ts.Fatalf("%s is not as it was written: %v", name, err)
		}
		for _, m := range pageLink.FindAllStringSubmatch(string(want), -1) {
			next = append(next, m[1])
		}
	}
	all, err := fs.Glob(docs.Pages, "*.md")
	ts.Check(err)
	for _, name := range all {
		if !read[name] {
			ts.Fatalf("no page leads to %s", name)
		}
	}
}
