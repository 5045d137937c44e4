package intrinsic

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"jig/docs"
	"jig/internal/tool"
)

//go:embed jig_docs.md
var docsDoc string

var noPage = tool.Fails("there is no page {path} in the manual; read index.md, which links every page by its exact name")

// Manual offers jig_docs, for main agents and subagents alike.
func Manual() tool.Owner { return manual(docs.Pages) }

// manual reads a folder of pages. A path is the name of a page and nothing else: no other spelling of it,
// no folder, no part of a page.
func manual(pages fs.FS) tool.Owner {
	return newOwner(definition{
		name: "jig_docs", doc: docsDoc, failures: []*tool.Failure{noPage},
		params: tool.Params{{Name: "path", Type: tool.String, Required: true, Doc: "a page's exact name, such as index.md"}},
		prepare: func(a tool.Args) (step, error) {
			path, err := a.Need("path")
			if err != nil {
				return step{}, err
			}
			if strings.ContainsAny(path, `/\`) || !strings.HasSuffix(path, ".md") {
				return step{}, noPage.With("path", strconv.Quote(clip(path)))
			}
			text, err := fs.ReadFile(pages, path)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
				err = noPage.With("path", strconv.Quote(clip(path)))
			}
			if err != nil {
				return step{}, err
			}
			return step{subject: path, run: func() (tool.Result, error) { return tool.Text(whole(string(text))), nil }}, nil
		},
	})
}

// whole is a page, or as many of its lines as a result takes, with a line that says so.
func whole(text string) string {
	const note = 80 // more than the last line has
	if len(text) <= outputCap {
		return text
	}
	cut := outputCap - note
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	if i := strings.LastIndexByte(text[:cut], '\n'); i > 0 {
		cut = i
	}
	return fmt.Sprintf("%s\n[the page ends here: %d of its %d bytes were shown]", text[:cut], cut, len(text))
}
