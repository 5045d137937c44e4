//go:build linux

package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// placeAttempts make a link out of a place that commands may write to: the name is then another
// place for the next confinement, or for the next session.
func placeAttempts() []attempt {
	inTemp := func(name string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			w.vars["TMP"] = w.folder(t, "/tmp")
			path := mkdir(t, w.vars["TMP"], name)
			_ = os.Lchown(path, w.who, w.who)
		}
	}
	with := func(places func(*world) Places) func(*world) hostPolicy {
		return func(w *world) hostPolicy {
			p := w.policy()
			all := places(w)
			p.Root, p.Write = all.Root, WriteRoots(all)
			return p
		}
	}
	temp := with(func(w *world) Places { return Places{Root: w.path("root"), Temp: filepath.Join(w.vars["TMP"], "t")} })
	project := with(func(w *world) Places { return Places{Root: filepath.Join(w.vars["TMP"], "p")} })
	added := with(func(w *world) Places { return Places{Root: w.path("root"), Write: []string{w.path("root", "extra")}} })
	chain := with(func(w *world) Places {
		return Places{Root: w.path("root"), Cache: filepath.Join(w.vars["TMP"], "t", "out"), Write: []string{w.path("root", "extra", "out")}}
	})
	list := []attempt{
		{name: "the temporary folder", prepare: inTemp("t"), policy: temp, first: []string{"sh", "rm -rf $TMP/t && ln -s $OUT $TMP/t"}},
		{name: "the temporary folder, swapped at once", prepare: inTemp("t"), policy: temp,
			first: []string{"sh", "ln -s $OUT $TMP/l && $BASE/bin/jig attempt swap $TMP/l $TMP/t"}},
		{name: "the temporary folder of the next session", prepare: inTemp("t"), policy: temp, earlier: true,
			first: []string{"sh", "rm -rf $TMP/t && ln -s $OUT $TMP/t"}},
		{name: "the temporary folder of the next session, in a folder closed since", prepare: func(t *testing.T, w *world) {
			inTemp("t")(t, w)
			dir := w.vars["TMP"]
			t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
		}, policy: temp, earlier: true, first: []string{"sh", "rm -rf $TMP/t && ln -s $OUT $TMP/t && chmod 555 $TMP"}},
		{name: "a project in /tmp", prepare: inTemp("p"), policy: project, first: []string{"sh", "cd / && mv $TMP/p $TMP/q && ln -s / $TMP/p"}},
		{name: "a project in /tmp, in the next session", prepare: inTemp("p"), policy: project, earlier: true,
			first: []string{"sh", "cd / && mv $TMP/p $TMP/q && ln -s $BASE $TMP/p"}},
		{name: "an added place in the root", policy: added, first: []string{"sh", "ln -s $OUT extra"}},
		{name: "an added place in the root, in the next session", policy: added, earlier: true, first: []string{"sh", "ln -s $BASE extra"}},
		{name: "two places that lead through one another", prepare: inTemp("t"), policy: chain, earlier: true,
			first: []string{"sh", "rm -r $TMP/t && ln -s $ROOT/extra $TMP/t && ln -s $BASE extra"}},
	}
	list = append(list, attempt{name: "the program itself, for the next confinement", policy: project,
		prepare: func(t *testing.T, w *world) {
			inTemp("p")(t, w)
			jig := filepath.Join(w.vars["TMP"], "jig")
			if out, err := exec.Command("cp", w.binary, jig).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			_ = os.Lchown(jig, w.who, w.who)
		},
		binary: func(w *world) string { return filepath.Join(w.vars["TMP"], "jig") },
		first:  []string{"sh", "cd $TMP && printf '#!/bin/sh\necho x > $OUT/new\n' > evil && chmod 755 evil && mv -f evil jig && mv p q && mkdir p"}})
	for i := range list {
		list[i].danger, list[i].fresh = "places", true
		if list[i].binary != nil {
			list[i].run, list[i].done = []string{"sh", "$TMP/jig; true"}, thereIs("out", "new")
			continue
		}
		list[i].run, list[i].done = []string{"create", "$OUT/new"}, thereIs("out", "new")
	}
	return list
}

func TestAReplacedRootIsWritableAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("needs bwrap")
	}
	for _, who := range users() {
		w := newWorld(t, who)
		for _, tier := range tiers {
			w.reset(t)
			h := startHost(t, who, w.binary, tier, w.policy())
			if err := os.Rename(w.path("root"), w.path("moved")); err != nil {
				t.Fatal(err)
			}
			mkdir(t, w.path("root"))
			w.own(t)
			r := h.run(t, w.command([]string{"sh", "echo changed > $ROOT/new"}))
			h.stop()
			if !exists(w.path("root", "new")) {
				t.Errorf("%s as %d: %d %s%s", tier, who, r.Exit, r.Out, r.Err)
			}
			if err := os.RemoveAll(w.path("moved")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNoFolderIsMadeThroughALinkOfACommand(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "jig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	home, err := os.MkdirTemp("/var/tmp", "jig-") // outside of every writable place
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	root := mkdir(t, home, "root")
	for _, link := range []string{filepath.Join(base, "z"), filepath.Join(root, "z")} {
		if err := os.Symlink(home, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "dangling"), filepath.Join(base, "d")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{filepath.Join(base, "z", "a", "b"), filepath.Join(base, "z"), filepath.Join(base, "d"), filepath.Join(root, "z", "a")} {
		if got := TempDir(want, root); got != "/tmp" {
			t.Errorf("%s gave %s", want, got)
		}
	}
	WriteRoots(Places{Root: root, Cache: filepath.Join(base, "z", "c")})
	WriteRoots(Places{Root: root, Cache: filepath.Join(root, "z", "c", "e")})
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 1 {
		t.Errorf("made in the home: %v %v", entries, err)
	}
	own := filepath.Join(base, "own")
	if got := TempDir(filepath.Join(own, "x")); got != filepath.Join(own, "x") || !isDir(got) {
		t.Errorf("an honest one gave %s", got)
	}
}

func TestALinkOfACommandTakesNoPlaceAway(t *testing.T) {
	base, err := os.MkdirTemp("/var/tmp", "jig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	root, cache := mkdir(t, base, "root"), mkdir(t, base, "cache")
	temp := filepath.Join(root, "temp")
	if err := os.Symlink(cache, temp); err != nil {
		t.Fatal(err)
	}
	p := Policy{Root: root, Write: WriteRoots(Places{Root: root, Temp: temp, Cache: cache})}
	if got := Settle(p); got.Real[cache] != cache || !Writable(got, filepath.Join(cache, "x")) {
		t.Errorf("%q of %q", got.Real, p.Write)
	}
}

func TestPlacesAreBelievedOrLeftOut(t *testing.T) {
	base, err := os.MkdirTemp("/var/tmp", "jig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	root, data, other := mkdir(t, base, "root"), mkdir(t, base, "data"), mkdir(t, base, "other")
	at := func(dir string, elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	mkdir(t, data, "sub")
	for link, to := range map[string]string{
		at(base, "to-data"): data, at(root, "to-data"): data, at(root, "to-other"): other, at(data, "to-root"): at(root, "made"), at(root, "up"): "..",
		at(data, "to-base"): base, at(root, "circle"): at(root, "circle"),
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		what  string
		names []string
		want  []string // the names that are believed
	}{
		{"a link that nobody inside could make", []string{root, at(base, "to-data")}, []string{root, at(base, "to-data")}},
		{"a link in the root that leads out", []string{root, at(root, "to-other")}, []string{root}},
		{"a link in the root to another place", []string{root, at(root, "to-data"), data}, []string{root, at(root, "to-data"), data}},
		{"the same, by the other place's link", []string{at(root, "to-data"), at(base, "to-data"), root}, []string{at(root, "to-data"), at(base, "to-data"), root}},
		{"a link that leads above", []string{root, at(root, "up")}, []string{root}},
		{"what is missing", []string{root, at(root, "none"), at(root, "to-other", "none")}, []string{root, at(root, "none")}},
		{"two that could each have made the other", []string{at(base, "to-data"), at(base, "to-data", "to-base")}, nil},
		{"a circle", []string{root, at(root, "circle")}, []string{root, at(root, "circle")}},
	} {
		got := settle(x.names)
		for _, name := range x.names {
			if _, ok := got[name]; ok != slices.Contains(x.want, name) {
				t.Errorf("%s: %s is %q", x.what, name, got[name])
			}
		}
	}
}

func TestAPlaceIsNeverOpenedThroughALink(t *testing.T) {
	dir := resolve(t.TempDir())
	real := mkdir(t, dir, "real", "sub")
	if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(string) (int, error){"openat2": openReal, "older kernels": openCompared} {
		fd, err := open(real)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = unix.Close(fd)
		for _, path := range []string{filepath.Join(dir, "link"), filepath.Join(dir, "link", "sub")} {
			if fd, err := open(path); !errors.Is(err, unix.ELOOP) {
				t.Errorf("%s: %s: %d %v", name, path, fd, err)
			}
		}
	}
}
