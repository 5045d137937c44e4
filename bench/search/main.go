// Command search times the search of package internal/search against ripgrep,
// both as whole processes that do the same work, and refuses to print a time
// when they do not find the same lines.
//
//	go run ./bench/search              the whole table
//	go run ./bench/search -quick       three runs, a small generated tree
//	go run ./bench/search find PATTERN DIR   the program that is timed
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	var err error
	if len(os.Args) > 1 && os.Args[1] == "find" {
		err = find(os.Args[2:])
	} else {
		err = table()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func table() error {
	runs := flag.Int("runs", 7, "timed runs of each program for each pattern")
	quick := flag.Bool("quick", false, "three runs and a generated tree of 100 MB")
	only := flag.String("only", "", "time only the patterns whose name contains this")
	where := flag.String("tree", "", "time only the tree whose name contains this (go, generated)")
	flag.Parse()
	b := bench{runs: *runs, only: *only, where: *where, size: fullSize}
	if *quick {
		b.runs, b.size = 3, 100<<20
	}
	return b.run(os.Stdout)
}
