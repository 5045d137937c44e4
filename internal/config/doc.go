// Package config turns the bytes of configuration files and personas into one
// checked value, in which every setting knows the file and the line it came from.
//
// It also decides what may be believed: which sources a person has trusted, and
// what a project may never say at all. And it knows, for each operating system,
// where the files would be.
//
// It is not the part that finds or reads files: it opens nothing, looks at no
// environment and starts nothing. Everything comes in as a value, so a file on
// another machine is judged exactly like one here, and Windows' and macOS' rules
// are tested on any machine. It is not the part that knows what a toolset's
// settings mean either: those stay undecoded (see [Tool.Decode]) until the toolset
// asks for them.
package config
