package process

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// table finds and signals the processes that an init has started: by session,
// by the mark in their environment and by descent. A process that leaves its
// session, drops its environment and loses its parent is not found.
type table struct {
	self   int
	number uint64
	fork   sync.Mutex // held while a child is between fork and execve
	since  int64      // µs; whoever started earlier is none of ours
}

func newTable(self int, number uint64) *table {
	return &table{self: self, number: number, since: time.Now().Add(-time.Second).UnixMicro()}
}

func numberOf(int) uint64 { return randomNumber() }

const markMask = ^uint64(1<<24 - 1)

// marked starts a child; the mark is in its environment alone.
func (t *table) marked(_ uint64, start func() error) error {
	t.fork.Lock()
	defer t.fork.Unlock()
	return start()
}

// proc is a living process.
type proc struct {
	pid, ppid, sid int
	start          uint64 // µs; with pid it names one process for ever
	name           string
	ignored        uint32 // signals
}

func (t *table) all() []proc {
	const zombie = 5
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil
	}
	var out []proc
	for i := range list {
		k := &list[i]
		p := proc{
			pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), ignored: k.Proc.P_sigignore,
			start: uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
			name:  unix.ByteSliceToString(k.Proc.P_comm[:]),
		}
		if p.pid == t.self || k.Proc.P_stat == zombie || int64(p.start) < t.since {
			continue
		}
		if p.sid, err = unix.Getsid(p.pid); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// look lists the living processes of s.
func (t *table) look(s scope, deep bool) []proc {
	var out []proc
	all, in := t.all(), map[int]bool{}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !in[p.pid] && t.belongs(p, s, in[p.ppid], deep) {
				out, in[p.pid], grew = append(out, p), true, true
			}
		}
	}
	return out
}

func (t *table) belongs(p proc, s scope, parent, deep bool) bool {
	switch {
	case parent, s.id == 0 && p.ppid == t.self, s.root != 0 && p.sid == s.root:
		return true
	case s.id != 0:
		return deep && hasMark(t.environ(p.pid), s.mark)
	}
	_, ok := t.idOf(p)
	return ok
}

// foreign reports whether p is the command of another warden.
func (t *table) foreign(p proc) bool {
	_, ours := t.idOf(p)
	return !ours && bytes.Contains(t.environ(p.pid), []byte(markName))
}

// idOf gives the number of the command that started p, if that can be told.
func (t *table) idOf(p proc) (uint64, bool) {
	for _, s := range strings.Split(string(t.environ(p.pid)), "\x00") {
		if mark, ok := strings.CutPrefix(s, markName); ok {
			_, number, id := splitMark(mark)
			n, err := strconv.ParseUint(id, 10, 64)
			return n &^ markMask, err == nil && number == strconv.FormatUint(t.number, 16)
		}
	}
	return 0, false
}

// signal reaches p unless its number is somebody else's by now. There are no
// handles here: what remains is the moment between the look and the signal.
func (t *table) signal(p proc, sig unix.Signal) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", p.pid)
	if err == nil && uint64(k.Proc.P_starttime.Sec)*1e6+uint64(k.Proc.P_starttime.Usec) == p.start {
		_ = unix.Kill(p.pid, sig)
	}
}

// procargs gives a process's arguments and its environment.
func procargs(pid int) (args, env []byte) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return nil, nil
	}
	n := int(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = bytes.TrimLeft(b[i:], "\x00") // the path and its padding
	}
	rest := b
	for range n {
		i := bytes.IndexByte(rest, 0)
		if i < 0 {
			return b, nil
		}
		rest = rest[i+1:]
	}
	return b[:len(b)-len(rest)], rest
}

func (t *table) environ(pid int) []byte {
	_, env := procargs(pid)
	return env
}

// command is a process's command line, shortened.
func (t *table) command(p proc) string {
	args, _ := procargs(p.pid)
	s := strings.TrimSpace(strings.ReplaceAll(string(FirstBytes(args, 200)), "\x00", " "))
	if s == "" {
		return p.name
	}
	return s
}

// ignoresHangup reads the signal mask that nohup leaves.
func (t *table) ignoresHangup(p proc) bool { return p.ignored&1 != 0 } // SIGHUP is 1

// orphans reports whether there are processes of ours that are not our
// children.
func (t *table) orphans() bool { return len(t.look(scope{}, true)) > 0 }

// killMarked has nothing to go by from outside; the init's own end is next.
func killMarked(int, uint64, uint64) {}

// endMarked ends, from outside, what an init that died could not end.
func endMarked(number uint64) {
	t := newTable(0, number)
	t.since = 0
	sweep(t, scope{}, 0, sweepLimit, nil)
}
