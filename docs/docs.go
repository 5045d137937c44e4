// Package docs is the manual, embedded as it stands: flat Markdown files that people and models
// read. It has no search and no list beside index.md, which links every page.
package docs

import "embed"

// Pages holds the manual's files by name, such as index.md.
//
//go:embed *.md
var Pages embed.FS
