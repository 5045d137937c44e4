//go:build unix

package cli_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var repeated = regexp.MustCompile(`^(\d+)\*(?s:(.*))$`)

// cmdBytes writes a file that a script's archive cannot hold: bytes FILE ITEM…, where an item is text
// with Go's escapes, or N*TEXT for N times the text. {n} in a repeated text is its number, from 1.
func cmdBytes(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, -1, "bytes FILE [N*]TEXT…")
	var b strings.Builder
	for _, item := range args[1:] {
		n := 1
		if m := repeated.FindStringSubmatch(item); m != nil {
			n, _ = strconv.Atoi(m[1])
			item = m[2]
		}
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(item, `"`, `\"`) + `"`)
		ts.Check(err)
		numbered := strings.Contains(text, "{n}")
		for i := range n {
			if numbered {
				b.WriteString(strings.ReplaceAll(text, "{n}", strconv.Itoa(i+1)))
			} else {
				b.WriteString(text)
			}
		}
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, []byte(b.String()), 0o644))
}

// cmdGrow makes a file longer without taking room on the disk: grow FILE BYTES. Nothing that big is
// left when the script ends, even if the folders are kept.
func cmdGrow(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "grow FILE BYTES")
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.Truncate(path, n))
	ts.Defer(func() { _ = os.Remove(path) })
}

// cmdMany makes empty files: many DIR N NAME, with {n} in the name for its number, of five digits.
func cmdMany(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "many DIR N NAME")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	for i := range n {
		f, err := os.Create(filepath.Join(dir, strings.ReplaceAll(args[2], "{n}", fmt.Sprintf("%05d", i+1))))
		ts.Check(err)
		ts.Check(f.Close())
	}
}

func cmdFifo(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "fifo FILE")
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(syscall.Mkfifo(path, 0o644))
}

func cmdSocket(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "socket FILE")
	dir, err := os.MkdirTemp("", "s") // a socket's path must be short
	ts.Check(err)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	ts.Check(err)
	ts.Check(os.Rename(filepath.Join(dir, "s"), ts.MkAbs(args[0])))
	ts.Defer(func() { _ = l.Close(); _ = os.RemoveAll(dir) })
}

// cmdLink makes a hard link: link OLD NEW; -check OLD NEW says whether both are one file.
func cmdLink(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 3 && args[0] == "-check" {
		a, err := os.Stat(ts.MkAbs(args[1]))
		ts.Check(err)
		b, err := os.Stat(ts.MkAbs(args[2]))
		ts.Check(err)
		if os.SameFile(a, b) == neg {
			ts.Fatalf("%s and %s: one file is %v", args[1], args[2], !neg)
		}
		return
	}
	takes(ts, neg, args, 2, 2, "link [-check] OLD NEW")
	ts.Check(os.Link(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// cmdAge sets when files were changed last: age SECONDS FILE…, counted back from now.
func cmdAge(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "age SECONDS FILE…")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	then := time.Now().Add(-time.Duration(n) * time.Second).Truncate(time.Second)
	for _, f := range args[1:] {
		ts.Check(os.Chtimes(ts.MkAbs(f), then, then))
	}
}

// cmdMode checks a file's kind and permissions as ls prints them: mode -rw-r--r-- FILE.
func cmdMode(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "mode MODE FILE")
	st, err := os.Lstat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := st.Mode().String(); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// cmdLength checks how many bytes a file, stdout or stderr has: length N FILE.
func cmdLength(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "length BYTES FILE")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := len(ts.ReadFile(args[1])); got != want {
		ts.Fatalf("%s has %d bytes, want %d", args[1], got, want)
	}
}

// cmdDrop removes what a regular expression matches from a file, stdout or stderr, and leaves the
// rest as a file: drop PATTERN FROM TO. It is for what differs from run to run.
func cmdDrop(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "drop PATTERN FROM TO")
	re, err := regexp.Compile(args[0])
	ts.Check(err)
	text := ts.ReadFile(args[1])
	if !re.MatchString(text) {
		ts.Fatalf("%s holds nothing that matches %s", args[1], re)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(re.ReplaceAllString(text, "")), 0o644))
}
