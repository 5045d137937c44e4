//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// What was found once is not looked for again, so whatever commands do to it afterwards must be seen all
// the same: it is gone, closed, a file, or a link to a place that is not theirs.
func TestWhatBecomesOfTMPDIRIsSeenEachTime(t *testing.T) {
	// of another place than /tmp, which every link is held to be planted in
	base, err := os.MkdirTemp("/var/tmp", "jig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	root, secret := mkdir(t, base, "root"), mkdir(t, base, "secret")
	want := filepath.Join(root, "tmp")
	move := func() {
		t.Helper()
		if err := os.Rename(want, filepath.Join(root, "before")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(filepath.Join(root, "before")) })
	}
	back := func() {
		t.Helper()
		_ = os.RemoveAll(want)
		_ = os.RemoveAll(filepath.Join(root, "before"))
	}
	temp := NewTemp(want, root)
	defer temp.Close()
	is := func(now string) {
		t.Helper()
		for range 2 {
			if got := temp.Dir(); got != now || !isDir(got) {
				t.Errorf("gave %s, which is a folder: %v; want %s", got, isDir(got), now)
			}
		}
	}
	is(want)
	if temp.held == nil {
		t.Error("it is looked for each time")
	}

	back() // removed: made again
	is(want)

	move() // a link to somebody else's folder
	if err := os.Symlink(secret, want); err != nil {
		t.Fatal(err)
	}
	is("/tmp")
	back()
	is(want)

	move() // a file
	put(t, want, "")
	is("/tmp")
	back()
	is(want)

	if os.Geteuid() != 0 { // closed; root may write anywhere
		if err := os.Chmod(want, 0o500); err != nil {
			t.Fatal(err)
		}
		is("/tmp")
		if err := os.Chmod(want, 0o700); err != nil {
			t.Fatal(err)
		}
		is(want)
	}
	if _, err := os.ReadDir(secret); err != nil {
		t.Error(err)
	}
}

// A folder that takes the number of one that was removed must not be taken for it.
func TestAFolderWithANumberThatWasFreedIsNoOther(t *testing.T) {
	base, err := os.MkdirTemp("/var/tmp", "jig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	root := mkdir(t, base, "root")
	want := filepath.Join(root, "tmp")
	temp := NewTemp(want, root)
	defer temp.Close()
	if got := temp.Dir(); got != want {
		t.Fatal(got)
	}
	was, err := temp.held.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(want); err != nil {
		t.Fatal(err)
	}
	for range 200 { // a file system hands a free number out again soon, often at once
		other := mkdir(t, base, "other")
		if fi, err := os.Stat(other); err != nil || os.SameFile(fi, was) {
			t.Fatalf("another folder is taken for it: %v", err)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
	}
}
