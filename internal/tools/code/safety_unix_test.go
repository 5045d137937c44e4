//go:build linux || darwin

package code

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func TestPipesSocketsAndDevicesAreNotOpened(t *testing.T) {
	t.Chdir(t.TempDir()) // a socket's path must be short
	p := given(t, files{"ok": "needle\n"})
	p.must(unix.Mkfifo(p.path("pipe"), 0o666))
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	p.must(err)
	p.must(unix.Close(fd))
	l, err := net.Listen("unix", "s")
	p.must(err)
	t.Cleanup(func() { _ = l.Close() })
	p.must(os.Rename("s", p.path("socket")))
	p.must(os.Symlink("/dev/zero", p.path("zero")))
	p.must(os.Symlink("pipe", p.path("link")))
	for path, kind := range map[string]string{"pipe": "a named pipe", "link": "a named pipe", "socket": "a socket", "zero": "a device"} {
		p.says(path+" is "+kind+", not a regular file", "read_file", args{"path": path})
		p.says(path+" is not a regular file", "write_file", args{"path": path, "content": "x"})
		want := path + " has not been read in this session — read it with read_file before modifying it"
		if path == "zero" {
			want = "path leads outside the project root through a symbolic link: zero"
		}
		p.says(want, "edit_file", args{"path": path, "old_string": "a", "new_string": "b"})
	}
	p.says("ok:1: needle", "grep", args{"pattern": "needle"})
	p.says("link (4 B)\nok (7 B)\npipe (0 B)\nsocket (0 B)\nzero (9 B)", "list_dir", args{})
	p.must(os.Remove(p.path("ok")))
	p.must(unix.Mkfifo(p.path(".gitignore"), 0o666))
	p.says("no matches for needle", "grep", args{"pattern": "needle"})
}

func TestAFileThatBecomesAPipeIsNotOpened(t *testing.T) {
	p := given(t, files{"f": "x\n"})
	p.call("read_file", args{"path": "f"})
	p.must(os.Remove(p.path("f")))
	p.must(unix.Mkfifo(p.path("f"), 0o666))
	p.says(fIsChanged, "edit_file", args{"path": "f", "old_string": "x", "new_string": "y"})
	p.says("f is not a regular file", "write_file", args{"path": "f", "content": "x"})
}

func inode(t *testing.T, path string) syscall.Stat_t {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestWritesKeepModeLinksAndNames(t *testing.T) {
	for _, name := range []string{"edit_file", "write_file"} {
		a := func(path string) args {
			if name == "edit_file" {
				return args{"path": path, "old_string": "one", "new_string": "1"}
			}
			return args{"path": path, "content": "1\n"}
		}
		p := given(t, files{"run.sh": "one\n", "real.md": "one\n", "hard": "one\n", "d/x": "one\n"})
		p.must(os.Chmod(p.path("run.sh"), 0o755|os.ModeSetgid))
		p.must(os.Symlink("real.md", p.path("link.md")))
		p.must(os.Symlink(p.path("d"), p.path("dir"))) // absolute, and inside
		p.must(os.Link(p.path("hard"), p.path("other")))
		for _, path := range []string{"run.sh", "link.md", "hard", "dir/x"} {
			p.call("read_file", args{"path": path})
			if o := p.call(name, a(path)); o.err != nil {
				t.Errorf("%s %s: %v", name, path, o.err)
			}
			p.holds(path, "1\n")
		}
		if info, err := os.Stat(p.path("run.sh")); err != nil || info.Mode() != 0o755|os.ModeSetgid {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
		if to, err := os.Readlink(p.path("link.md")); err != nil || to != "real.md" {
			t.Errorf("%s: the link is %q, %v", name, to, err)
		}
		p.holds("real.md", "1\n")
		p.holds("other", "1\n")
		p.holds("d/x", "1\n")
		if inode(t, p.path("hard")).Ino != inode(t, p.path("other")).Ino {
			t.Errorf("%s: the names are of two files now", name)
		}
		p.clean(".", "run.sh", "real.md", "link.md", "hard", "other", "d", "dir")
		p.clean("d", "x")
	}
}

func TestWritesKeepOwnerAndAttributes(t *testing.T) {
	p := given(t, files{"f": "one\n"})
	if os.Getuid() == 0 {
		p.must(os.Chown(p.path("f"), 65534, 65534))
	}
	p.must(os.Chmod(p.path("f"), 0o640))
	attributes := unix.Setxattr(p.path("f"), "user.note", []byte("kept"), 0) == nil // not every file system has them
	was := inode(t, p.path("f"))
	p.call("read_file", args{"path": "f"})
	p.says("1 replacement(s) in f\n\n"+numbered(1, "1"), "edit_file", args{"path": "f", "old_string": "one", "new_string": "1"})
	is := inode(t, p.path("f"))
	if is.Uid != was.Uid || is.Gid != was.Gid || is.Mode != was.Mode {
		t.Errorf("%d:%d %o became %d:%d %o", was.Uid, was.Gid, was.Mode, is.Uid, is.Gid, is.Mode)
	}
	if is.Ino == was.Ino {
		t.Error("the file was written in place although it need not be")
	}
	if attributes {
		b := make([]byte, 10)
		if n, err := unix.Getxattr(p.path("f"), "user.note", b); err != nil || string(b[:n]) != "kept" {
			t.Errorf("the attribute is %q, %v", b, err)
		}
	}
}

func TestWritesThroughLinksThatLeaveTheRootAreRefused(t *testing.T) {
	away := t.TempDir()
	p := given(t, files{"d/": "", "in": "one\n"})
	p.must(os.WriteFile(filepath.Join(away, "f"), []byte("one\n"), 0o644))
	for link, to := range map[string]string{
		"file": filepath.Join(away, "f"), "dir": away, "dangling": filepath.Join(away, "new"), "up": "../..", "d/chain": "../file",
		"deep": "d/../../" + filepath.Base(away) + "x/y", "inner": "d", "newin": "d/fresh",
	} {
		p.must(os.Symlink(to, p.path(link)))
	}
	for _, path := range []string{"file", "dir/f", "d/chain", "inner/chain", "dangling", "dir/new", "dir/a/b/new", "up/" + filepath.Base(away) + "x", "deep"} {
		p.call("read_file", args{"path": path})
		want := "path leads outside the project root through a symbolic link: " + path
		p.says(want, "write_file", args{"path": path, "content": "x"})
		p.says(want, "edit_file", args{"path": path, "old_string": "one", "new_string": "1"})
	}
	if b, err := os.ReadFile(filepath.Join(away, "f")); err != nil || string(b) != "one\n" {
		t.Errorf("%q %v", b, err)
	}
	if entries, err := os.ReadDir(away); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
	p.says("wrote 1 B to inner/x (created)", "write_file", args{"path": "inner/x", "content": "x"})
	p.says("wrote 1 B to newin (created)", "write_file", args{"path": "newin", "content": "y"})
	p.holds("d/x", "x")
	p.holds("d/fresh", "y")
	if to, err := os.Readlink(p.path("newin")); err != nil || to != "d/fresh" {
		t.Errorf("%q %v", to, err)
	}
	// A file is the same by whichever name inside it was read.
	p.must(os.Symlink("in", p.path("alias")))
	p.call("read_file", args{"path": "alias"})
	p.says("1 replacement(s) in in\n\n"+numbered(1, "1"), "edit_file", args{"path": "in", "old_string": "one", "new_string": "1"})
}

func TestALinkPutInPlaceAfterTheCheckLeadsNowhere(t *testing.T) {
	away := t.TempDir()
	p := given(t, files{"d/f": "one\n"})
	p.must(os.WriteFile(filepath.Join(away, "f"), []byte("one\n"), 0o644))
	p.call("read_file", args{"path": "d/f"})
	for name, a := range map[string]args{
		"edit_file": {"path": "d/f", "old_string": "one", "new_string": "1"}, "write_file": {"path": "d/f", "content": "1\n"},
	} {
		prep, err := p.prepare(name, a)
		p.must(err)
		p.must(os.Rename(p.path("d"), p.path("real")))
		p.must(os.Symlink(away, p.path("d")))
		if o := p.run(name, prep); o.text != "path leads outside the project root through a symbolic link: d/f" {
			t.Error(o.text)
		}
		p.must(os.Remove(p.path("d")))
		p.must(os.Rename(p.path("real"), p.path("d")))
	}
	// And below all checks, the directory that is written in cannot be left by a link.
	w, err := p.set.writer(t.Context(), spot{arg: "d/f", rel: "d/f", abs: p.path("d/f")})
	p.must(err)
	defer w.close()
	p.must(os.Rename(p.path("d"), p.path("real")))
	p.must(os.Symlink(away, p.path("d")))
	c, err := p.set.loadPath(p.path("d/f"))
	p.must(err)
	if err := w.replace(c, []byte("1\n")); err == nil {
		t.Error("written through the link")
	}
	if err := w.create([]byte("1\n")); err == nil {
		t.Error("created through the link")
	}
	if b, err := os.ReadFile(filepath.Join(away, "f")); err != nil || string(b) != "one\n" {
		t.Errorf("%q %v", b, err)
	}
}

// inChild runs the test in a process of its own, where limits and the user can be changed, as an
// ordinary user if asked. Of the files of this process, that user can only run the binary itself.
func inChild(t *testing.T, ordinary bool, f func()) {
	t.Helper()
	if os.Getenv("CODE_TEST_CHILD") == t.Name() {
		f()
		for name, by := range told.by {
			for failure := range by {
				fmt.Printf("told\t%s\t%s\n", name, failure.Form)
			}
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	if ordinary && os.Getuid() == 0 {
		cmd.Path = "/proc/self/exe"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "CODE_TEST_CHILD="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if told := strings.Split(strings.TrimSpace(line), "\t"); told[0] == "told" {
			for _, sp := range newSet("linux", "/p", Config{}).Specs() {
				for _, f := range sp.Failures {
					if sp.Name == told[1] && f.Form == told[2] {
						tell(sp.Name, f)
					}
				}
			}
		}
	}
}

func TestAFailedWriteLeavesTheOldFileAndNothingElse(t *testing.T) {
	inChild(t, false, func() {
		text := strings.Repeat("line\n", 1000)
		p := given(t, files{"f": "one\n" + text, "hard": "one\n" + text})
		p.must(os.Link(p.path("hard"), p.path("other")))
		signal.Ignore(unix.SIGXFSZ)
		limit := unix.Rlimit{Cur: 6000, Max: 6000} // as on a full disk
		p.must(unix.Setrlimit(unix.RLIMIT_FSIZE, &limit))
		for _, path := range []string{"f", "hard"} {
			p.call("read_file", args{"path": path})
			p.says("cannot write "+path+": file too large", "edit_file", args{"path": path, "old_string": "one", "new_string": text})
			p.says("cannot write "+path+": file too large", "write_file", args{"path": path, "content": text + text})
			p.holds(path, "one\n"+text)
		}
		p.says("cannot write new/deep/x: file too large", "write_file", args{"path": "new/deep/x", "content": text + text})
		p.clean(".", "f", "hard", "other")
	})
}

func TestWhatMayNotBeReadOrWritten(t *testing.T) {
	inChild(t, true, func() {
		p := given(t, files{"secret": "one\n", "fixed": "one\n", "closed/f.md": "needle\n", "closed2/f.md": "needle\n", "sealed/f": "one\n", "ok.md": "needle\n", "sealed/run": "one\n"})
		p.call("read_file", args{"path": "secret"})
		for name, mode := range map[string]os.FileMode{"secret": 0, "fixed": 0o444, "closed": 0, "closed2": 0, "sealed/run": 0o755, "sealed": 0o555} {
			p.must(os.Chmod(p.path(name), mode))
		}
		t.Cleanup(func() {
			for _, name := range []string{"closed", "closed2", "sealed"} {
				p.must(os.Chmod(p.path(name), 0o755))
			}
		})
		p.says("cannot read secret: permission denied", "read_file", args{"path": "secret"})
		p.says("cannot read secret: permission denied", "edit_file", args{"path": "secret", "old_string": "one", "new_string": "1"})
		p.says("cannot read secret: permission denied", "write_file", args{"path": "secret", "content": "1"})
		p.says("cannot list closed: permission denied", "list_dir", args{"path": "closed"})
		p.says("cannot list closed: permission denied", "grep", args{"pattern": "x", "path": "closed"})
		p.says("cannot list closed: permission denied", "glob", args{"pattern": "*", "path": "closed"})
		p.says("cannot read closed/f.md: permission denied", "read_file", args{"path": "closed/f.md"})
		p.says("ok.md\n[2 paths could not be read]", "glob", args{"pattern": "**/*.md"})
		p.says("no files match *.rs\n[2 paths could not be read]", "glob", args{"pattern": "*.rs"})
		p.says("ok.md:1: needle\n[3 paths could not be read]", "grep", args{"pattern": "needle"})
		p.says("no matches for nowhere\n[3 paths could not be read]", "grep", args{"pattern": "nowhere"})
		p.says("no matches for needle\n[3 paths could not be read]", "grep", args{"pattern": "needle", "include": "secret"})

		// Renaming would get around a file's mode; it does not.
		p.call("read_file", args{"path": "fixed"})
		p.says("cannot write fixed: permission denied", "edit_file", args{"path": "fixed", "old_string": "one", "new_string": "1"})
		p.says("cannot write fixed: permission denied", "write_file", args{"path": "fixed", "content": "1"})
		p.holds("fixed", "one\n")

		// In a directory that takes no new files, an old one is still written.
		for _, path := range []string{"sealed/f", "sealed/run"} {
			p.call("read_file", args{"path": path})
			p.says("1 replacement(s) in "+path+"\n\n"+numbered(1, "1"), "edit_file", args{"path": path, "old_string": "one", "new_string": "1"})
			p.holds(path, "1\n")
		}
		p.says("cannot write sealed/new: permission denied", "write_file", args{"path": "sealed/new", "content": "1"})
		p.says("cannot write sealed/new/x: permission denied", "write_file", args{"path": "sealed/new/x", "content": "1"})
		p.clean("sealed", "f", "run")

		was := inode(t, p.path("ok.md")).Ino
		p.call("read_file", args{"path": "ok.md"})
		p.says("wrote 1 B to ok.md (overwritten)", "write_file", args{"path": "ok.md", "content": "x"})
		if inode(t, p.path("ok.md")).Ino == was {
			t.Error("an ordinary user's file was written in place although it need not be")
		}
	})
}

// Where files without a name are not to be had, drafts have one, and it does not stay.
func TestDraftsWithANameLeaveNothing(t *testing.T) {
	p := given(t, files{"f": "one\n", "taken": "x\n"})
	draft := func() *draft {
		dir, err := os.OpenRoot(p.root)
		p.must(err)
		d := &draft{dir: dir}
		p.must(d.named(0o644))
		_, err = d.f.WriteString("new\n")
		p.must(err)
		return d
	}
	d := draft()
	p.must(d.replace("f"))
	d.close()
	d = draft()
	p.must(d.link("g"))
	d.close()
	d = draft()
	if err := d.link("taken"); !os.IsExist(err) {
		t.Error(err)
	}
	d.close()
	d = draft()
	if err := d.replace("no/such"); err == nil {
		t.Error("renamed to nowhere")
	}
	d.close()
	p.clean(".", "f", "g", "taken")
	p.holds("f", "new\n")
	p.holds("g", "new\n")
	p.holds("taken", "x\n")
}

func TestWritingInPlaceWritesEverything(t *testing.T) {
	p := given(t, files{"f": ""})
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringN(0, 40, -1).Draw(t, "before")
		after := rapid.StringN(0, 40, -1).Draw(t, "after")
		p.put("f", before)
		f, err := os.OpenFile(p.path("f"), os.O_WRONLY, 0)
		p.must(err)
		p.must(overwrite(f, int64(len(before)), contents{data: []byte(before), record: record{whole: true}}, []byte(after)))
		p.must(f.Close())
		if got := p.disk("f"); got != after {
			t.Fatalf("%q became %q, want %q", before, got, after)
		}
	})
}

func TestARootThatIsALinkIsARootLikeAnyOther(t *testing.T) {
	p := given(t, files{"real/a": "one\n"})
	p.must(os.Symlink("real", p.path("root")))
	p.root = p.path("root")
	p.with(Config{})
	p.says(numbered(1, "one"), "read_file", args{"path": p.path("a")})
	p.says("1 replacement(s) in a\n\n"+numbered(1, "1"), "edit_file", args{"path": "a", "old_string": "one", "new_string": "1"})
	p.says("wrote 1 B to d/b (created)", "write_file", args{"path": "d/b", "content": "b"})
	p.says("a:1: 1", "grep", args{"pattern": "1"})
	p.says("d/b", "glob", args{"pattern": "b"})
	p.must(os.Remove(p.root))
	p.says("cannot write c: no such file or directory", "write_file", args{"path": "c", "content": "c"})
	p.says("not a directory: .", "list_dir", args{"path": "."})
}

// Somebody else's lock on a directory delays a write and does not prevent it.
func TestALockThatIsNotGivenBackDoesNotStopAWrite(t *testing.T) {
	t.Parallel()
	p := given(t, nil)
	d, err := os.Open(p.root)
	p.must(err)
	defer d.Close()
	p.must(unix.Flock(int(d.Fd()), unix.LOCK_EX))
	p.says("wrote 1 B to f (created)", "write_file", args{"path": "f", "content": "x"})
}
