//go:build linux

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processAttempts aim at a process outside that belongs to the same user, and at the ones that
// start the commands.
func processAttempts() []attempt {
	touched := func(w *world, _ string) bool { return w.victim.ask("memory") != "untouched" }
	signalled := func(w *world, _ string) bool {
		return soon(func() bool { return w.victim.ask("signals") != "0" })
	}
	list := []attempt{
		{name: "kill", danger: "signals", run: []string{"sh", "kill -USR1 $PID"}, done: signalled},
		{name: "kill its group", danger: "signals", run: []string{"sh", "kill -USR1 -$PID"}, done: signalled},
		{name: "by a handle", danger: "signals", run: []string{"handle-signal", "$PID"}, done: signalled},
		{name: "queued", danger: "signals", run: []string{"queue-signal", "$PID"}, done: signalled},
		{name: "as the owner of a descriptor", danger: "signals", run: []string{"owner-signal", "$PID"}, done: signalled},
		{name: "write its memory file", danger: "trace", run: []string{"memory-file", "$PID", "$ADDR"}, done: touched},
		{name: "write its memory", danger: "trace", run: []string{"memory-call", "$PID", "$ADDR"}, done: touched},
		{name: "trace it", danger: "trace", run: []string{"trace", "$PID", "$ADDR"}, done: touched},
		{name: "take a descriptor", danger: "trace", run: []string{"take-descriptor", "$PID"}, done: says("original")},
		{name: "its limits", danger: "limits", run: []string{"limit", "$PID"}, done: func(w *world, _ string) bool {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", w.victim.cmd.Process.Pid))
			return strings.Contains(string(b), " 4711 ")
		}},
		{name: "its priority", danger: "priority", userOnly: true, run: []string{"sh", "renice -n 7 -p $PID"}, done: func(w *world, _ string) bool {
			n, err := unix.Getpriority(unix.PRIO_PROCESS, w.victim.cmd.Process.Pid)
			return err == nil && n == 20-7 // as the system call counts
		}},
		{name: "its namespaces", danger: "mount", rootOnly: true, run: []string{"sh", "nsenter -t $PID -m touch $OUT/new"}, done: thereIs("out", "new")},
		{name: "environment", danger: "environ", run: []string{"sh", "tr '\\0' '\\n' < /proc/$PID/environ"}, done: says(victimSecret)},
		{name: "environment of everybody", danger: "environ", run: []string{"sh", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'"}, done: says(victimSecret)},
		{name: "its root", danger: "environ", run: []string{"create", "/proc/$PID/root$OUT/new"}, done: thereIs("out", "new")},
		{name: "its folder", danger: "environ", run: []string{"create", "/proc/$PID/cwd/new"}, done: thereIs("out", "new")},
		{name: "its files", danger: "environ", run: []string{"sh", "for f in /proc/$PID/fd/*; do [ -f $f ] && cat $f; done"}, done: says("original")},
		{name: "its command line", danger: "processes", run: []string{"sh", "tr '\\0' ' ' < /proc/$PID/cmdline"}, done: says(" victim ")},
	}
	for i := range list {
		list[i].prepare = func(t *testing.T, w *world) {
			if w.victim != nil {
				w.victim.stop()
			}
			w.startVictim(t)
		}
	}
	return list
}

// address makes a written number a place in somebody's memory.
func address(s string) uintptr {
	n, _ := strconv.ParseUint(s, 10, 64)
	return uintptr(n)
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func processFunctions() functions {
	return functions{
		"handle-signal": func(a []string) error {
			fd, err := unix.PidfdOpen(number(a[0]), 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGUSR1, nil, 0)
		},
		"queue-signal": func(a []string) error {
			var info [128]byte
			*(*int32)(unsafe.Pointer(&info[0])) = int32(unix.SIGUSR1)
			*(*int32)(unsafe.Pointer(&info[8])) = -1 // SI_QUEUE
			_, _, e := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(number(a[0])), uintptr(unix.SIGUSR1), uintptr(unsafe.Pointer(&info[0])))
			if e != 0 {
				return e
			}
			return nil
		},
		"owner-signal": ownerSignal,
		"memory-file": func(a []string) error {
			f, err := os.OpenFile("/proc/"+a[0]+"/mem", os.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte("TOUCHED"), int64(address(a[1])))
			return err
		},
		"memory-call": func(a []string) error {
			text := []byte("TOUCHED")
			local := []unix.Iovec{{Base: &text[0], Len: uint64(len(text))}}
			remote := []unix.RemoteIovec{{Base: address(a[1]), Len: len(text)}}
			_, err := unix.ProcessVMWritev(number(a[0]), local, remote, 0)
			return err
		},
		"trace": func(a []string) error {
			runtime.LockOSThread()
			pid := number(a[0])
			if err := unix.PtraceAttach(pid); err != nil {
				return err
			}
			var ws unix.WaitStatus
			if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil {
				return err
			}
			_, err := unix.PtracePokeData(pid, address(a[1]), []byte("TOUCHED!!"))
			return errors.Join(err, unix.PtraceDetach(pid))
		},
		"take-descriptor": func(a []string) error {
			h, err := unix.PidfdOpen(number(a[0]), 0)
			if err != nil {
				return err
			}
			for fd := range 16 {
				got, err := unix.PidfdGetfd(h, fd, 0)
				if err != nil {
					continue
				}
				b := make([]byte, 64)
				if n, _ := unix.Pread(got, b, 0); n > 0 {
					fmt.Printf("%s\n", b[:n])
				}
			}
			return nil
		},
		"limit": func(a []string) error {
			return unix.Prlimit(number(a[0]), unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 4711, Max: 4711}, nil)
		},
		"look-at-init": lookAtInit,
		"leak": func([]string) error {
			for fd := 3; fd < 1024; fd++ {
				_, _ = unix.Write(fd, []byte("leaked"))
			}
			return nil
		},
	}
}

// ownerSignal lets the kernel send a signal for us: input on a descriptor is told to its owner.
func ownerSignal(a []string) error {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETOWN, number(a[0])); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETSIG, int(unix.SIGUSR1)); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK); err != nil {
		return err
	}
	_, err = unix.Write(p[1], []byte("x"))
	return err
}

// lookAtInit prints what a command can see of its parent. It goes no further up: outside, those are
// programs that the tests did not start.
func lookAtInit([]string) error {
	pid := os.Getppid()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	fmt.Printf("environ %v %s\n", err, bytes.ReplaceAll(env, []byte{0}, []byte(" ")))
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	fmt.Printf("fd %v\n", err)
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name())); err == nil {
			fmt.Printf("saw-descriptor %s\n", to)
		}
	}
	if f, err := os.OpenFile(filepath.Join(dir, "mem"), os.O_RDWR, 0); err == nil {
		fmt.Println("saw-memory")
		_ = f.Close()
	}
	runtime.LockOSThread()
	if err := unix.PtraceSeize(pid); err == nil { // unlike attaching it does not stop it
		fmt.Println("saw-trace")
	}
	return nil
}

// What starts the commands is an attempt of its own: outside there is no such process, so the
// control is that the same function sees everything of a parent that does not protect itself.
func TestNothingOfTheProcessThatStartsCommandsIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		o := w.command([]string{"look-at-init"})
		bare := w.command([]string{"sh", "SECRET=" + hostSecret + " sh -c '$0 attempt look-at-init; :' " + w.binary})
		out := w.outside(t, bare).Out
		for _, sign := range []string{hostSecret, "saw-descriptor", "saw-memory", "saw-trace"} {
			if !strings.Contains(out, sign) {
				t.Fatalf("as %d the look finds no %s outside either: %s", who, sign, out)
			}
		}
		for _, tier := range append(tiers, None) {
			if tier == None && who == 0 {
				continue // unconfined root sees everything
			}
			h := startHost(t, who, w.binary, tier, w.policy())
			out := h.run(t, o).Out
			for _, sign := range []string{hostSecret, "saw-descriptor", "saw-memory", "saw-trace"} {
				if strings.Contains(out, sign) {
					t.Errorf("%s as %d: %s: %s", tier, who, sign, out)
				}
			}
		}
	}
}

func TestNoDescriptorIsInherited(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		o := w.command([]string{"leak"})
		r, wr, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		fd := int(r.Fd()) // once: every call of Fd makes the file wait again
		if err := unix.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
		leaked := func() string {
			b := make([]byte, 64)
			n, _ := unix.Read(fd, b)
			return string(b[:max(n, 0)])
		}
		if w.outside(t, o, wr); leaked() != "leaked" {
			t.Fatal("a descriptor is not inherited outside either")
		}
		for _, tier := range append(tiers, None) {
			h := startHost(t, who, w.binary, tier, w.policy(), wr)
			if h.run(t, o); leaked() != "" {
				t.Errorf("%s as %d: a descriptor of what started the program reached a command", tier, who)
			}
		}
		_, _ = r.Close(), wr.Close()
	}
}
