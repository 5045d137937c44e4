// Package cli turns a command line into one Options value, one host and one client. It alone reads
// flags, the environment and the configuration files; everything below it gets values. It decides
// exit codes and is the last to touch an error before a person reads it.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"

	"jig/internal/print"
	"jig/internal/sandbox"
	"jig/internal/tools/shell"
)

// World is what the process finds around it. Tests make their own.
type World struct {
	In       io.Reader
	Out, Err io.Writer
	// Which of the three are terminals.
	InTerm, OutTerm, ErrTerm bool
	Getenv                   func(string) (string, bool)
	Environ                  []string
	Home, Cwd, Temp, Binary  string // Binary is "" when the system cannot say
	UnderWarden              bool   // a command of a jig's shell is among the ancestors
	GOOS, GOARCH             string
	Now                      func() time.Time
}

// Main runs jig as the operating system started it and gives the exit code.
func Main(args []string) int {
	// The two commands that jig runs itself as. They must come before anything that costs time, asks
	// for signals or reads the environment.
	if len(args) > 1 {
		switch args[1] {
		case sandbox.Command:
			return sandbox.WardenMain(args[2:])
		case shell.RedirectCommand:
			return shell.RedirectMain(args[2:], os.Environ())
		}
	}
	ctx, stop := interruptible()
	defer stop()
	return Run(ctx, systemWorld(), args[1:])
}

// testOnlyLater is what tests set to be told the time of a later day: a duration.
const testOnlyLater = "JIG_TEST_LATER"

func systemWorld() World {
	w := World{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.LookupEnv, Environ: os.Environ(), Temp: os.TempDir(), UnderWarden: underWarden(),
		GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Now: time.Now}
	w.InTerm = term.IsTerminal(int(os.Stdin.Fd()))
	w.OutTerm = term.IsTerminal(int(os.Stdout.Fd()))
	w.ErrTerm = term.IsTerminal(int(os.Stderr.Fd()))
	w.Home, _ = os.UserHomeDir() // "" leaves the user level out, and doctor says so
	w.Cwd, _ = os.Getwd()        // "" is reported when a command needs it
	if d, err := time.ParseDuration(os.Getenv(testOnlyLater)); err == nil {
		w.Now = func() time.Time { return time.Now().Add(d) }
	}
	if b, err := os.Executable(); err == nil {
		if b, err = filepath.EvalSymlinks(b); err == nil {
			w.Binary = b
		}
	}
	return w
}

// interruptible is a context that the first signal ends, so that a run can report how it ended; the
// second one ends the process.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for range 2 {
			select {
			case <-got:
				if ctx.Err() != nil {
					os.Exit(exitInterrupted)
				}
				cancel()
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(got); close(done); cancel() }
}

// interruptibleReader ends a read when ctx ends, so that the first Ctrl+C also ends a jig that waits
// for input. Nothing can call off a read of a terminal, so what waits for one is left behind: the
// program is about to end. It reads into a buffer of its own for that.
type interruptibleReader struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptibleReader) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	buf, got := make([]byte, len(p)), make(chan result, 1)
	go func() {
		n, err := i.r.Read(buf)
		got <- result{n, err}
	}()
	select {
	case r := <-got:
		return copy(p, buf[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}

// color says whether what goes to a terminal may be coloured.
func (w World) color(terminal bool) bool {
	no, _ := w.Getenv("NO_COLOR") // set and not empty, as https://no-color.org has it
	t, _ := w.Getenv("TERM")
	return terminal && no == "" && t != "dumb"
}

// warn writes one line for a person.
func (w World) warn(format string, a ...any) {
	fmt.Fprintf(w.Err, "jig: warning: %s\n", print.Clean(fmt.Sprintf(format, a...)))
}
