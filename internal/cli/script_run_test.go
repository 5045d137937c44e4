//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a script waits for something that should have happened at once.
const patience = 30 * time.Second

// cmdExits runs a program that must end with an exit code: exits CODE PROGRAM ARGUMENT….
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "exits CODE PROGRAM ARGUMENT…")
	checkCode(ts, args[0], ts.Exec(args[1], args[2:]...))
}

func checkCode(ts *testscript.TestScript, want string, err error) {
	got := 0
	var e *exec.ExitError
	if errors.As(err, &e) {
		got = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// command is a program in the script's folder and environment.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	path := args[0]
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if full := filepath.Join(dir, path); !strings.Contains(path, "/") {
			if st, err := os.Stat(full); err == nil && st.Mode().IsRegular() {
				path = full
			}
		}
	}
	c := exec.Command(path, args[1:]...)
	c.Dir, c.Env = ts.MkAbs("."), on(ts).environ(ts)
	return c
}

// ended waits for a program that was started, and kills one that hangs.
func ended(ts *testscript.TestScript, c *exec.Cmd) error {
	t := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer t.Stop()
	return c.Wait()
}

// cmdNobody runs a program as a user who owns nothing: nobody CODE PROGRAM ARGUMENT…. Who is no
// superuser has no such power, and needs none: it runs as who it is.
func cmdNobody(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "nobody CODE PROGRAM ARGUMENT…")
	c := command(ts, args[1:])
	if os.Getuid() == 0 {
		for _, path := range append(filepath.SplitList(ts.Getenv("PATH")), ts.Getenv("WORK")) {
			openDoors(ts, path)
		}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	ts.Check(c.Start())
	err := ended(ts, c)
	fmt.Fprint(ts.Stdout(), out.String())
	fmt.Fprint(ts.Stderr(), errs.String())
	checkCode(ts, args[0], err)
}

// openDoors lets everybody pass to one of the test's own folders, which are in the temporary one.
func openDoors(ts *testscript.TestScript, dir string) {
	for ; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		st, err := os.Stat(dir)
		ts.Check(err)
		ts.Check(os.Chmod(dir, st.Mode()|0o55))
	}
}

// cmdTerminal runs a program with a terminal for all three of its streams: terminal CODE IN PROGRAM
// ARGUMENT…. IN is a file that is typed, - for nothing. What the terminal showed is standard output,
// with \r\n as \n and without the echo of what was typed.
func cmdTerminal(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, -1, "terminal CODE IN PROGRAM ARGUMENT…")
	typed := ""
	if args[1] != "-" {
		typed = ts.ReadFile(args[1])
	}
	c := command(ts, args[2:])
	screen, line, err := pty.Open()
	ts.Check(err)
	defer screen.Close()
	c.Stdin, c.Stdout, c.Stderr = line, line, line
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(silent(line))
	if args[1] != "-" {
		_, err = io.WriteString(screen, typed+"\x04") // and the end of input
		ts.Check(err)
	}
	ts.Check(c.Start())
	_ = line.Close()
	var out bytes.Buffer
	_, _ = io.Copy(&out, screen) // ends with EIO when the program has gone
	err = ended(ts, c)
	shown := strings.ReplaceAll(out.String(), "\r\n", "\n")
	fmt.Fprint(ts.Stdout(), shown)
	checkCode(ts, args[0], err)
}

// cmdInterrupt runs a program and interrupts it as soon as a server has been asked something:
// interrupt CODE SERVER PROGRAM ARGUMENT….
func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, -1, "interrupt CODE SERVER PROGRAM ARGUMENT…")
	srv := find(ts, args[1])
	was := len(srv.Requests())
	c := command(ts, args[2:])
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	ts.Check(c.Start())
	for end := time.Now().Add(patience); len(srv.Requests()) == was; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			_ = c.Process.Kill()
			_ = c.Wait()
			ts.Fatalf("%s was never asked: %s", args[1], errs.String())
		}
	}
	ts.Check(c.Process.Signal(os.Interrupt))
	err := ended(ts, c)
	fmt.Fprint(ts.Stdout(), out.String())
	fmt.Fprint(ts.Stderr(), errs.String())
	checkCode(ts, args[0], err)
}

// talk is a jig call - that goes on while the script does other things.
type talk struct {
	c   *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err *bytes.Buffer
	n   int
}

// cmdOpen starts a program that takes calls from standard input: open PROGRAM ARGUMENT….
func cmdOpen(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, -1, "open PROGRAM ARGUMENT…")
	c := command(ts, args)
	in, err := c.StdinPipe()
	ts.Check(err)
	out, err := c.StdoutPipe()
	ts.Check(err)
	t := &talk{c: c, in: in, out: bufio.NewReader(out), err: &bytes.Buffer{}}
	c.Stderr = t.err
	ts.Check(c.Start())
	on(ts).talk = t
	ts.Defer(func() { _ = c.Process.Kill() })
}

// cmdSend gives the program that was opened one call and waits for its result, which is standard
// output: send TOOL ARGUMENTS. The end of the result is known by that of another call.
func cmdSend(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "send TOOL ARGUMENTS")
	t := on(ts).talk
	t.n++
	mark := fmt.Sprintf("no-such-folder-%d", t.n)
	_, err := fmt.Fprintf(t.in, `{"tool":%q,"args":%s}`+"\n"+`{"tool":"list_dir","args":{"path":%q}}`+"\n", args[0], args[1], mark)
	ts.Check(err)
	watch := time.AfterFunc(patience, func() { _ = t.c.Process.Kill() })
	defer watch.Stop()
	for {
		line, err := t.out.ReadString('\n')
		if err != nil {
			ts.Fatalf("the program ended: %s", t.err)
		}
		if line == "not a directory: "+mark+"\n" {
			return
		}
		fmt.Fprint(ts.Stdout(), line)
	}
}

// cmdClose ends the program that was opened: close CODE.
func cmdClose(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "close CODE")
	t := on(ts).talk
	ts.Check(t.in.Close())
	rest, err := io.ReadAll(t.out)
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), string(rest))
	err = ended(ts, t.c)
	fmt.Fprint(ts.Stderr(), t.err.String())
	checkCode(ts, args[0], err)
}
