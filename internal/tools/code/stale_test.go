package code

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

const (
	fIsUnread  = "f has not been read in this session — read it with read_file before modifying it"
	fIsChanged = "f changed on disk after it was read — read it again before modifying it"
)

func TestChangedFilesAreNotOverwritten(t *testing.T) {
	edit := args{"path": "f", "old_string": "one", "new_string": "1"}
	write := args{"path": "f", "content": "new\n"}
	later := time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		change func(p *project)
		want   string
	}{
		"touched":         {func(p *project) { p.must(os.Chtimes(p.path("f"), later, later)) }, ""},
		"written alike":   {func(p *project) { p.put("f", "one\ntwo\n") }, ""},
		"replaced alike":  {func(p *project) { p.put("g", "one\ntwo\n"); p.must(os.Rename(p.path("g"), p.path("f"))) }, ""},
		"appended":        {func(p *project) { p.put("f", "one\ntwo\nthree\n") }, fIsChanged},
		"emptied":         {func(p *project) { p.put("f", "") }, fIsChanged},
		"became a folder": {func(p *project) { p.must(os.Remove(p.path("f"))); p.put("f/", "") }, fIsChanged},
		"changed within one step of the clock": {func(p *project) {
			info, err := os.Stat(p.path("f"))
			p.must(err)
			p.put("f", "one\nTWO\n")
			p.must(os.Chtimes(p.path("f"), info.ModTime(), info.ModTime()))
		}, fIsChanged},
	} {
		t.Run(name, func(t *testing.T) {
			for tool, a := range map[string]args{"edit_file": edit, "write_file": write} {
				p := given(t, files{"f": "one\ntwo\n"})
				p.call("read_file", args{"path": "f"})
				c.change(p)
				want := c.want
				if name == "became a folder" && tool == "write_file" {
					want = "f is a directory"
				}
				if o := p.call(tool, a); want == "" && o.err != nil || want != "" && o.text != want {
					t.Errorf("%s: %q, want %q", tool, o.text, want)
				}
			}
		})
	}
	p := given(t, files{"f": "one\ntwo\n"})
	p.call("read_file", args{"path": "f"})
	p.put("f", "three\n")
	for range 3 {
		p.says(fIsChanged, "write_file", write)
	}
	p.call("read_file", args{"path": "f"})
	p.says("wrote 4 B to f (overwritten)", "write_file", write)
}

func TestAVanishedFileIsToldAndCanBeWrittenAnew(t *testing.T) {
	p := given(t, files{"f": "one\n"})
	p.call("read_file", args{"path": "f"})
	p.must(os.Remove(p.path("f")))
	p.says(fIsChanged, "edit_file", args{"path": "f", "old_string": "one", "new_string": "1"})
	p.says("wrote 2 B to f (created)", "write_file", args{"path": "f", "content": "x\n"})
}

func TestAWindowIsAReadingAndARefusalIsNone(t *testing.T) {
	p := given(t, files{"f": "one\ntwo\n"})
	edit := args{"path": "f", "old_string": "one", "new_string": "1"}
	p.call("grep", args{"pattern": "one"})
	p.call("read_file", args{"path": "f", "offset": 9})
	p.says(fIsUnread, "edit_file", edit)
	p.call("read_file", args{"path": "f", "offset": 2})
	p.says("1 replacement(s) in f\n\n"+numbered(1, "1", "two"), "edit_file", edit)
	p.with(Config{})
	p.says(fIsUnread, "edit_file", args{"path": "f", "old_string": "two", "new_string": "2"})
}

func TestWhatChangesBetweenQuestionAndAnswerIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		a      args
		change func(p *project)
		want   string
		holds  string
	}{
		"edit_file":  {args{"path": "f", "old_string": "one", "new_string": "1"}, func(p *project) { p.put("f", "one\nTWO\n") }, fIsChanged, "one\nTWO\n"},
		"write_file": {args{"path": "f", "content": "x\n"}, func(p *project) { p.put("f", "one\nTWO\n") }, fIsChanged, "one\nTWO\n"},
	} {
		for _, readAgain := range []bool{false, true} {
			p := given(t, files{"f": "one\ntwo\n"})
			p.call("read_file", args{"path": "f"})
			prep, err := p.prepare(name, c.a)
			p.must(err)
			c.change(p)
			if readAgain { // the approved change was shown against the old content all the same
				p.call("read_file", args{"path": "f"})
			}
			if o := p.run(name, prep); o.text != c.want {
				t.Errorf("%s: %q", name, o.text)
			}
			p.holds("f", c.holds)
		}
	}
	p := given(t, nil)
	prep, err := p.prepare("write_file", args{"path": "f", "content": "x\n"})
	p.must(err)
	p.put("f", "somebody else's\n")
	if o := p.run("write_file", prep); o.text != fIsUnread {
		t.Error(o.text)
	}
	p.holds("f", "somebody else's\n")

	p.call("read_file", args{"path": "f"})
	prep, err = p.prepare("write_file", args{"path": "f", "content": "x\n"})
	p.must(err)
	p.must(os.Remove(p.path("f")))
	if o := p.run("write_file", prep); o.text != fIsChanged {
		t.Error(o.text)
	}
	p.clean(".")
}

func TestOfParallelWritersOneIsRefused(t *testing.T) {
	for range 10 {
		p := given(t, files{"f": "start\n"})
		sets := []*Set{p.set, newSet(p.set.goos, p.root, Config{}), newSet(p.set.goos, p.root, Config{})}
		var wg sync.WaitGroup
		texts := make([]string, len(sets))
		runs := make([]func(), len(sets))
		for i, s := range sets {
			q := &project{T: t, root: p.root, set: s}
			q.call("read_file", args{"path": "f"})
			prep, err := q.prepare("write_file", args{"path": "f", "content": fmt.Sprintf("by %d\n", i)})
			p.must(err)
			runs[i] = func() { texts[i] = q.run("write_file", prep).text }
		}
		for _, run := range runs {
			wg.Go(run)
		}
		wg.Wait()
		wrote := 0
		for i, text := range texts {
			switch text {
			case "wrote 5 B to f (overwritten)":
				wrote++
				p.holds("f", fmt.Sprintf("by %d\n", i))
			case fIsChanged:
			default:
				t.Errorf("%q", text)
			}
		}
		if wrote != 1 {
			t.Fatalf("%d of the writers wrote: %q", wrote, texts)
		}
		p.clean(".", "f")
	}
}

func TestOfParallelCreatorsOneIsRefused(t *testing.T) {
	for range 10 {
		p := given(t, nil)
		var wg sync.WaitGroup
		texts, runs := make([]string, 3), make([]func(), 3)
		for i := range texts {
			q := &project{T: t, root: p.root, set: newSet(p.set.goos, p.root, Config{})}
			prep, err := q.prepare("write_file", args{"path": "d/e/f", "content": fmt.Sprintf("by %d\n", i)})
			p.must(err)
			runs[i] = func() { texts[i] = q.run("write_file", prep).text }
		}
		for _, run := range runs {
			wg.Go(run)
		}
		wg.Wait()
		made := 0
		for _, text := range texts {
			if text == "wrote 5 B to d/e/f (created)" {
				made++
			} else if text != "d/e/"+fIsUnread {
				t.Errorf("%q", text)
			}
		}
		if made != 1 {
			t.Fatalf("%q", texts)
		}
		p.clean("d/e", "f")
	}
}

func TestReadersAndWritersMayRunAtTheSameTime(t *testing.T) {
	p := given(t, files{"f": "0\n"})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				p.call("read_file", args{"path": "f"})
				p.call("grep", args{"pattern": "0"})
				p.call("list_dir", args{})
			}
		})
	}
	for range 20 {
		p.call("write_file", args{"path": "f", "content": "0\n0\n"})
	}
	wg.Wait()
}
