//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// twin is honest work that looks like an escape. It must work inside, but where the table of costs
// says that a tier takes it.
type twin struct {
	name string
	run  []string
	want string        // what it prints, at least
	not  map[Tier]bool // the table of costs says that it does not work
	net  bool
	abi  int

	userOnly bool // root without capabilities cannot
}

func twins() []twin {
	noLoopback := map[Tier]bool{Landlock: true}
	return []twin{
		{name: "write, move, link and remove inside", run: []string{"sh", "mkdir d && echo x > d/a && ln d/a d/b && ln -s a d/c && mv d/a e && chmod 600 e && touch -d 2001-01-01 e && cat d/b && rm -r d e && echo done"}, want: "x\ndone"},
		{name: "temporary files", run: []string{"sh", "f=$(mktemp) && echo x > $f && cat $f && rm $f && echo done"}, want: "x\ndone"},
		{name: "shared memory", run: []string{"sh", "echo x > /dev/shm/jig-twin-$$ && cat /dev/shm/jig-twin-$$ && rm /dev/shm/jig-twin-$$"}, want: "x"},
		{name: "devices", run: []string{"sh", "echo x > /dev/null && head -c 4 /dev/zero | wc -c && head -c 4 /dev/urandom | wc -c && echo full > /dev/full || echo refused"}, want: "4\n4\n"},
		{name: "standard error by name", run: []string{"sh", "echo one; echo two > /dev/stderr; echo three"}, want: "one\ntwo\nthree"},
		{name: "an empty standard input", run: []string{"sh", "cat; cat /dev/stdin; echo done"}, want: "done"},
		{name: "no terminal", run: []string{"sh", "(echo x > /dev/tty) 2>/dev/null || echo none"}, want: "none"},
		{name: "its own processes", run: []string{"sh", "sleep 30 & kill $! && wait $!; echo $?"}, want: "143"},
		{name: "its own memory", run: []string{"sh", "cat /proc/self/status | grep -c ^Name"}, want: "1"},
		{name: "reading the machine", run: []string{"sh", "test -r /etc/passwd && ls / >/dev/null && cat /proc/cpuinfo >/dev/null && echo done"}, want: "done"},
		{name: "a unix socket", run: []string{"unix-pair", "$ROOT/s"}, want: "heard"},
		{name: "a unix socket in a new folder of /tmp", run: []string{"sh", "d=$(mktemp -d) && $BASE/bin/jig attempt unix-pair $d/s; rm -r $d"}, want: "heard"},
		{name: "an abstract socket", run: []string{"unix-pair", "@jig-twin"}, want: "heard"},
		{name: "loopback", run: []string{"tcp-pair", "127.0.0.1:0"}, want: "heard", not: noLoopback},
		{name: "loopback, version 6", run: []string{"tcp-pair", "[::1]:0"}, want: "heard", not: noLoopback},
		{name: "loopback with the network allowed", run: []string{"tcp-pair", "127.0.0.1:0"}, want: "heard", net: true},
		{name: "a pseudo-terminal", run: []string{"terminal-pair"}, want: "heard", not: map[Tier]bool{Landlock: true}},
		{name: "a user namespace", run: []string{"sh", "unshare -U true && echo done"}, want: "done"},
		{name: "a user namespace with numbers", run: []string{"sh", "unshare -Ur true && echo done"}, want: "done", not: map[Tier]bool{Landlock: true}, userOnly: true},
		{name: "bubblewrap", run: []string{"sh", "bwrap --ro-bind / / --unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts echo done"}, want: "done",
			not: map[Tier]bool{Namespaces: true, Landlock: true}, userOnly: true},
		{name: "an older Landlock", run: []string{"sh", "mkdir d && echo x > d/a && : > d/a && echo y >> d/a && truncate -s 1 d/a && cat d/a"}, want: "y", abi: 2,
			not: map[Tier]bool{}},
	}
}

func TestHonestWorkGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		w.share(t, append(tiers, None)...)
		for _, x := range twins() {
			if x.userOnly && who == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%d/%s", who, x.name), func(t *testing.T) {
				w.net, w.abi = x.net, x.abi
				defer func() { w.net, w.abi = false, 0 }()
				for _, tier := range append(tiers, None) {
					w.reset(t)
					h := w.hosts[tier]
					if x.net || x.abi > 0 {
						h = startHost(t, who, w.binary, tier, w.policy())
					}
					r := h.run(t, w.command(x.run))
					if got := strings.Contains(r.Out, x.want); got == x.not[tier] {
						t.Errorf("%s: %d %q %s", tier, r.Exit, r.Out, r.Err)
					}
				}
			})
		}
	}
}

// git runs git outside, as the user.
func (w *world) git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "protocol.file.allow=always"}, args...)...)
	c.Env = append(os.Environ(), gitWho(w)...)
	c.SysProcAttr = asUser(w.who)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func gitWho(w *world) []string {
	return []string{"HOME=" + w.path("home"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true"}
}

const change = "echo x >> f && git add -A && git commit -qm inside && git log --format=%s -1"

func TestGitWorksWhereItsDirectoryLiesOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap and git")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		for _, x := range []struct {
			name, run string
			prepare   func(t *testing.T)
			not       map[Tier]bool
		}{
			{"commit in a linked worktree", change, func(t *testing.T) { w.realWorktree(t) }, nil},
			{"rebase in a linked worktree", change + " && git rebase -q master && git log --format=%s -1", func(t *testing.T) { w.realWorktree(t) },
				nil},
			{"delete a branch of a linked worktree", change + " && git branch -q extra && git branch -qD extra && git log --format=%s -1",
				func(t *testing.T) { w.realWorktree(t) }, map[Tier]bool{Landlock: true}},
			{"commit in a submodule", change, func(t *testing.T) { w.realSubmodule(t) }, nil},
			{"rebase in a submodule", change + " && git rebase -q HEAD~1 --onto HEAD~1 && git log --format=%s -1", func(t *testing.T) { w.realSubmodule(t) }, nil},
		} {
			t.Run(fmt.Sprintf("%d/%s", who, x.name), func(t *testing.T) {
				for _, tier := range tiers {
					w.reset(t)
					x.prepare(t)
					p := w.policy()
					if p.Git.Dir == "" {
						t.Fatal("the git directory is not found")
					}
					before := w.git(t, w.path("root"), "rev-parse", "HEAD")
					h := startHost(t, who, w.binary, tier, p)
					o := w.command([]string{"sh", x.run})
					o.Env = append(o.Env, gitWho(w)...)
					r := h.run(t, o)
					h.stop()
					worked := r.Exit == 0 && strings.HasSuffix(strings.TrimSpace(r.Out), "inside")
					if worked == x.not[tier] {
						t.Errorf("%s: %d %s", tier, r.Exit, r.Out)
					}
					if w.git(t, w.path("root"), "rev-parse", "HEAD") == before {
						t.Errorf("%s: nothing was committed", tier)
					}
					if main := w.path("out", "main"); exists(main) { // what was made in its directory says nothing to git
						if got := w.git(t, main, "status", "--short", "--branch"); got != "## master" {
							t.Errorf("%s: the main checkout is not as it was: %s", tier, got)
						}
						w.git(t, main, "worktree", "add", "-q", w.path("out", "more"))
					}
				}
			})
		}
	}
}

// realWorktree makes the root a linked worktree, one commit behind.
func (w *world) realWorktree(t *testing.T) {
	t.Helper()
	main := w.path("out", "main")
	mkdir(t, main)
	w.own(t)
	w.git(t, main, "init", "-q", "-b", "master")
	for _, name := range []string{"one", "two"} {
		put(t, w.path("out", "main", name), name)
		w.own(t)
		w.git(t, main, "add", "-A")
		w.git(t, main, "commit", "-qm", name)
	}
	_ = os.RemoveAll(w.path("root"))
	w.git(t, main, "worktree", "add", "-q", "-b", "topic", w.path("root"), "HEAD~1")
}

// realSubmodule makes the root a submodule of a project outside.
func (w *world) realSubmodule(t *testing.T) {
	t.Helper()
	origin, super := w.path("out", "origin"), w.base
	mkdir(t, origin)
	w.own(t)
	w.git(t, origin, "init", "-q", "-b", "master")
	for _, name := range []string{"one", "two"} {
		put(t, w.path("out", "origin", name), name)
		w.own(t)
		w.git(t, origin, "add", "-A")
		w.git(t, origin, "commit", "-qm", name)
	}
	_ = os.RemoveAll(w.path("root"))
	_ = os.RemoveAll(w.path(".git"))
	t.Cleanup(func() { _ = os.RemoveAll(w.path(".git")); _ = os.Remove(w.path(".gitmodules")) })
	w.git(t, super, "init", "-q", "-b", "master")
	w.git(t, super, "submodule", "--quiet", "add", origin, "root")
}
