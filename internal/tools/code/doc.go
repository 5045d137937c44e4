// Package code is the toolset for reading, searching and changing a project's files: glob, grep,
// list_dir, read_file, edit_file and write_file. Everything is confined to the project root; it runs
// no command and knows nothing of sessions, approval or screens.
//
// # Paths
//
// The jail is lexical: a path is joined to the root and cleaned, and what then lies outside is
// refused. Reading follows symbolic links wherever they lead. A write is refused when its real
// target lies outside the root, and it happens through an os.Root, so that a link put in place
// between the check and the write leads nowhere either.
//
// A path is taken as it was written when something of that name exists. Otherwise the spellings that
// models produce by habit are tried: white space around the path is dropped, ~/ is the home
// directory (that one always: a directory called ~ is never meant, and ./~ names it), a file:// URL
// is the path in it, a name in quotes is the one these tools print for names with control
// characters, a leading @ is dropped (not where a new file could be meant), and of the names beside
// it one that differs only in its Unicode form is taken if there is exactly one. Ambiguity is an
// error that names the candidates.
//
// Paths in results are relative to the root, with slashes. A name that holds control characters is
// printed as a quoted string, so that one line is one path; bytes that are no UTF-8 are printed as
// U+FFFD, and the path with U+FFFD finds the file again as long as no other name looks the same.
//
// # Text
//
// Files are bytes. An edit replaces exactly the bytes of its match, so encodings, line ends and the
// final newline outside of it cannot change. What the model reads is UTF-8 with U+FFFD for every
// other byte (and for NUL, which many readers of JSON refuse), and text with U+FFFD is never found in
// a file that does not really hold it.
//
// A byte order mark at the start is hidden from reading and searching, and an edit leaves it where it
// is. write_file is different: it writes exactly the content it was given, so a mark that the new
// content does not have is gone. The other way, adding what nobody asked for, would make the result
// differ from the content that was approved.
//
// Of a file all of whose lines end in CRLF, the carriage returns are hidden too; in one with mixed
// ends they are shown, because an exact match needs them. The one tolerance of edit_file goes with
// this: where an exact match fails in such a CRLF file, old and new text are taken with CRLF.
//
// # Writing
//
// A changed file is written beside the old one and renamed over it, when mode, owner, extended
// attributes and hard links survive that; else it is written in place, new space first, so that a
// full disk is noticed before the old content is touched. Writers of all jig processes take turns by
// an advisory lock on the directory.
package code
