package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A process can change its environment, leave its session and lose its parent,
// all three at once with `env -i setsid` and a double fork. What it cannot
// shake off by accident is a resource limit: limits pass through fork and
// execve and can be read at any moment, in the middle of execve too. So each
// command is marked with a soft limit on real-time CPU time, a value beyond any
// that could be reached; the limit means nothing to a process that is not
// scheduled in real time. Environment, session and descent are looked at as
// well, for whoever sets that limit itself.
const (
	markBit   = 1 << 62
	markShift = 24 // the lower bits number the command
	markMask  = ^uint64(1<<markShift - 1)
)

// table finds and signals the processes that an init has started.
type table struct {
	self int
	base uint64     // the upper bits of every mark
	fork sync.Mutex // held while a child is between fork and execve
	busy chan struct{}
}

func newTable(self int, number uint64) *table {
	return &table{self: self, base: baseOf(number), busy: make(chan struct{}, mostLooks)}
}

func baseOf(number uint64) uint64 { return markBit | number<<markShift&(markBit-1) }

// numberOf gives the number of the warden whose init has that pid. It says which process that is, so
// that nobody can pretend to be another's: anybody can give itself any mark, but no living process
// has the pid of another. A mark has room for a pid and ten minutes of start times.
func numberOf(pid int) uint64 {
	p, ok := readProc(pid)
	if !ok {
		return randomNumber()
	}
	return p.number()
}

func (p proc) number() uint64 { return uint64(p.pid) | p.start<<22 }

func (t *table) markOf(id uint64) uint64 { return t.base | id&^markMask }

// marked calls start while a child would inherit the mark of command id.
func (t *table) marked(id uint64, start func() error) error {
	t.fork.Lock()
	defer t.fork.Unlock()
	var old unix.Rlimit
	if unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &old) == nil && t.markOf(id) <= old.Max {
		_ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: t.markOf(id), Max: old.Max}, nil)
		defer func() { _ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &old, nil) }()
	}
	return start()
}

// proc is a living process.
type proc struct {
	pid, ppid, sid int
	start          uint64 // with pid it names one process for ever
	name           string
	mark           uint64
}

// look lists the living processes of s. A look that is not deep finds those
// with a mark, which takes one system call for each process of the machine;
// a deep one reads about every process that descends from this one.
func (t *table) look(s scope, deep bool) []proc {
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	var out []proc
	in, others := map[int]bool{}, map[int]bool{}
	for _, pid := range pids() {
		if pid == t.self {
			continue
		}
		m := readMark(pid)
		if m&markMask != t.base && !s.inner[m&markMask] {
			continue
		}
		if m&markMask == t.base && s.id != 0 && m != t.markOf(s.id) {
			others[pid] = true
			continue
		}
		if p, ok := readProc(pid); ok {
			p.mark = m
			out, in[pid] = append(out, p), true
			s.found(p)
		}
	}
	if !deep || t.self == 0 {
		return out
	}
	var rest []proc
	for _, pid := range descendants(t.self, others) {
		if in[pid] {
			continue
		}
		if p, ok := readProc(pid); ok {
			p.mark = readMark(pid)
			rest = append(rest, p)
		}
	}
	for grew := true; grew; {
		grew = false
		for _, p := range rest {
			if !in[p.pid] && (s.id == 0 || in[p.ppid] || s.root != 0 && p.sid == s.root || hasMark(t.environ(p.pid), s.mark)) {
				out, in[p.pid], grew = append(out, p), true, true
				s.found(p)
			}
		}
	}
	return out
}

// found notes that p may be the init of an inner warden. Which mark it has itself does not matter:
// it can have chosen that.
func (s scope) found(p proc) {
	if s.inner != nil {
		s.inner[baseOf(p.number())] = true
	}
}

// foreign reports whether p is the command of another warden.
func (t *table) foreign(p proc) bool { return p.mark>>62 == markBit>>62 && p.mark&markMask != t.base }

// idOf gives the number of the command that started p, if that can be told.
func (t *table) idOf(p proc) (uint64, bool) { return p.mark &^ markMask, p.mark&markMask == t.base }

func pids() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(-1)
	out := make([]int, 0, len(names))
	for _, n := range names {
		if n[0] < '1' || n[0] > '9' {
			continue
		}
		if pid, err := strconv.Atoi(n); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// readMark gives a process's mark, 0 when it cannot be read or there is none.
func readMark(pid int) uint64 {
	var l unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &l)
	if err == nil {
		return l.Cur
	}
	if !errors.Is(err, unix.EPERM) || unix.Kill(pid, 0) != nil {
		return 0 // gone, or not ours to signal either
	}
	// A program with other ids, but that we may signal: the file is for everybody.
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Max realtime timeout"); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseUint(f[0], 10, 64)
				return n
			}
		}
	}
	return 0
}

// readProc reads about a process, unless it is dead.
func readProc(pid int) (proc, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	return parseStat(b)
}

// parseStat reads /proc/PID/stat. The name in it is the process's own choice
// and may contain anything.
func parseStat(b []byte) (proc, bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return proc{}, false
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" || f[0] == "x" {
		return proc{}, false
	}
	p := proc{name: string(b[open+1 : end])}
	var errs [4]error
	p.pid, errs[0] = strconv.Atoi(strings.TrimSpace(string(b[:open])))
	p.ppid, errs[1] = strconv.Atoi(f[1])
	p.sid, errs[2] = strconv.Atoi(f[3])
	p.start, errs[3] = strconv.ParseUint(f[19], 10, 64)
	return p, errs == [4]error{}
}

// descendants walks down from a process, which adopts whoever lost its parent.
// It leaves out those in without, and what is under them.
func descendants(pid int, without map[int]bool) (out []int) {
	seen := map[int]bool{pid: true}
	for todo := []int{pid}; len(todo) > 0; {
		dir := "/proc/" + strconv.Itoa(todo[0]) + "/task"
		todo = todo[1:]
		tasks, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, task := range tasks {
			b, err := os.ReadFile(dir + "/" + task.Name() + "/children")
			if err != nil {
				continue // the thread has ended, or the kernel is built without this file
			}
			for _, f := range strings.Fields(string(b)) {
				if p, err := strconv.Atoi(f); err == nil && !seen[p] && !without[p] {
					seen[p] = true
					out, todo = append(out, p), append(todo, p)
				}
			}
		}
	}
	return out
}

// signal reaches p, or nobody: never a process that got its number since. A
// handle is taken first, and only then is it certain whose number it was.
func (t *table) signal(p proc, sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
	}
	if now, ok := readProc(p.pid); !ok || now.start != p.start {
		return
	}
	switch err {
	case nil:
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	case unix.ESRCH:
	default: // an old kernel, or a filter that does not know the call
		_ = unix.Kill(p.pid, sig)
	}
}

func (t *table) environ(pid int) []byte {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return b
}

// command is a process's command line, shortened.
func (t *table) command(p proc) string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
	s := strings.TrimSpace(strings.ReplaceAll(string(FirstBytes(b, 200)), "\x00", " "))
	if s == "" {
		return p.name
	}
	return s
}

// ignoresHangup reads the signal mask that nohup leaves.
func (t *table) ignoresHangup(p proc) bool {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/status")
	for line := range strings.Lines(string(b)) {
		if set, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
			return n&1 != 0 // SIGHUP is 1
		}
	}
	return false
}

// orphans reports whether there are processes of ours that are not our
// children. Here all that lose their parent become our children.
func (t *table) orphans() bool { return false }

// noChildren reports whether this process has no child at all.
func noChildren() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD
}

// killMarked kills, from outside, the processes of one command. The init has
// its mark, too, for the time of a fork, and is not meant.
func killMarked(init int, number, id uint64) {
	t := newTable(init, number)
	t.signalAll(t.look(scope{id: id}, false), unix.SIGKILL)
}

// endMarked ends, from outside, what an init that died could not end.
func endMarked(number uint64) {
	sweep(newTable(0, number), scope{}, 0, sweepLimit, nil)
}
