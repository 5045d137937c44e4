package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

const (
	// logStep is how much a log may grow between two looks at the free space, and
	// what a log may hold without any: on a nearly full disk commands must still be
	// able to say a few words, if only to free some.
	logStep = 1 << 20
	// earlyMost is what a late log holds in memory before it becomes a file. Most
	// commands print less, and making a file costs as much as starting one.
	earlyMost = 64 << 10
)

// logFile is the raw output on disk. A nil logFile takes everything and keeps
// nothing.
type logFile struct {
	name     string
	file     *os.File // nil: a late log that is not a file yet
	early    []byte   // what a late log has until then
	keepFree int64
	written  int64
	next     int64 // the size at which to look at the free space again
	err      error // why it is not complete
	full     bool  // it would leave too little free
	over     bool  // nothing more comes
}

// openLog makes the log of a command. A late one becomes a file only when there
// is much to keep, or by keep.
func openLog(name string, late bool, keepFree int64) (*logFile, error) {
	if name == "" {
		return nil, nil
	}
	l := &logFile{name: name, keepFree: keepFree, next: logStep}
	if late {
		return l, nil
	}
	return l, l.create(name)
}

// create makes the file. It must not exist: the folder may be one that commands
// can write to, and a link they planted must not choose where we write.
func (l *logFile) create(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot create the output file: %w", err)
	}
	l.name, l.file = name, f
	return nil
}

// write reports whether the command has to be ended because of the log. It
// says so once.
func (l *logFile) write(p []byte) (end bool) {
	if l == nil || l.err != nil {
		return false
	}
	if l.file == nil {
		if len(l.early)+len(p) <= earlyMost {
			l.early = append(l.early, p...)
			return false
		}
		l.err = l.create(l.name)
		if errors.Is(l.err, fs.ErrExist) { // a command has put something there
			_ = os.Remove(l.name)
			l.err = l.create(l.name)
		}
		if l.err != nil {
			l.early = nil
			return false
		}
		return l.flush() || l.append(p)
	}
	return l.append(p)
}

// flush writes what was held in memory.
func (l *logFile) flush() (end bool) {
	early := l.early
	l.early = nil
	return l.append(early)
}

func (l *logFile) append(p []byte) (end bool) {
	if size := l.written + int64(len(p)); l.keepFree > 0 && size > l.next {
		l.next = size + logStep
		if free, err := freeBytes(l.file); err == nil && free-int64(len(p)) < l.keepFree {
			l.err = fmt.Errorf("%s: less than %d MiB would be left free on its file system", l.name, l.keepFree>>20)
			l.full = true
			return true
		}
	}
	n, err := l.file.Write(p)
	l.written += int64(n)
	if err != nil {
		l.err = err
		l.full = l.written >= logStep
	}
	return l.full
}

// keep gives the log a lasting name, which must be free, and makes a file of
// it. When it fails the log is as it was.
func (l *logFile) keep(name string) error {
	if l == nil || l.err != nil && l.file == nil {
		return nil // there is nothing to keep, as the job's state says
	}
	if l.file == nil {
		if err := l.create(name); err != nil {
			return err
		}
		l.flush()
		if l.over {
			l.close()
		}
		return nil
	}
	free, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_ = free.Close()
	if err := os.Rename(l.name, name); err != nil { // over what was just made
		_ = os.Remove(name)
		return err
	}
	l.name = name
	return nil
}

func (l *logFile) close() {
	if l == nil {
		return
	}
	l.over = true
	if l.file != nil {
		_ = l.file.Close() // what matters was told by write
	}
}

// drop removes the log.
func (l *logFile) drop() {
	if l != nil && l.file != nil {
		l.close()
		_ = os.Remove(l.name)
	}
}
