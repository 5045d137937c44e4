//go:build unix

package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	path := filepath.Join(elem...)
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheWriteListKeepsItsOrderWithoutDuplicates(t *testing.T) {
	dir := resolve(t.TempDir())
	root, temp, extra := mkdir(t, dir, "root"), mkdir(t, dir, "temp"), mkdir(t, dir, "extra")
	cache := filepath.Join(dir, "cache", "jig")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(extra, link); err != nil {
		t.Fatal(err)
	}
	got := WriteRoots(Places{Root: root, Temp: temp, Cache: cache,
		Write: []string{link, extra, root + "/", filepath.Join(dir, "none"), "", "/tmp/../tmp"}})
	want := []string{root, temp, "/tmp", cache, link, filepath.Join(dir, "none")}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !isDir(cache) {
		t.Error("the cache directory was not created")
	}
	if exists(filepath.Join(dir, "none")) {
		t.Error("a folder nobody asked for was created")
	}
	if got := WriteRoots(Places{Root: "/tmp", Temp: "/tmp"}); !slices.Equal(got, []string{"/tmp"}) {
		t.Errorf("one place under three names: %q", got)
	}
}

func TestWhatCommandsCouldWriteIsKnown(t *testing.T) {
	dir := resolve(t.TempDir())
	root, other := mkdir(t, dir, "root"), mkdir(t, dir, "other")
	if err := os.Symlink(other, filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(dir, "in")); err != nil {
		t.Fatal(err)
	}
	p := Policy{Root: root, Write: []string{root}, Git: Git{Dir: filepath.Join(dir, "g"), Common: filepath.Join(dir, "g")}}
	for path, want := range map[string]bool{
		root: true, filepath.Join(root, "new"): true, filepath.Join(dir, "in", "x"): true, filepath.Join(dir, "g", "HEAD"): true,
		filepath.Join(root, "out", "bwrap"): true, // by another link of that name
		other:                               false, root + "2": false, dir: false, "/": false,
	} {
		if got := Writable(p, path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestAReplacedRootShows(t *testing.T) {
	dir := t.TempDir()
	root := mkdir(t, dir, "root")
	p := Policy{Root: root, Write: []string{root}}
	before := Stamp(p)
	if before != Stamp(p) {
		t.Fatal("a stamp changes by itself")
	}
	put(t, filepath.Join(root, "x"), "x")
	if before != Stamp(p) {
		t.Error("a new file counts as a replaced root")
	}
	if err := os.Rename(root, root+".old"); err != nil {
		t.Fatal(err)
	}
	gone := Stamp(p)
	mkdir(t, root)
	if gone == before || Stamp(p) == before || Stamp(p) == gone {
		t.Errorf("%q, then %q, then %q", before, gone, Stamp(p))
	}
}

func TestAMissingTMPDIRIsMadeOrReplaced(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "gone", "tmp")
	if got := TempDir(want); got != want || !isDir(want) {
		t.Errorf("got %q", got)
	}
	file := put(t, filepath.Join(dir, "file"), "")
	for _, bad := range []string{"", "relative", file, filepath.Join(file, "below"), "/proc/none", "/proc", "/sys", "/dev"} {
		if got := TempDir(bad); got != "/tmp" || !isDir(got) {
			t.Errorf("%q gave %q", bad, got)
		}
	}
}

func TestTheDescriptionStatesTheRegime(t *testing.T) {
	p := Policy{Write: []string{"/src", "/tmp"}}
	for _, tier := range []Tier{Bwrap, Namespaces, Landlock, SandboxExec} {
		s := Describe(tier, p)
		if !strings.HasPrefix(s, "Commands run inside an OS sandbox: file writes are confined to the project root and temp/cache directories (writes elsewhere fail with permission errors), and network access is BLOCKED.") {
			t.Errorf("%s: %s", tier, s)
		}
		if !strings.Contains(s, "Writable: /src, /tmp.") {
			t.Errorf("%s does not name the writable places: %s", tier, s)
		}
		if local := strings.Contains(s, "reachable on localhost"); local != (tier == Bwrap || tier == Namespaces) {
			t.Errorf("%s: %s", tier, s)
		}
	}
	p.Network = true
	if s := Describe(Landlock, p); !strings.Contains(s, "and network access is allowed.") || strings.Contains(s, "localhost") {
		t.Error(s)
	}
	if s := Describe(None, p); s != "Commands run WITHOUT a sandbox on this system, with the user's full permissions — be conservative." {
		t.Error(s)
	}
}

// fakeWorktree makes what git makes for a linked worktree.
func fakeWorktree(t *testing.T, dir string) (root, common string) {
	t.Helper()
	root, common = mkdir(t, dir, "wt"), mkdir(t, dir, "main", ".git")
	own := mkdir(t, common, "worktrees", "wt")
	for _, d := range []string{"objects", "refs", "logs", "hooks", "modules/sub"} {
		mkdir(t, common, d)
	}
	put(t, filepath.Join(common, "config"), "[core]\n")
	put(t, filepath.Join(own, "HEAD"), "ref: refs/heads/x\n")
	put(t, filepath.Join(own, "commondir"), "../..\n")
	put(t, filepath.Join(own, "gitdir"), filepath.Join(root, ".git")+"\n")
	put(t, filepath.Join(root, ".git"), "gitdir: "+own+"\n")
	return root, common
}

func TestTheLinkedGitDirectoryIsFound(t *testing.T) {
	root, common := fakeWorktree(t, resolve(t.TempDir()))
	got := FindGit(root)
	if want := (Git{Dir: filepath.Join(common, "worktrees", "wt"), Common: common}); got != want {
		t.Errorf("worktree: %+v", got)
	}
	super := resolve(t.TempDir())
	mkdir(t, super, ".git", "objects")
	put(t, filepath.Join(super, ".git", "HEAD"), "x")
	sub := mkdir(t, super, "sub")
	dir := mkdir(t, super, ".git", "modules", "sub")
	mkdir(t, dir, "objects")
	mkdir(t, dir, "refs")
	put(t, filepath.Join(dir, "HEAD"), "x")
	put(t, filepath.Join(dir, "config"), "[core]\n\trepositoryformatversion = 0\n\tworktree = ../../../sub\n")
	put(t, filepath.Join(sub, ".git"), "gitdir: ../.git/modules/sub\n")
	if got := FindGit(sub); got != (Git{Dir: dir, Common: dir}) {
		t.Errorf("submodule: %+v", got)
	}
}

func TestAGitFileCannotOpenAFolderThatIsNotItsOwn(t *testing.T) {
	base := resolve(t.TempDir())
	root, common := fakeWorktree(t, base)
	other := mkdir(t, base, "other")
	put(t, filepath.Join(other, ".git"), "gitdir: "+filepath.Join(common, "worktrees", "wt"))
	if got := FindGit(other); got != (Git{}) {
		t.Errorf("another checkout's directory was opened: %+v", got)
	}
	for name, text := range map[string]string{
		"a folder of the machine":  "gitdir: /etc\n",
		"the file system's root":   "gitdir: /\n",
		"nothing":                  "gitdir:\n",
		"what does not exist":      "gitdir: /nowhere/at/all\n",
		"another format":           "worktree: " + common,
		"a path with a line break": "gitdir: /a\n/b\n",
		"a path with a zero byte":  "gitdir: /a\x00b\n",
		"the whole repository":     "gitdir: " + common + "\n",
	} {
		put(t, filepath.Join(root, ".git"), text)
		if got := FindGit(root); got != (Git{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if err := os.Remove(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, ".git"), filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	if got := FindGit(root); got != (Git{}) {
		t.Errorf("a link: %+v", got)
	}
}

func TestAGitFileThatIsNoFileHoldsNothingUp(t *testing.T) {
	for _, file := range []string{".git", "HEAD", "commondir", "gitdir"} {
		for what, make := range map[string]func(path string) error{
			"a pipe that nobody writes": func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"a device without an end":   func(path string) error { return os.Symlink("/dev/zero", path) },
			"a link to what was there":  func(path string) error { return os.Symlink(path+".was", path) },
			"a file that is too long":   func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("/"), smallFile+1), 0o600) },
		} {
			if file == "HEAD" && what == "a file that is too long" {
				continue // it is not read
			}
			root, common := fakeWorktree(t, resolve(t.TempDir()))
			path := filepath.Join(common, "worktrees", "wt", file)
			if file == ".git" {
				path = filepath.Join(root, file)
			}
			if err := os.Rename(path, path+".was"); err != nil {
				t.Fatal(err)
			}
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			if got := FindGit(root); got != (Git{}) {
				t.Errorf("%s in place of %s: %+v", what, file, got)
			}
		}
	}
}

func TestAGitDirectoryThatLiesElsewhereThanGitPutsItIsRefused(t *testing.T) {
	base := resolve(t.TempDir())
	root, common := fakeWorktree(t, base)
	own := filepath.Join(common, "worktrees", "wt")
	other := mkdir(t, base, "other")
	mkdir(t, other, "objects")
	mkdir(t, other, "refs")
	put(t, filepath.Join(own, "commondir"), other+"\n")
	if got := FindGit(root); got != (Git{}) {
		t.Errorf("another shared directory: %+v", got)
	}
	fake := mkdir(t, base, "fake")
	put(t, filepath.Join(fake, "HEAD"), "x")
	put(t, filepath.Join(fake, "gitdir"), filepath.Join(root, ".git"))
	put(t, filepath.Join(fake, "commondir"), common)
	put(t, filepath.Join(root, ".git"), "gitdir: "+fake)
	if got := FindGit(root); got != (Git{}) {
		t.Errorf("a folder of nobody's: %+v", got)
	}
	put(t, filepath.Join(own, "commondir"), "../..\n")
	put(t, filepath.Join(root, ".git"), "gitdir: "+own)
	if got := Settle(Policy{Root: root, Write: []string{root}}).Git; got.Common != common {
		t.Errorf("the honest one: %+v", got)
	}
	if got := Settle(Policy{Root: root, Write: []string{root, own}}).Git; got != (Git{}) {
		t.Errorf("a part of it is writable anyway: %+v", got)
	}
}

func FuzzAGitFileNamesAGitDirectoryOrNothing(f *testing.F) {
	f.Add([]byte("gitdir: ../x\n"))
	f.Add([]byte("gitdir: \x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, ".git"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if g := FindGit(root); g != (Git{}) {
			t.Errorf("%q opened %+v", b, g)
		}
	})
}
