// Command bench prints how good jig is, as figures and as ratios to a floor or a peer that was timed
// in the same run: machines differ and are noisy, so no figure is worth anything alone. It is no
// test and nothing fails on a figure.
//
//	go run ./bench           everything (make bench)
//	go run ./bench -quick    fewer runs, a small generated tree
//	go run ./bench -only search
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"jig/internal/sandbox"
)

// section is one part of the table.
type section struct {
	name string
	run  func(b *bench) error
}

var sections = []section{{"run", runs}, {"streams", streams}, {"shell", shell}, {"flood", floods}, {"grep", calls}, {"search", search}, {"record", record}, {"sessions", sessions}, {"history", transcripts}}

type bench struct {
	quick   bool
	runs    int    // timed runs of each thing
	tmp     string // thrown away at the end
	jig     string // the binary that is measured
	history string // a file that stays, "" is none
}

func main() {
	// The init of a sandbox is this program again, as it is jig where jig opens one.
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.WardenMain(os.Args[2:]))
	}
	if len(os.Args) > 5 && os.Args[1] == exchangeCommand {
		os.Exit(exchangeMain(os.Args[2:]))
	}
	quick := flag.Bool("quick", false, "fewer runs and a small generated tree")
	only := flag.String("only", "", "only this section: run, streams, shell, flood, grep, search, record, sessions or history")
	hoard := flag.String("history", "", "a `file` with a history to search; it is made where there is none, and stays")
	flag.Parse()
	if err := table(*quick, *only, *hoard); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func table(quick bool, only, hoard string) error {
	tmp, err := os.MkdirTemp("", "jig-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	b := &bench{quick: quick, runs: 31, tmp: tmp, history: hoard, jig: filepath.Join(tmp, "jig")}
	if quick {
		b.runs = 7
	}
	if hoard == "" { // a history that stays is measured in this process alone
		if err := build(b.jig, "./cmd/jig"); err != nil {
			return err
		}
	}
	fmt.Printf("%s/%s, %d processors, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, s := range sections {
		if only != "" && only != s.name {
			continue
		}
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Println()
	}
	return nil
}

// build makes a binary as it is shipped.
func build(to, pkg string) error {
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", to, pkg)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	return c.Run()
}

// search hands over to the program that compares with ripgrep.
func search(b *bench) error {
	exe := filepath.Join(b.tmp, "search")
	if err := build(exe, "./bench/search"); err != nil {
		return err
	}
	c := exec.Command(exe)
	if b.quick {
		c.Args = append(c.Args, "-quick")
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}
