//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// after reports whether the words of b come later in args than those of a, each as neighbours.
func position(t *testing.T, args []string, words ...string) int {
	t.Helper()
	for i := range args {
		if i+len(words) <= len(args) && slices.Equal(args[i:i+len(words)], words) {
			return i
		}
	}
	t.Errorf("no %q in %q", words, args)
	return -1
}

func TestBubblewrapLosesEveryCapabilityAndEndsWithItsSocket(t *testing.T) {
	args := bwrapArgs(plan{Write: []string{"/src"}}, []string{"/proc/sys", "/proc/acpi"}, "warden")
	position(t, args, "--cap-drop", "ALL")
	position(t, args, "--unshare-net")
	position(t, args, "--unshare-pid")
	position(t, args, "--", "/dev/jig", "warden")
	position(t, args, "--symlink", "/proc/self/fd/4", "/dev/jig")
	position(t, args, "--ro-bind", "/proc/acpi", "/proc/acpi")
	if position(t, args, "--ro-bind", "/", "/") > position(t, args, "--bind", "/src", "/src") {
		t.Error("the read-only root comes last")
	}
	for _, a := range args {
		if a == "--die-with-parent" || a == "--dev-bind" {
			t.Errorf("%s", a)
		}
	}
	if slices.Contains(bwrapArgs(plan{Network: true}, nil, "x"), "--unshare-net") {
		t.Error("the network was asked for and cut")
	}
}

func TestWhatHoldsAWritablePlaceIsHiddenBeforeThePlaceIsPutBack(t *testing.T) {
	args := bwrapArgs(plan{
		Write: []string{"/run/media/me/src", "/tmp"}, Hide: []string{"/run", "/tmp/tmux-0"},
		Keep: []string{"/run/systemd/resolve/stub-resolv.conf"}, Links: map[string]string{"/run/current-system": "/nix/store/x"},
	}, nil, "x")
	order := []int{
		position(t, args, "--tmpfs", "/run"),
		position(t, args, "--bind", "/tmp", "/tmp"),
	}
	if hidden := position(t, args, "--ro-bind", "/dev/null", "/tmp/tmux-0"); hidden < order[1] {
		t.Error("the hidden folder of /tmp would be put back with /tmp")
	}
	for _, words := range [][]string{
		{"--bind", "/run/media/me/src", "/run/media/me/src"},
		{"--ro-bind-try", "/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/stub-resolv.conf"},
		{"--symlink", "/nix/store/x", "/run/current-system"},
	} {
		if position(t, args, words...) < order[0] {
			t.Errorf("%q comes before /run is hidden", words)
		}
	}
	if position(t, args, "--remount-ro", "/run") < position(t, args, "--symlink", "/nix/store/x", "/run/current-system") {
		t.Error("/run is closed before it is filled")
	}
}

func TestAPlaceInsideAnotherIsNoMountOfItsOwn(t *testing.T) {
	if got := outermost([]string{"/tmp/a", "/tmp", "/tmp", "/tmpx", "/b/c", "/b"}); !slices.Equal(got, []string{"/tmp", "/tmpx", "/b"}) {
		t.Errorf("%q", got)
	}
	if got := outermost([]string{"/a", "/"}); !slices.Equal(got, []string{"/"}) {
		t.Errorf("%q", got)
	}
}

func TestALinkedWorktreeIsWritableButForWhatGitRuns(t *testing.T) {
	dir := resolve(t.TempDir())
	root, common := fakeWorktree(t, dir)
	p := Policy{Root: root, Write: []string{root}, Git: FindGit(root)}
	o, err := planFor(Bwrap, p, "/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	args := bwrapArgs(o, nil, "x")
	whole := position(t, args, "--bind", common, common)
	own := filepath.Join(common, "worktrees", "wt")
	for _, name := range []string{"hooks", "config", "modules", "worktrees"} {
		if position(t, args, "--ro-bind", filepath.Join(common, name), filepath.Join(common, name)) < whole {
			t.Errorf("%s is opened again", name)
		}
	}
	opened := position(t, args, "--bind", own, own)
	if opened < position(t, args, "--ro-bind", filepath.Join(common, "worktrees"), filepath.Join(common, "worktrees")) {
		t.Error("the worktree's own directory is closed")
	}
	again := filepath.Join(own, "commondir")
	last := 0
	for i := range args {
		if args[i] == "--ro-bind" && args[i+1] == again {
			last = i
		}
	}
	if last < opened {
		t.Error("the pointer to the shared directory can be changed")
	}

	o, err = planFor(Landlock, p, "/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range o.Write {
		if within(w, filepath.Join(common, "hooks")) || within(w, filepath.Join(common, "config")) {
			t.Errorf("Landlock opens %s", w)
		}
	}
	for _, need := range []string{own, filepath.Join(common, "objects"), filepath.Join(common, "refs")} {
		if !slices.Contains(o.Write, need) {
			t.Errorf("Landlock does not open %s: %q", need, o.Write)
		}
	}
}

func TestAnOrdinaryRepositoryHasNothingToOpen(t *testing.T) {
	root := t.TempDir()
	mkdir(t, root, ".git", "hooks")
	p := Policy{Root: root, Write: []string{root}, Git: FindGit(root)}
	o, err := planFor(Bwrap, p, "/bin/sh")
	if err != nil || len(o.Guard)+len(o.Shared) != 0 {
		t.Errorf("%v %+v", err, o)
	}
}

func TestSocketsAreHiddenAndPlacesThatHoldTheRootAreNot(t *testing.T) {
	home := resolve(t.TempDir())
	agent := filepath.Join(home, ".gnupg", "S.gpg-agent")
	mkdir(t, home, ".gnupg")
	listen(t, agent)
	root := mkdir(t, home, "src")
	secret := mkdir(t, home, "secret")
	o, err := planFor(Namespaces, Policy{Root: root, Write: []string{root}, Home: home, Hide: []string{home, root, secret, filepath.Join(home, "none"), "/"}}, "/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{agent, secret} {
		if !slices.Contains(o.Hide, want) {
			t.Errorf("%s is not hidden: %q", want, o.Hide)
		}
	}
	for _, h := range o.Hide {
		if within(h, root) && h != "/run" {
			t.Errorf("%s is hidden and holds the root", h)
		}
		if strings.HasSuffix(h, "none") {
			t.Errorf("%s does not exist", h)
		}
	}
}

func TestNothingButFilesIsPutBackIntoAHiddenFolder(t *testing.T) {
	base := resolve(t.TempDir())
	root, hidden := mkdir(t, base, "root"), mkdir(t, base, "hidden")
	listen(t, filepath.Join(hidden, "s"))
	program, link := put(t, filepath.Join(hidden, "jig"), ""), filepath.Join(root, "jig")
	if err := os.Symlink(filepath.Join(hidden, "s"), link); err != nil {
		t.Fatal(err)
	}
	p := Policy{Root: root, Write: []string{root}, Hide: []string{hidden}}
	for binary, want := range map[string]bool{program: true, link: false} {
		o, err := planFor(Bwrap, p, binary)
		if err != nil || slices.Contains(o.Keep, resolve(binary)) != want {
			t.Errorf("%s: %v %q", binary, err, o.Keep)
		}
	}
}
