package shell

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// systemTemp is the temporary folder every Unix has, and every sandbox may write to.
const systemTemp = "/tmp"

// logs is the folder with the raw output of this session's commands.
type logs struct {
	temp     logTemp
	fallback logTemp // where else
	pid      int
	tag      string // tells the calls of several sessions of one process apart

	mu   sync.Mutex
	dir  string   // as it is shown
	held *os.File // the folder itself
	via  string   // a path that leads into held, whatever is done to dir
	old  []*os.File
	n    int
}

// logTemp is a temporary folder as it is called and, before any command could put a link in the way,
// without links. Neither: there is none.
type logTemp struct{ shown, real string }

// unmade reports whether err says that the log cannot be made, and if so takes it for none.
func (f *logFile) unmade(err error) bool {
	var in *fs.PathError
	if !errors.As(err, &in) || in.Op != "open" || in.Path != f.real || errors.Is(err, fs.ErrExist) {
		return false
	}
	*f = logFile{why: &fs.PathError{Op: "create", Path: f.shown, Err: in.Err}}
	return true
}

func findTemp(path string) logTemp {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return logTemp{path, real}
	}
	return logTemp{path, path}
}

func newLogs(temp string, pid int) *logs {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	l := &logs{temp: findTemp(temp), pid: pid, tag: hex.EncodeToString(b[:])}
	if runtime.GOOS != "windows" && temp != systemTemp {
		l.fallback = findTemp(systemTemp)
	}
	return l
}

// logFile is one log: what it is called and how to get at it. Where there can be none, on a full disk
// or a read-only one, why says so and the rest is empty: commands run all the same, if only to make room.
type logFile struct {
	name, shown, real string
	why               error
}

// call names a new log for a foreground call.
func (l *logs) call() logFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return l.file(fmt.Sprintf("call-%s-%d.log", l.tag, l.n))
}

// job names the log of a job.
func (l *logs) job(id int) logFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file(fmt.Sprintf("b%d.log", id))
}

// file makes sure that there is a folder. Callers hold mu.
func (l *logs) file(name string) logFile {
	if l.held == nil || removed(l.held) {
		if err := l.open(); err != nil {
			return logFile{why: err}
		}
	}
	return logFile{name: name, shown: filepath.Join(l.dir, name), real: filepath.Join(l.via, name)}
}

// open makes or finds the folder, in the system's temporary folder where the one that was asked for
// takes nothing. The error is about the one that was asked for.
func (l *logs) open() error {
	l.retire()
	var first error
	for _, t := range []logTemp{l.temp, l.fallback} {
		if t.real == "" {
			continue
		}
		held, err := openLogs(t.real, l.pid)
		if err == nil {
			l.hold(t.shown+strings.TrimPrefix(held.Name(), t.real), held)
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// openLogs makes or finds the folder in a temporary one. Those are shared: the one above ours belongs
// to whoever came first, and ours may be there from a process that had our number, ours or somebody
// else's. Commands write there too, so it goes down folder by folder and follows no link.
func openLogs(temp string, pid int) (held *os.File, err error) {
	above, err := openFolder(temp, true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = above.Close() }()
	for _, name := range []string{"jig-jobs", fmt.Sprintf("jig-jobs-%d", os.Getuid())} {
		if held, err = openLogsIn(above, name, pid); err == nil {
			return held, nil
		}
	}
	return nil, err
}

func openLogsIn(above *os.File, name string, pid int) (held *os.File, err error) {
	base, err := subfolder(above, name, 0o777|fs.ModeSticky)
	if err != nil {
		return nil, err
	}
	defer func() { _ = base.Close() }()
	for i := range 100 {
		name := fmt.Sprint(pid)
		if i > 0 {
			name = fmt.Sprintf("%d-%d", pid, i)
		}
		if held, err = subfolder(base, name, 0o700); err != nil {
			continue
		}
		if err = own(held); err == nil {
			return held, nil
		}
		_ = held.Close()
	}
	return nil, err
}

func (l *logs) hold(dir string, held *os.File) {
	l.dir, l.held, l.via = dir, held, held.Name()
	if runtime.GOOS == "linux" {
		via := fmt.Sprintf("/proc/self/fd/%d", held.Fd())
		if a, err := os.Stat(via); err == nil {
			if b, err := held.Stat(); err == nil && os.SameFile(a, b) {
				l.via = via
			}
		}
	}
	if !alone(held) {
		return
	}
	names, _ := held.Readdirnames(-1)
	for _, name := range names { // of a process that is gone and had our number
		if strings.HasSuffix(name, ".log") {
			_ = os.Remove(filepath.Join(l.via, name))
		}
	}
	shareFolder(held)
}

// retire lets go of a folder that was removed, but not at once: a command that still runs may have
// a log there, and its path must not come to mean another folder.
func (l *logs) retire() {
	const most = 16
	if l.held != nil {
		l.old = append(l.old, l.held)
	}
	if len(l.old) > most {
		_ = l.old[0].Close()
		l.old = l.old[1:]
	}
	l.held = nil
}

func (l *logs) close() {
	l.retire()
	for _, f := range l.old {
		_ = f.Close()
	}
	l.old = nil
}

// Close lets go of the folder. The logs stay.
func (l *logs) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
}
