package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestArchiveIsForTheUserAloneAndNumbered(t *testing.T) {
	temp := t.TempDir()
	for i, want := range []string{"1.txt", "2.txt"} {
		path := archive(temp, "abc", "said "+want)
		if path != filepath.Join(temp, "jig-archive", "abc", want) {
			t.Fatalf("file %d is %q", i+1, path)
		}
		data, err := os.ReadFile(path)
		if err != nil || string(data) != "said "+want {
			t.Errorf("%q %v", data, err)
		}
	}
	for path, want := range map[string]os.FileMode{"jig-archive/abc": 0o700, "jig-archive": 0o700, "jig-archive/abc/1.txt": 0o600} {
		st, err := os.Stat(filepath.Join(temp, path))
		if err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, st.Mode(), err)
		}
	}
}

// A command of the session may write to the temporary folder.
func TestArchiveFollowsNoLinkThatACommandPutThere(t *testing.T) {
	for _, where := range []string{"jig-archive", "jig-archive/abc", "jig-archive/abc/1.txt"} {
		temp, elsewhere := t.TempDir(), t.TempDir()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(temp, where)), 0o700); err != nil {
			t.Fatal(err)
		}
		target := elsewhere
		if strings.HasSuffix(where, ".txt") {
			target = filepath.Join(elsewhere, "x")
		}
		if err := os.Symlink(target, filepath.Join(temp, where)); err != nil {
			t.Fatal(err)
		}
		path := archive(temp, "abc", "said")
		if found, _ := os.ReadDir(elsewhere); len(found) > 0 {
			t.Errorf("%s: wrote %s elsewhere", where, found[0].Name())
		}
		if path == "" || !strings.HasPrefix(path, filepath.Join(temp, "jig-archive")) {
			t.Errorf("%s: %q", where, path)
		}
	}
}

func TestArchiveThatCannotBeWrittenIsNoFile(t *testing.T) {
	if path := archive(filepath.Join(t.TempDir(), "gone"), "abc", "said"); path != "" {
		t.Error(path)
	}
}
