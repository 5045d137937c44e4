package process

import (
	"fmt"
	"os"
)

// logStep is how much a log may grow between two looks at the free space, and
// what a log may hold without any: on a nearly full disk commands must still be
// able to say a few words, if only to free some.
const logStep = 1 << 20

// logFile is the raw output on disk. A nil logFile takes everything and keeps
// nothing.
type logFile struct {
	file     *os.File
	keepFree int64
	written  int64
	next     int64 // the size at which to look at the free space again
	err      error // why it is not complete
	full     bool  // it would leave too little free
}

// openLog creates the file. It must not exist: the folder may be one that
// commands can write to, and a link they planted must not choose where we write.
func openLog(name string, keepFree int64) (*logFile, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot create the output file: %w", err)
	}
	return &logFile{file: f, keepFree: keepFree, next: logStep}, nil
}

// write reports whether the command has to be ended because of the log. It
// says so once.
func (l *logFile) write(p []byte) (end bool) {
	if l == nil || l.err != nil {
		return false
	}
	if size := l.written + int64(len(p)); l.keepFree > 0 && size > l.next {
		l.next = size + logStep
		if free, err := freeBytes(l.file); err == nil && free-int64(len(p)) < l.keepFree {
			l.err = fmt.Errorf("%s: less than %d MiB would be left free on its file system", l.file.Name(), l.keepFree>>20)
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

func (l *logFile) close() {
	if l != nil {
		_ = l.file.Close() // what matters was told by write
	}
}
