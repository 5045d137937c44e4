package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"jig/internal/process"
)

// Enter says how the init of a session is started in a regime. It changes nothing but what a linked
// git directory lacks; whether the regime works shows when it is started. binary is this program's
// path, which commands find it by. The init is started from the running program itself: what lies at
// the path may be something else by now, and would run before anything is confined.
func Enter(t Tier, p Policy, binary string) (process.Launch, error) {
	o, err := planFor(t, p, binary)
	if err != nil {
		return process.Launch{}, err
	}
	first, err := json.Marshal(o)
	if err != nil {
		return process.Launch{}, err
	}
	l := process.Launch{Path: runningProgram, Args: []string{binary, Command}, First: first, Attr: &syscall.SysProcAttr{}}
	switch t {
	case None, Landlock:
	case Namespaces:
		l.Attr = namespaces(p.Network)
	case Bwrap:
		switch {
		case p.Bwrap == "":
			return process.Launch{}, errors.New("bwrap is not installed")
		case Writable(p, p.Bwrap):
			return process.Launch{}, fmt.Errorf("%s is in a place that commands may write to, so it is not used", p.Bwrap)
		}
		program, err := os.Open(runningProgram)
		if err != nil {
			return process.Launch{}, err
		}
		l.Path, l.Args, l.Files = p.Bwrap, bwrapArgs(o, procMasks(), Command), []*os.File{program}
	default:
		return process.Launch{}, fmt.Errorf("there is no %s on this system", t)
	}
	return l, nil
}

// runningProgram is this program, whatever became of its file.
const runningProgram = "/proc/self/exe"

// namespaces are the init's own. The user keeps its number, so files keep their owner; the
// capabilities are what arranging takes, and are gone before the first command.
func namespaces(network bool) *syscall.SysProcAttr {
	flags := uintptr(syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC)
	if !network {
		flags |= syscall.CLONE_NEWNET
	}
	uid, gid := os.Geteuid(), os.Getegid()
	return &syscall.SysProcAttr{
		Cloneflags:  flags,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP},
	}
}
