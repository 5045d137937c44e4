// Package search finds files and lines in a tree: file name patterns, ignore
// files, the walk over a directory tree and the parallel search through file
// contents. The regular expressions themselves are package regex below it.
//
// It is not a tool: it sets no limits of its own, words no messages for a
// model or a person, and knows nothing of how results are shown. Limits,
// clipping and wording belong to the caller.
//
// All paths that go in or come out are relative to a root and use slashes on
// every system.
package search
