package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"jig/internal/process"
)

// Command is the hidden command of the program that WardenMain is the entry of.
const Command = "warden"

// stageServe is the argument of the second stage: confined, and ready to serve.
const stageServe = "serve"

const controlFD = 3

// WardenMain is the entry of the hidden warden command: it confines itself as its first message
// says, then serves commands until its control socket closes. It returns an exit code; why it could
// not confine itself is on standard error.
//
// It runs twice. The first run confines one thread and executes the program again, so that every
// thread of the second lives in the same confinement, and nothing read before is in its memory.
func WardenMain(args []string) int {
	_ = unix.CloseRange(controlFD+1, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) // what we inherited is not for commands
	control := os.NewFile(controlFD, "control")
	if len(args) == 1 && args[0] == stageServe {
		return process.Serve(control)
	}
	if len(args) > 0 && args[0] == stageTry {
		return tryInside(args[1:])
	}
	runtime.LockOSThread()
	err := enter(control)
	fmt.Fprintln(os.Stderr, err)
	return 1
}

var errNoLandlock = errors.New("the kernel has no Landlock, or it is switched off")

// enter confines the thread and replaces the program. It returns only with an error.
func enter(control *os.File) error {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	first, err := process.ReadFirst(control)
	if err != nil {
		return err
	}
	var o plan
	if err := json.Unmarshal(first, &o); err != nil {
		return fmt.Errorf("the first message: %w", err)
	}
	version := landlockVersion()
	if o.ABI > 0 {
		version = min(version, o.ABI)
	}
	domain := rules{version: version}
	switch o.Tier {
	case None:
		return again()
	case Bwrap:
		// only scopes: rules for files would forbid mounting, and with it sandboxes inside this one
	case Namespaces:
		if version == 0 {
			return errNoLandlock // read-only mounts alone leave named pipes open
		}
		if err := o.arrange(); err != nil {
			return err
		}
		if !o.Network {
			if err := loopbackUp(); err != nil {
				return err
			}
		}
		domain.files, domain.write = true, o.writable()
	case Landlock:
		if version == 0 {
			return errNoLandlock
		}
		domain.files, domain.write = true, append(slices.Clone(o.Write), resolve(sharedMemory))
		domain.devices = deviceFiles
	default:
		return fmt.Errorf("unknown tier %q", o.Tier)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	if err := domain.restrict(); err != nil {
		return err
	}
	calls := filterFor(o.Tier, o.Network, version)
	calls.setuid = os.Geteuid() == 0
	if err := calls.install(); err != nil {
		return err
	}
	return again()
}

// again executes this program as the second stage.
func again() error {
	if _, err := unix.FcntlInt(controlFD, unix.F_SETFD, 0); err != nil {
		return err
	}
	err := syscall.Exec("/proc/self/exe", []string{"jig", Command, stageServe}, []string{})
	return fmt.Errorf("second stage: %w", err)
}
