//go:build unix

package search

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// asNobody runs f without the rights of the superuser, who can read everything.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		if err := syscall.Setreuid(-1, 65534); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := syscall.Setreuid(-1, 0); err != nil {
				t.Fatal(err)
			}
		}()
	}
	f()
}

func TestUnreadableDirectoriesAndFilesCostOnlyThemselves(t *testing.T) {
	root := lay(t, map[string]string{"a/x.md": "x", "closed/y.md": "x", "noexec/z.md": "x", "secret.md": "x", "z.md": "x"})
	for name, mode := range map[string]os.FileMode{"closed": 0, "noexec": 0o644, "secret.md": 0} {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"closed", "noexec"} {
		defer os.Chmod(filepath.Join(root, dir), 0o755)
	}
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asNobody(t, func() {
		var got []string
		walked, err := Walk(context.Background(), Tree{Root: root}, func(f File) error {
			got = append(got, f.Path)
			return nil
		})
		// A directory that may be read but not entered still lists its names.
		if err != nil || walked.Unread != 1 || len(got) != 4 {
			t.Errorf("walk: %q, %+v, %v", got, walked, err)
		}
		text, stats := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x")})
		if want := "a/x.md:1:x\nz.md:1:x\n"; text != want || stats.Unread != 3 {
			t.Errorf("search: got %q and %+v, want %q and 3 unread", text, stats, want)
		}
	})
}

func TestPipesSocketsAndDevicesNeverBlock(t *testing.T) {
	root := lay(t, map[string]string{"a": "x", "z": "x"})
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 && runtime.GOOS == "linux" {
		const zero = 1<<8 | 5 // /dev/zero
		if err := syscall.Mknod(filepath.Join(root, "device"), syscall.S_IFCHR|0o666, zero); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root) // the name of a socket is short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, stats := grep(t, Query{Tree: Tree{Root: root}, Pattern: compile(t, "x")})
		if want := "a:1:x\nz:1:x\n"; got != want || stats.Files != 2 || stats.Unread != 0 {
			t.Errorf("got %q and %+v, want %q", got, stats, want)
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the search still waits for something that is not a file")
	}
}

// A file may be replaced between being listed and being opened.
func TestWhatBecameAPipeOrALinkIsNotRead(t *testing.T) {
	root := lay(t, map[string]string{"target": "x"})
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := openFolder(root, "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.release()
	for _, name := range []string{"pipe", "link", "dir", "gone"} {
		var h handle
		padded := []byte(name + "\x00")
		if _, err := h.open(d, padded[:len(name)]); err == nil {
			t.Errorf("%s was opened", name)
		} else if !vanished(err) {
			t.Errorf("%s: %v counts as unreadable", name, err)
		}
	}
}
