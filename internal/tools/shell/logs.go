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
	temp     string
	fallback string // where else; "" is nowhere
	pid      int
	tag      string // tells the calls of several sessions of one process apart

	mu   sync.Mutex
	dir  string   // as it is shown
	held *os.File // the folder itself
	via  string   // a path that leads into held, whatever is done to dir
	n    int
}

func newLogs(temp string, pid int) *logs {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	l := &logs{temp: temp, pid: pid, tag: hex.EncodeToString(b[:])}
	if runtime.GOOS != "windows" && temp != systemTemp {
		l.fallback = systemTemp
	}
	return l
}

// logFile is one log: what it is called and how to get at it.
type logFile struct{ name, shown, real string }

// call names a new log for a foreground call.
func (l *logs) call() (logFile, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return l.file(fmt.Sprintf("call-%s-%d.log", l.tag, l.n))
}

// job names the log of a job.
func (l *logs) job(id int) (logFile, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file(fmt.Sprintf("b%d.log", id))
}

// file makes sure that there is a folder. Callers hold mu.
func (l *logs) file(name string) (logFile, error) {
	if l.held == nil || removed(l.held) {
		if err := l.open(); err != nil {
			return logFile{}, fmt.Errorf("no folder for the output file: %w", err)
		}
	}
	return logFile{name, filepath.Join(l.dir, name), filepath.Join(l.via, name)}, nil
}

// open makes or finds the folder, in the system's temporary folder where the one that was asked for
// takes nothing. The error is about the one that was asked for.
func (l *logs) open() error {
	l.close()
	var first error
	for _, temp := range []string{l.temp, l.fallback} {
		if temp == "" {
			continue
		}
		dir, held, err := openLogs(temp, l.pid)
		if err == nil {
			l.hold(dir, held)
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
// else's.
func openLogs(temp string, pid int) (dir string, held *os.File, err error) {
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return "", nil, err
	}
	for _, base := range []string{"jig-jobs", fmt.Sprintf("jig-jobs-%d", os.Getuid())} {
		base = filepath.Join(temp, base)
		switch err = os.Mkdir(base, 0o777); {
		case err == nil:
			_ = os.Chmod(base, 0o777|fs.ModeSticky)
		case !errors.Is(err, fs.ErrExist):
			continue
		}
		for i := range 100 {
			dir = filepath.Join(base, fmt.Sprint(pid))
			if i > 0 {
				dir = fmt.Sprintf("%s-%d", dir, i)
			}
			err = os.Mkdir(dir, 0o700)
			if err != nil && !errors.Is(err, fs.ErrExist) {
				break
			}
			if held, err = holdOwn(dir); err == nil {
				return dir, held, nil
			}
		}
	}
	return "", nil, err
}

func (l *logs) hold(dir string, held *os.File) {
	l.dir, l.held, l.via = dir, held, dir
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

func (l *logs) close() {
	if l.held != nil {
		_ = l.held.Close()
		l.held = nil
	}
}

// Close lets go of the folder. The logs stay.
func (l *logs) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
}

func (l *logs) remove(f logFile) { _ = os.Remove(f.real) }

// rename gives a call's log the name of a job. Where an open file cannot be renamed it keeps the one
// it has; where the name is taken it says so.
func (l *logs) rename(f logFile, id int) (logFile, error) {
	to, err := l.job(id)
	if err == nil {
		var free *os.File
		if free, err = os.OpenFile(to.real, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = free.Close()
			if err = os.Rename(f.real, to.real); err == nil {
				return to, nil
			}
			_ = os.Remove(to.real)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return f, err
	}
	return f, nil
}
