//go:build linux

package cli_test

import (
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
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// tiers are what commands can be confined in on Linux, and nothing.
var tiers = []string{"bwrap", "namespaces", "landlock", "none"}

// TestScriptsInEveryTier runs the scripts whose text must hold whatever confines the commands. The
// condition tier:NAME is for what does differ.
func TestScriptsInEveryTier(t *testing.T) {
	files, err := filepath.Glob("testdata/tiers/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, tier := range tiers {
		t.Run(tier, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Files:               files,
				RequireExplicitExec: true,
				UpdateScripts:       os.Getenv("JIG_UPDATE_SCRIPTS") != "",
				Cmds:                allCommands(),
				Condition: func(cond string) (bool, error) {
					return strings.TrimPrefix(cond, "tier:") == tier, nil
				},
				Setup: func(e *testscript.Env) error {
					e.Setenv("JIG_TEST_TIER", tier)
					return setUp(e)
				},
			})
		})
	}
}

// shellCommands are what scripts can do where commands can be confined.
var shellCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"away": cmdAway, "needs": cmdNeeds, "cache": cmdCache,
	"left": cmdLeft, "alive": cmdAlive, "slain": cmdSlain, "hangup": cmdHangup, "term": cmdTerm, "peak": cmdPeak, "denied": cmdDenied,
}

// cmdAway makes a folder that no sandbox lets commands write to, which no temporary one is, with jig
// in its bin: away NAME. Its path is in the variable NAME.
func cmdAway(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "away NAME")
	above, err := os.UserCacheDir()
	if err != nil || strings.HasPrefix(above, os.TempDir()+"/") {
		above, err = os.Getwd() // the package's folder
	}
	ts.Check(err)
	ts.Check(os.MkdirAll(above, 0o755))
	dir, err := os.MkdirTemp(above, "jig-test-")
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	ts.Check(err)
	ts.Check(os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	program, err := os.Executable()
	ts.Check(err)
	// By another process: a file that this one has open for writing cannot be run as long as any
	// program that it starts meanwhile has it, too.
	ts.Check(exec.Command("cp", program, filepath.Join(dir, "bin", "jig")).Run())
	ts.Setenv(args[0], dir)
}

// marked lists the processes that a command of this script started: they carry the mark of a call
// and this script's home.
func marked(ts *testscript.TestScript) (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	ts.Check(err)
	home := []byte("\x00HOME=" + ts.Getenv("HOME") + "\x00")
	for _, file := range all {
		env, err := os.ReadFile(file)
		env = append([]byte{0}, env...)
		if err == nil && bytes.Contains(env, home) && bytes.Contains(env, []byte("\x00JIG_CALL=")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// cmdLeft checks how many processes that commands of this script started are there: left N [-kill].
// What is on its way to that number is waited for. They end with the script, or now.
func cmdLeft(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 2, "left N [-kill]")
	end := func() {
		for _, pid := range marked(ts) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	ts.Defer(end)
	var pids []int
	for until := time.Now().Add(patience / 2); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if pids = marked(ts); strconv.Itoa(len(pids)) == args[0] {
			if len(args) == 2 {
				end()
			}
			return
		}
	}
	for _, pid := range pids {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		ts.Logf("%d %q", pid, line)
	}
	ts.Fatalf("%d processes of commands are there, want %s", len(pids), args[0])
}

// cmdAlive checks how many processes with an argument there are on the machine, whoever started them
// and whatever they call themselves: alive N ARGUMENT. What is on its way to that number is waited for.
func cmdAlive(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "alive N ARGUMENT")
	n := 0
	for until := time.Now().Add(patience / 2); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		ts.Check(err)
		n = 0
		for _, file := range all {
			line, _ := os.ReadFile(file) // one that ended meanwhile has none
			if bytes.Contains(line, []byte("\x00"+args[1]+"\x00")) {
				n++
			}
		}
		if strconv.Itoa(n) == args[0] {
			return
		}
	}
	ts.Fatalf("%d processes with the argument %s are there, want %s", n, args[1], args[0])
}

// cmdPeak runs a program that must end well without ever taking more memory: peak MIB PROGRAM
// ARGUMENT….
func cmdPeak(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "peak MIB PROGRAM ARGUMENT…")
	c := command(ts, args[1:])
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	ts.Check(c.Start())
	// What the system tells at the end counts the memory of this process, too, which it was a copy of.
	over, peak := make(chan bool), make(chan int64)
	go func() {
		most := int64(0)
		for {
			most = max(most, highWater(c.Process.Pid))
			select {
			case <-over:
				peak <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	err := ended(ts, c)
	close(over)
	got := <-peak >> 10
	_, _ = io.Copy(ts.Stdout(), &out)
	_, _ = io.Copy(ts.Stderr(), &errs)
	ts.Check(err)
	most, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	if got == 0 || got > most {
		ts.Fatalf("%d MiB were taken, want no more than %d", got, most)
	}
}

// highWater is the most memory that the program a process runs has had, in KiB; 0 when it is gone.
func highWater(pid int) (n int64) {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for l := range strings.Lines(string(b)) {
		if s, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			n, _ = strconv.ParseInt(strings.Fields(s)[0], 10, 64)
		}
	}
	return n
}

// cmdDenied runs a program as in a container that denies user namespaces, as a user who owns nothing
// where the superuser is there to become one: denied CODE PROGRAM ARGUMENT…. The setting is that of a
// user namespace made for it.
func cmdDenied(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "denied CODE PROGRAM ARGUMENT…")
	powerless := "exec setpriv --inh-caps=-all --bounding-set=-all "
	size, group := 1, false
	if os.Getuid() == 0 {
		size, group = 65536, true
		powerless += "--reuid=65534 --regid=65534 --clear-groups "
		for _, path := range append(filepath.SplitList(ts.Getenv("PATH")), ts.Getenv("WORK"), ts.Getenv("AWAY")) {
			openDoors(ts, path)
		}
	}
	c := command(ts, append([]string{"sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && " + powerless + `"$@"`, "sh"}, args[1:]...))
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, GidMappingsEnableSetgroups: group,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: size}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: size}}}
	out, err := c.Output()
	var e *exec.ExitError
	if errors.As(err, &e) {
		fmt.Fprint(ts.Stderr(), string(e.Stderr))
	}
	fmt.Fprint(ts.Stdout(), string(out))
	checkCode(ts, args[0], err)
}

// cmdSlain runs a program and kills it as nothing can be prepared for, as soon as a file is there:
// slain FILE PROGRAM ARGUMENT….
func cmdSlain(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "slain FILE PROGRAM ARGUMENT…")
	endBy(ts, syscall.SIGKILL, args)
}

// cmdHangup is the same with the signal that a closed terminal sends: hangup FILE PROGRAM ARGUMENT….
func cmdHangup(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "hangup FILE PROGRAM ARGUMENT…")
	endBy(ts, syscall.SIGHUP, args)
}

// cmdTerm is the same with the signal that asks a program to end: term FILE PROGRAM ARGUMENT….
func cmdTerm(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, -1, "term FILE PROGRAM ARGUMENT…")
	endBy(ts, syscall.SIGTERM, args)
}

func endBy(ts *testscript.TestScript, how syscall.Signal, args []string) {
	c := command(ts, args[1:])
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	// Its own group, so that nothing but the program itself is told.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ts.Check(c.Start())
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			break
		}
		if time.Now().After(end) {
			_ = c.Process.Kill()
			_ = c.Wait()
			ts.Fatalf("%s never came: %s%s", args[0], out.String(), errs.String())
		}
	}
	ts.Check(c.Process.Signal(how))
	_ = ended(ts, c)
	_, _ = io.Copy(ts.Stdout(), &out)
	_, _ = io.Copy(ts.Stderr(), &errs)
}

// cmdNeeds names programs that must be installed: needs PROGRAM…. A short test does without the
// script, any other fails.
func cmdNeeds(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, -1, "needs PROGRAM…")
	if testing.Short() {
		on(ts).t.Skipf("needs %s", strings.Join(args, " "))
	}
	for _, name := range args {
		if _, err := exec.LookPath(name); err != nil {
			ts.Fatalf("%s is not installed, or not on PATH", name)
		}
	}
}

// cmdCache lets jig keep its cache from one test to the next, because filling it costs a minute:
// cache NAME.
func cmdCache(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, 1, "cache NAME")
	above, err := os.UserCacheDir()
	ts.Check(err)
	ts.Setenv("XDG_CACHE_HOME", filepath.Join(above, args[0]))
}
