//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// gitAttempts aim at what git would run of a directory that other checkouts share.
func gitAttempts() []attempt {
	hook := thereIs("out", "main", ".git", "hooks", "post-checkout")
	config := func(w *world, _ string) bool {
		b, _ := os.ReadFile(w.path("out", "main", ".git", "config"))
		return string(b) != "[core]\n"
	}
	common := "$OUT/main/.git"
	// git replaces files in the checkout's own directory at every commit, and Landlock knows no names
	ownInLandlock := map[Tier]Verdict{Landlock: Open}
	list := []attempt{
		{name: "write a hook", run: []string{"create", common + "/hooks/post-checkout"}, done: hook},
		{name: "move a hook there", run: []string{"rename", "$ROOT/mine", common + "/hooks/post-checkout"}, done: hook},
		{name: "replace the hooks folder", run: []string{"sh", "mkdir h && touch h/post-checkout && mv " + common + "/hooks " + common + "/old && mv h " + common + "/hooks"}, done: hook},
		{name: "make the missing hooks folder", prepare: func(t *testing.T, w *world) {
			linkedWorktree(t, w)
			if err := os.Remove(w.path("out", "main", ".git", "hooks")); err != nil {
				t.Fatal(err)
			}
		}, run: []string{"sh", "mkdir -p " + common + "/hooks && touch " + common + "/hooks/post-checkout"}, done: hook},
		{name: "write the configuration", run: []string{"sh", "echo '[core] fsmonitor=evil' >> " + common + "/config"}, done: config},
		{name: "replace the configuration", run: []string{"sh", "echo evil > " + common + "/config.lock; mv -f " + common + "/config.lock " + common + "/config"}, done: config},
		{name: "another worktree's pointer", run: []string{"create", common + "/worktrees/other/commondir"},
			done: fileIs("out", "main", ".git", "worktrees", "other", "commondir", "changed")},
		{name: "a pointer to another shared directory", run: []string{"create", common + "/commondir"},
			done: fileIs("out", "main", ".git", "commondir", "changed")},
		{name: "remove that pointer and make it again", run: []string{"sh", "rm -f " + common + "/commondir; echo evil > " + common + "/commondir"},
			done: fileIs("out", "main", ".git", "commondir", "evil\n")},
		{name: "the missing configuration of one checkout", run: []string{"create", common + "/config.worktree"},
			done: fileIs("out", "main", ".git", "config.worktree", "changed")},
		{name: "the missing configuration of this checkout", run: []string{"create", common + "/worktrees/wt/config.worktree"},
			done: fileIs("out", "main", ".git", "worktrees", "wt", "config.worktree", "changed"), verdict: ownInLandlock},
		{name: "this checkout's pointer", run: []string{"create", common + "/worktrees/wt/commondir"},
			done: fileIs("out", "main", ".git", "worktrees", "wt", "commondir", "changed"), verdict: ownInLandlock},
		{name: "make the missing modules folder", prepare: func(t *testing.T, w *world) {
			linkedWorktree(t, w)
			if err := os.RemoveAll(w.path("out", "main", ".git", "modules")); err != nil {
				t.Fatal(err)
			}
		}, run: []string{"sh", "mkdir -p " + common + "/modules/new/hooks"}, done: thereIs("out", "main", ".git", "modules", "new")},
		{name: "another repository behind a folder of ours", prepare: func(t *testing.T, w *world) {
			linkedWorktree(t, w) // its directory is there, and not the root's
			put(t, w.path("out", "main", ".git", "worktrees", "wt", "gitdir"), w.path("out", "wt", ".git")+"\n")
			if err := os.Remove(w.path("root", ".git")); err != nil {
				t.Fatal(err)
			}
			mkdir(t, w.path("root", ".git"))
			w.vars["TMP"] = w.folder(t, "/tmp")
			w.own(t)
		}, first: []string{"sh", "mv .git git.real && cd $TMP && echo x > HEAD && echo $ROOT/.git > gitdir && echo " + common + " > commondir && echo gitdir: $TMP > $ROOT/.git"},
			earlier: true, run: []string{"create", common + "/refs/new"}, done: thereIs("out", "main", ".git", "refs", "new")},
		{name: "another repository in the same session", prepare: func(t *testing.T, w *world) {
			linkedWorktree(t, w)
			w.vars["TMP"] = w.folder(t, "/tmp")
			mkdir(t, w.path("out", "other", "objects"))
			mkdir(t, w.path("out", "other", "refs"))
			w.own(t)
		}, first: []string{"sh", "cd $TMP && echo x > HEAD && echo $ROOT/.git > gitdir && echo $OUT/other > commondir && echo gitdir: $TMP > $ROOT/.git"},
			run: []string{"create", "$OUT/other/refs/new"}, done: thereIs("out", "other", "refs", "new")},
		{name: "a link where the shared objects should be",
			first:   []string{"sh", "cd " + common + " && mkdir -p refs/evil/refs && ln -s $OUT refs/evil/objects; echo " + common + "/refs/evil > worktrees/wt/commondir; true"},
			earlier: true, run: []string{"create", "$OUT/new"}, done: thereIs("out", "new")},
		{name: "a submodule's hook", run: []string{"create", common + "/modules/sub/hooks/post-checkout"},
			done: thereIs("out", "main", ".git", "modules", "sub", "hooks", "post-checkout")},
	}
	for i := range list {
		list[i].danger, list[i].fresh = "git", true
		if list[i].prepare == nil {
			list[i].prepare = linkedWorktree
		}
	}
	return list
}

// linkedWorktree makes the root a linked worktree of a repository outside.
func linkedWorktree(t *testing.T, w *world) {
	t.Helper()
	root, common := fakeWorktree(t, w.path("out"))
	put(t, filepath.Join(common, "worktrees", "other", "commondir"), "../..\n")
	mkdir(t, common, "modules", "sub", "hooks")
	own := filepath.Join(common, "worktrees", "wt")
	put(t, filepath.Join(own, "gitdir"), w.path("root", ".git")+"\n")
	if err := os.Rename(filepath.Join(root, ".git"), w.path("root", ".git")); err != nil {
		t.Fatal(err)
	}
	w.own(t)
	if FindGit(w.path("root")) == (Git{}) {
		t.Fatal("the git directory is not found")
	}
}
