//go:build linux

package sandbox

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fileAttempts aim at files outside the writable places.
func fileAttempts() []attempt {
	changed := func(w *world, _ string) bool {
		b, err := os.ReadFile(w.path("out", "file"))
		return err != nil || string(b) != "original\n"
	}
	mode := func(w *world, _ string) bool {
		fi, err := os.Stat(w.path("out", "file"))
		return err == nil && fi.Mode().Perm() == 0o777
	}
	return []attempt{
		{name: "create", danger: "write", run: []string{"create", "$OUT/new"}, done: thereIs("out", "new")},
		{name: "create through a path of ours", danger: "write", run: []string{"create", "$ROOT/../out/new"}, done: thereIs("out", "new")},
		{name: "create through /proc/self/root", danger: "write", run: []string{"create", "/proc/self/root$OUT/new"}, done: thereIs("out", "new")},
		{name: "create through a descriptor of the folder", danger: "write", run: []string{"create-at", "$OUT", "new"}, done: thereIs("out", "new")},
		{name: "overwrite", danger: "write", run: []string{"create", "$OUT/file"}, done: changed},
		{name: "append", danger: "write", run: []string{"sh", "echo more >> $OUT/file"}, done: changed},
		{name: "change through a mapping", danger: "write", run: []string{"map", "$OUT/file"}, done: changed},
		{name: "reopen a file open for reading", danger: "write", run: []string{"reopen", "$OUT/file"}, done: changed},
		{name: "truncate", danger: "write", run: []string{"truncate", "$OUT/file"}, done: changed},
		{name: "truncate when opening to read", danger: "write", run: []string{"open-truncate", "$OUT/file"}, done: changed},
		{name: "allocate", danger: "write", run: []string{"allocate", "$OUT/file"}, done: func(w *world, _ string) bool {
			fi, err := os.Stat(w.path("out", "file"))
			return err == nil && fi.Size() > 4000
		}},
		{name: "remove", danger: "write", run: []string{"sh", "rm -f $OUT/file"}, done: changed},
		{name: "remove a folder", danger: "write", run: []string{"sh", "rmdir $OUT/empty"}, done: isGone("out", "empty")},
		{name: "make a folder", danger: "write", run: []string{"sh", "mkdir $OUT/new"}, done: thereIs("out", "new")},
		{name: "make a pipe", danger: "write", run: []string{"sh", "mkfifo $OUT/new"}, done: thereIs("out", "new")},
		{name: "make a socket", danger: "write", run: []string{"listen", "$OUT/new"}, done: thereIs("out", "new")},
		{name: "make an unnamed file", danger: "write", run: []string{"unnamed", "$OUT", "new"}, done: thereIs("out", "new")},
		{name: "shell start-up file", danger: "write", run: []string{"sh", "echo evil >> $HOME/.bashrc"}, done: func(w *world, _ string) bool {
			b, _ := os.ReadFile(w.path("home", ".bashrc"))
			return strings.Contains(string(b), "evil")
		}},
		{name: "the answer kept from the probe", danger: "write", run: []string{"create", "$HOME/.local/state/jig/probe.json"},
			done: fileIs("home", ".local", "state", "jig", "probe.json", "changed")},
		{name: "the program itself", danger: "write", run: []string{"sh", "cp /bin/true $BASE/bin/helper"}, done: func(w *world, _ string) bool {
			defer os.Remove(w.path("bin", "helper"))
			return exists(w.path("bin", "helper"))
		}},

		{name: "through a link that is there", danger: "links", run: []string{"create", "$ROOT/link"},
			prepare: linkOut("link", "file"), done: changed},
		{name: "through a link made now", danger: "links", run: []string{"sh", "ln -s $OUT l && echo x > l/new"}, done: thereIs("out", "new")},
		{name: "through a link to nothing", danger: "links", run: []string{"create", "$ROOT/link"},
			prepare: linkOut("link", "new"), done: thereIs("out", "new")},
		{name: "make a link outside", danger: "links", run: []string{"sh", "ln -s /etc/passwd $OUT/new"}, done: thereIs("out", "new")},
		{name: "hard link to the outside", danger: "links", run: []string{"sh", "ln mine $OUT/new"}, done: thereIs("out", "new")},
		{name: "hard link to here, then write", danger: "links", run: []string{"sh", "ln $OUT/file here && echo changed > here"}, done: changed},
		{name: "hard link through a descriptor", danger: "links", run: []string{"link-descriptor", "$OUT/file", "$ROOT/here"}, done: changed},
		{name: "move to the outside", danger: "links", run: []string{"rename", "$ROOT/mine", "$OUT/new"}, done: thereIs("out", "new")},
		{name: "move to here", danger: "links", run: []string{"rename", "$OUT/file", "$ROOT/here"}, done: changed},
		{name: "swap", danger: "links", run: []string{"swap", "$ROOT/mine", "$OUT/file"}, done: changed},
		{name: "move within the outside", danger: "links", run: []string{"rename", "$OUT/file", "$OUT/new"}, done: changed},

		{name: "mode", danger: "metadata", run: []string{"sh", "chmod 777 $OUT/file"}, done: mode},
		{name: "mode through a descriptor", danger: "metadata", run: []string{"chmod-descriptor", "$OUT/file"}, done: mode},
		{name: "times", danger: "metadata", run: []string{"sh", "touch -d 2001-01-01 $OUT/file"}, done: func(w *world, _ string) bool {
			fi, err := os.Stat(w.path("out", "file"))
			return err == nil && fi.ModTime().Before(time.Date(2002, 1, 1, 0, 0, 0, 0, time.UTC))
		}},
		{name: "attributes", danger: "metadata", run: []string{"attribute", "$OUT/file"}, done: func(w *world, _ string) bool {
			n, err := syscall.Getxattr(w.path("out", "file"), "user.jig", make([]byte, 16))
			return err == nil && n > 0
		}},
		{name: "pipe", danger: "fifo", run: []string{"pipe", "$OUT/pipe"}, prepare: pipeWithReader,
			done: func(w *world, _ string) bool {
				b := make([]byte, 16)
				n, _ := w.pipe.Read(b)
				return string(b[:max(n, 0)]) == "changed"
			}},
		{name: "read", danger: "reading", run: []string{"sh", "cat $HOME/secret"}, done: says("the secret")},
	}
}

// linkOut makes a link in the root that leads to a name outside.
func linkOut(name, to string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		t.Helper()
		if err := os.Symlink(w.path("out", to), w.path("root", name)); err != nil {
			t.Fatal(err)
		}
		_ = os.Lchown(w.path("root", name), w.who, w.who)
	}
}

// pipeWithReader makes a named pipe outside that somebody reads.
func pipeWithReader(t *testing.T, w *world) {
	t.Helper()
	path := w.path("out", "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Lchown(path, w.who, w.who)
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.pipe = rawFile(fd)
	t.Cleanup(func() { _ = syscall.Close(fd) })
}

// rawFile reads a descriptor without waiting.
type rawFile int

func (f rawFile) Read(b []byte) (int, error) { return syscall.Read(int(f), b) }
