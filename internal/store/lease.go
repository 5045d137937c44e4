package store

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lease is how this process says that it is alive: a file of its own that it keeps locked. The system
// lets go of the lock however the process ends, so what it held is free at once and nothing has to
// beat while a session idles. Process ids would not do: they are given again.
type lease struct {
	dir  string
	mu   sync.Mutex
	name string
	file *os.File
}

// Holder is the process that writes a session.
type Holder struct {
	Pid   int
	Host  string
	Since time.Time
}

func (h Holder) String() string {
	if h.Pid == 0 {
		return "another jig"
	}
	return fmt.Sprintf("another jig (pid %d on %s, since %s)", h.Pid, h.Host, h.Since.Format("2006-01-02 15:04"))
}

// begin gives this process's name, and makes its file with the first call. The name is told to nobody
// before the file is locked.
func (l *lease) begin() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return l.name, nil
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return "", err
	}
	name := newID(16)
	f, err := os.OpenFile(filepath.Join(l.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	ok, err := lock(f)
	if err == nil && !ok {
		err = errors.New("the lock of a new file is taken")
	}
	if err == nil {
		host, _ := os.Hostname()
		_, err = fmt.Fprintf(f, "%d\n%s\n%d\n", os.Getpid(), host, time.Now().Unix())
	}
	if err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return "", err
	}
	l.name, l.file = name, f
	return name, nil
}

// holding finds out whether the process of that name is alive. The file of one that is not is removed.
func (l *lease) holding(name string) (h Holder, alive bool, err error) {
	if name == "" {
		return Holder{}, false, nil
	}
	l.mu.Lock()
	mine := l.file != nil && name == l.name
	l.mu.Unlock()
	path := filepath.Join(l.dir, filepath.Base(name))
	if mine {
		f, err := os.Open(path)
		if err != nil {
			return Holder{}, true, nil
		}
		defer func() { _ = f.Close() }()
		return readHolder(f), true, nil
	}
	// Whoever else looks at a dead one's file holds its lock for an instant.
	for _, pause := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
		time.Sleep(pause)
		if h, alive, err = look(path); err != nil || !alive {
			return h, alive, err
		}
	}
	return h, true, nil
}

func look(path string) (Holder, bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	}
	if err != nil {
		return Holder{}, false, err
	}
	defer func() { _ = f.Close() }()
	free, err := lock(f)
	if err != nil {
		return Holder{}, false, err
	}
	if free {
		_ = os.Remove(path)
		return Holder{}, false, nil
	}
	return readHolder(f), true, nil
}

func readHolder(r io.Reader) Holder {
	data, _ := io.ReadAll(io.LimitReader(r, 1024))
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	if len(lines) != 3 {
		return Holder{}
	}
	pid, _ := strconv.Atoi(lines[0])
	since, _ := strconv.ParseInt(lines[2], 10, 64)
	return Holder{Pid: pid, Host: lines[1], Since: time.Unix(since, 0)}
}

func (l *lease) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	// The name goes first: once the lock is gone another process may remove the file.
	err := os.Remove(l.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, l.file.Close())
	if err != nil && os.PathSeparator == '\\' {
		err = os.Remove(l.file.Name()) // an open file cannot be removed there
	}
	l.file = nil
	return err
}

// alphabet leaves out what is easily taken for something else.
var alphabet = base32.NewEncoding("abcdefghjkmnpqrstvwxyz0123456789").WithPadding(base32.NoPadding)

// newID is n letters and digits by chance.
func newID(n int) string {
	b := make([]byte, n*5/8+1)
	_, _ = rand.Read(b) // it never fails
	return alphabet.EncodeToString(b)[:n]
}
