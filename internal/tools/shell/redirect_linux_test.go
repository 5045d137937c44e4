package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"jig/internal/sandbox"
)

// eachSandbox runs a test in every regime that a command can leave, with a program that does.
func eachSandbox(t *testing.T, f func(t *testing.T, s *session, bin string)) {
	for _, tier := range []sandbox.Tier{sandbox.Bwrap, sandbox.Namespaces, sandbox.Landlock} {
		t.Run(string(tier), func(t *testing.T) {
			if tier == sandbox.Bwrap && testing.Short() {
				t.Skip("needs bubblewrap")
			}
			s, bin := leavingSession(t, in(tier), func(o *Options) { o.Config.AutoRun = true })
			f(t, s, bin)
		})
	}
}

const (
	notFollowed = " is a symbolic link that a command could have made, so it is not followed: redirect to the file itself\n[exit code 1]"
	noFile      = " is not a file: redirect to one, or to /dev/null\n[exit code 1]"
	silent      = "[command produced no output]"
)

func TestARedirectionFollowsNoLinkThatACommandPlanted(t *testing.T) {
	eachSandbox(t, func(t *testing.T, s *session, bin string) {
		precious := filepath.Join(s.outside, "bashrc")
		s.must(os.WriteFile(precious, []byte("mine\n"), 0o600))
		temp := s.opts.Temp
		s.says("ln -s "+precious+" out.txt; ln -s "+s.outside+"/new dangling; ln -s "+s.outside+" folder; mkdir sub; ln -s ../out.txt sub/again; ln -s "+precious+" "+temp+"/out; "+
			"mkfifo pipe; echo text > file; ln -s file inner; ln -s . dot; ln -s "+s.outside+" dot/out", silent)
		for _, c := range []struct{ redirection, want string }{
			{"> out.txt", s.root + "/out.txt" + notFollowed}, {">> out.txt", s.root + "/out.txt" + notFollowed}, {"2> out.txt", s.root + "/out.txt" + notFollowed},
			{"&> out.txt", s.root + "/out.txt" + notFollowed}, {">| ./out.txt", s.root + "/out.txt" + notFollowed}, {"> " + s.root + "/out.txt", s.root + "/out.txt" + notFollowed},
			{"> dangling", s.root + "/dangling" + notFollowed}, {"> folder/bashrc", s.root + "/folder" + notFollowed}, {"> folder/new", s.root + "/folder" + notFollowed},
			{"> sub/again", s.root + "/sub/again" + notFollowed}, {"> sub/../out.txt", s.root + "/out.txt" + notFollowed}, {"> inner", s.root + "/inner" + notFollowed},
			{"> dot/file", s.root + "/dot" + notFollowed}, {"> " + temp + "/out", temp + "/out" + notFollowed}, {"< out.txt", s.root + "/out.txt" + notFollowed},
			{"> /proc/self/cwd/file", "/proc/self" + notFollowed}, {"> pipe", "pipe" + noFile}, {"< pipe", "pipe" + noFile},
			{"> sub", "open sub: is a directory\n[exit code 1]"}, {"> no/such", "open no/such: no such file or directory\n[exit code 1]"},
			{"> no/../file", "open no/../file: no such file or directory\n[exit code 1]"}, {"> file/", "open file/: not a directory\n[exit code 1]"},
			{"> file > out.txt", s.root + "/out.txt" + notFollowed},
		} {
			s.says(bin+" say gone "+c.redirection, "jig: "+c.want)
		}
		if b, err := os.ReadFile(precious); string(b) != "mine\n" {
			t.Errorf("the file holds %q, %v", b, err)
		}
		names, _ := filepath.Glob(s.outside + "/*")
		if len(names) != 1 {
			t.Errorf("outside there are %q", names)
		}
	})
}

func TestARedirectionGoesWhereItsNameSays(t *testing.T) {
	eachSandbox(t, func(t *testing.T, s *session, bin string) {
		s.must(os.Symlink(s.outside+"/target", s.outside+"/link"))
		s.must(os.Symlink(s.root, s.outside+"/project"))
		s.says("mkdir sub; echo old > old", silent)
		for _, c := range []string{"> new", ">> old", "> sub/new", "> sub/../up", "> " + s.outside + "/plain", "> " + s.outside + "/link", "> " + s.outside + "/project/through",
			"> ../outside/relative", "> /dev/null", "> ../../../../dev/null", "> " + s.opts.Temp + "/new"} {
			s.says(bin+" say x "+c, silent)
		}
		s.says(bin+" say x < old", "\"x\"\n")
		s.says(bin+" say x > /dev/stderr", "\"x\"\n")
		for name, want := range map[string]string{
			s.root + "/new": "\"x\"\n", s.root + "/old": "old\n\"x\"\n", s.root + "/sub/new": "\"x\"\n", s.root + "/up": "\"x\"\n", s.root + "/through": "\"x\"\n",
			s.outside + "/plain": "\"x\"\n", s.outside + "/target": "\"x\"\n", s.outside + "/relative": "\"x\"\n", s.opts.Temp + "/new": "\"x\"\n",
		} {
			if b, err := os.ReadFile(name); string(b) != want {
				t.Errorf("%s holds %q, %v", name, b, err)
			}
		}
	})
}

// A link that is swapped in between the look and the opening is not followed either.
func TestNoLinkIsFollowedThatComesAfterTheLook(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := os.Symlink(other, dir+"/folder"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other+"/file", dir+"/file"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir + "/file", dir + "/folder/file"} {
		if f, err := openNoLinks(path, os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
			t.Errorf("%s was opened as %s", path, f.Name())
		}
	}
	if f, err := openFolder(dir+"/folder/sub", true); err == nil {
		t.Errorf("a folder was made: %s", f.Name())
	}
	if names, _ := os.ReadDir(other); len(names) > 0 {
		t.Errorf("made through a link: %v", names)
	}
	f, err := openFolder(dir+"/a/b", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Mode().Perm() != 0o700 || f.Name() != dir+"/a/b" {
		t.Error(f.Name(), fi, err)
	}
}

// What the program writes to in another folder would be a wider project for it.
func TestNoJigCallLeavesForAProjectOfItsOwn(t *testing.T) {
	eachSandbox(t, func(t *testing.T, s *session, bin string) {
		other := filepath.Join(s.outside, "other")
		s.must(os.MkdirAll(other, 0o755))
		s.says("mkdir -p sub/deep; ln -s "+other+" link; ln -s sub/deep inner", silent)
		for cwd, want := range map[string]bool{
			"": true, "sub/deep": true, s.root: true, "inner": true, s.opts.Temp: true,
			other: false, s.outside: false, "/": false, "/etc": false, "link": false, "..": false, "~": false, "sub/../..": false, "no/such": false,
		} {
			if _, got := s.leaves(bin+" say x", s.directory(cwd)); got != want {
				t.Errorf("in %q it leaves: %v", cwd, got)
			}
		}
		there := filepath.Join(other, "there")
		r := s.call(args{"command": bin + " say write=" + there, "cwd": other})
		if r.Blocks.Text() != "write: false\n" {
			t.Errorf("%q", r.Blocks.Text())
		}
		r = s.call(args{"command": bin + " say write=" + there + " env=PWD", "cwd": "inner"})
		if r.Blocks.Text() != "write: true\n"+s.root+"/sub/deep\n" {
			t.Errorf("%q", r.Blocks.Text())
		}

		// A folder above that holds the project as one of its own is the project of what starts there.
		above := filepath.Dir(s.root)
		s.must(os.Mkdir(above+"/.git", 0o755))
		if _, ok := s.leaves(bin+" say x", s.root); ok {
			t.Error("it leaves for the project above")
		}
		s.must(os.Mkdir(s.root+"/.git", 0o755))
		if _, ok := s.leaves(bin+" say x", s.root+"/sub"); !ok {
			t.Error("in its own project it does not leave")
		}
	})
}

// The folder can have been replaced between the look and the start.
func TestAJigCallRunsInTheFolderThatWasLookedAt(t *testing.T) {
	s, bin := leavingSession(t, func(o *Options) { o.Config.AutoRun = true })
	s.says("mkdir sub", silent)
	l, ok := s.leaves(bin+" say x", s.root+"/sub")
	if !ok {
		t.Fatal("it does not leave")
	}
	s.says("rmdir sub; ln -s "+s.outside+" sub", silent)
	cmd := exec.Command(l.argv[0], l.argv[1:]...)
	cmd.Dir, cmd.Env = l.dir, []string{"PWD=" + l.dir}
	out, err := cmd.CombinedOutput()
	if err == nil || string(out) != "jig: the working directory is not "+s.root+"/sub any more: a command put something else in its place\n" {
		t.Errorf("%v, %q", err, out)
	}
}

func TestNoHiddenCommandLeaves(t *testing.T) {
	eachSandbox(t, func(t *testing.T, s *session, bin string) {
		there := filepath.Join(s.outside, "there")
		for _, command := range []string{
			bin + " warden try " + s.outside + " there '' none", bin + ` redirect '{"Redirs":[{"FD":1,"Op":">","Path":"` + there + `"}]}' say x`,
			bin + ` redirect '{}' say write=` + there, bin + " 'warden' serve", bin + ` re"direct" '{}'`, bin + " --debug warden", bin + ` redirect '{}' say x > ` + there,
		} {
			if _, ok := s.leaves(command, s.root); ok {
				t.Errorf("%s leaves", command)
			}
		}
		s.sh(bin + ` redirect '{}' say write=` + there)
		if _, err := os.Stat(there); err == nil {
			t.Error("something was written outside")
		}
		for _, command := range []string{bin + " say warden", bin + " run redirect -m x", bin + " run a -m warden"} {
			if _, ok := s.leaves(command, s.root); !ok {
				t.Errorf("%s stays inside", command)
			}
		}
	})
}
