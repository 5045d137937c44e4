package main

import (
	"bufio"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"

	"jig/internal/search"
	"jig/internal/search/regex"
)

// find is the program that is timed: it prints all matching lines below a
// directory the way ripgrep does with -n --no-heading.
func find(args []string) error {
	flags := flag.NewFlagSet("find", flag.ExitOnError)
	fold := flags.Bool("i", false, "ignore case")
	workers := flags.Int("j", 2, "files searched at once")
	flags.Parse(args)
	pattern, root := flags.Arg(0), flags.Arg(1)
	re, err := regex.Compile(pattern, regex.Options{IgnoreCase: *fold})
	if err != nil {
		return err
	}
	tree := search.Tree{Root: root}
	if rules, err := os.ReadFile(filepath.Join(root, ".gitignore")); err == nil {
		tree.Ignore = search.ParseIgnore(rules)
	}
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	_, err = search.Search(context.Background(), search.Query{Tree: tree, Pattern: re, MaxFile: maxFile, Workers: *workers},
		func(path string, lines []search.Line) bool {
			for _, l := range lines {
				out.WriteString(path)
				b := append(out.AvailableBuffer(), ':')
				b = append(strconv.AppendInt(b, int64(l.N), 10), ':')
				out.Write(b)
				out.Write(l.Text)
				out.WriteByte('\n')
			}
			return true
		})
	if err != nil {
		return err
	}
	return out.Flush()
}

const maxFile = 10 << 20
