package process

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkEnds compares with what the whole text says.
func checkEnds(t *testing.T, all []byte, o Output) {
	t.Helper()
	lines := int64(bytes.Count(all, []byte("\n")))
	if len(all) > 0 && all[len(all)-1] != '\n' {
		lines++
	}
	if o.Bytes != int64(len(all)) || o.Lines != lines {
		t.Fatalf("%d bytes and %d lines, not %d and %d", o.Bytes, o.Lines, len(all), lines)
	}
	if int64(len(o.Head)+len(o.Tail))+o.Gap != o.Bytes || !bytes.HasPrefix(all, o.Head) || !bytes.HasSuffix(all, o.Tail) {
		t.Fatalf("head %d, gap %d, tail %d of %d are not its ends", len(o.Head), o.Gap, len(o.Tail), len(all))
	}
	if len(all) <= headBytes+tailBytes && o.Gap != 0 {
		t.Fatalf("%d bytes of %d are missing", o.Gap, len(all))
	}
	if o.Gap > 0 && (len(o.Head) < headBytes-3 || len(o.Tail) < tailBytes-3) {
		t.Fatalf("the ends are short: %d and %d", len(o.Head), len(o.Tail))
	}
}

func TestEndsAreThoseOfTheWholeStreamHoweverItIsCutUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		all := make([]byte, r.IntN(4*(headBytes+tailBytes)))
		for i := range all {
			all[i] = "abc\n\xe2\x82\xac\xff"[r.IntN(8)]
		}
		var e ends
		for rest := all; len(rest) > 0; {
			n := 1 + r.IntN(min(len(rest), 1<<(1+r.IntN(17))))
			e.add(rest[:min(n, len(rest))])
			rest = rest[min(n, len(rest)):]
		}
		checkEnds(t, all, e.output(nil))
		if cap(e.head) > 2*headBytes || cap(e.tail) > 4*tailBytes {
			t.Fatalf("%d and %d bytes are kept", cap(e.head), cap(e.tail))
		}
	}
}

func TestNoCutGoesThroughARune(t *testing.T) {
	for _, s := range []string{"é", "€", "𝄞", "a€", "aa€"} {
		for shift := range 5 {
			all := []byte(strings.Repeat("x", shift) + strings.Repeat(s, 60000))
			var e ends
			e.add(all)
			o := e.output(nil)
			checkEnds(t, all, o)
			if !utf8.Valid(o.Head) || !utf8.Valid(o.Tail) {
				t.Errorf("%q shifted by %d: an end is cut", s, shift)
			}
			for n := range 40 {
				head, tail := FirstBytes(o.Head, n), LastBytes(o.Tail, n)
				if !utf8.Valid(head) || !utf8.Valid(tail) || len(head) > n || len(tail) > n || len(head) < n-3 || len(tail) < n-3 {
					t.Errorf("%q shifted by %d, %d bytes: %q, %q", s, shift, n, head, tail)
				}
			}
		}
	}
}

func TestCutsOfWhatIsNoTextKeepTheBudget(t *testing.T) {
	bin := bytes.Repeat([]byte{0x80, 0xff, 0xe2, 0x82}, 100)
	for n := range 30 {
		if h, l := FirstBytes(bin, n), LastBytes(bin, n); len(h) > n || len(l) > n || n > 3 && (len(h) < n-3 || len(l) < n-3) {
			t.Errorf("%d: %d and %d", n, len(h), len(l))
		}
	}
	stray := bytes.Repeat([]byte{0x80}, 10)
	if len(FirstBytes(stray, 5)) != 5 || len(LastBytes(stray, 5)) != 5 || len(FirstBytes(stray, -1)) != 0 || len(LastBytes(stray, -1)) != 0 {
		t.Error("continuation bytes alone are not the rest of anything")
	}
}

func FuzzEnds(f *testing.F) {
	f.Add([]byte("a\nb"), 3, 2)
	f.Add([]byte("€\xff"), 20000, 1)
	f.Fuzz(func(t *testing.T, unit []byte, times, cut int) {
		if len(unit) == 0 || len(unit) > 1000 || times < 0 || times > 100000/len(unit) {
			return
		}
		all := bytes.Repeat(unit, times)
		var e ends
		cut = min(max(cut, 0), len(all))
		e.add(all[:cut])
		checkEnds(t, all, e.output(all[cut:]))
		e.add(all[cut:])
		checkEnds(t, all, e.output(nil))
	})
}

func FuzzCuts(f *testing.F) {
	f.Add([]byte("a€b"), 2)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		h, l := FirstBytes(b, n), LastBytes(b, n)
		if len(h) > max(n, 0) && len(b) > n || len(l) > max(n, 0) && len(b) > n {
			t.Errorf("%q %q for %d", h, l, n)
		}
		if utf8.Valid(b) && (!utf8.Valid(h) || !utf8.Valid(l)) {
			t.Errorf("%q at %d: %q %q", b, n, h, l)
		}
	})
}

func newLog(t *testing.T, keepFree int64) (*logFile, string) {
	name := filepath.Join(t.TempDir(), "log")
	l, err := openLog(name, false, keepFree)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l, name
}

func TestLogThatLeavesTooLittleFreeEndsItsJobOnce(t *testing.T) {
	l, name := newLog(t, 1<<62) // more than any disk has
	chunk := make([]byte, 64<<10)
	ends, total := 0, 0
	for range 100 {
		total += len(chunk)
		if l.write(chunk) {
			ends++
		}
	}
	s, err := os.Stat(name)
	if err != nil || ends != 1 || s.Size() > logStep || s.Size() < logStep/2 {
		t.Errorf("ended %d times, %d bytes logged of %d, %v", ends, s.Size(), total, err)
	}
	if l.err == nil || !strings.Contains(l.err.Error(), "would be left free") {
		t.Errorf("%v", l.err)
	}
}

// On a full disk one must be able to run commands, to make room.
func TestAFewWordsAreAllowedOnAFullDisk(t *testing.T) {
	l, _ := newLog(t, 1<<62)
	if l.write(make([]byte, 100<<10)) || l.err != nil {
		t.Errorf("ended: %v", l.err)
	}
}

func TestLogNeverFollowsAPlantedName(t *testing.T) {
	dir := t.TempDir()
	target, name := filepath.Join(dir, "precious"), filepath.Join(dir, "b1.log")
	if err := os.WriteFile(target, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
	if _, err := openLog(name, false, 0); !errors.Is(err, os.ErrExist) {
		t.Errorf("%v", err)
	}
	dangling := filepath.Join(dir, "b2.log")
	if err := os.Symlink(filepath.Join(dir, "new"), dangling); err != nil {
		t.Fatal(err)
	}
	if _, err := openLog(dangling, false, 0); !errors.Is(err, os.ErrExist) {
		t.Errorf("%v", err)
	}
	if b, _ := os.ReadFile(target); string(b) != "keep" {
		t.Errorf("it has %q", b)
	}
}

// Most commands print little, and making a file for each would cost as much as starting them.
func TestALateLogBecomesAFileOnlyWhenItIsLongOrKept(t *testing.T) {
	dir := t.TempDir()
	names := func() (out []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}
	holds := func(name, want string) {
		t.Helper()
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s holds %d bytes, want %d: %v", name, len(b), len(want), err)
		}
	}
	late := func(name string) *logFile {
		l, err := openLog(filepath.Join(dir, name), true, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.close)
		return l
	}
	l := late("short")
	l.write([]byte("a few words"))
	if n := names(); n != nil {
		t.Errorf("%q", n)
	}
	if err := l.keep(filepath.Join(dir, "b1")); err != nil {
		t.Error(err)
	}
	l.write([]byte(" and more"))
	holds("b1", "a few words and more")
	l.drop()

	long := strings.Repeat("x", earlyMost)
	l = late("long")
	l.write([]byte(long))
	l.write([]byte("y"))
	holds("long", long+"y")
	if err := os.WriteFile(filepath.Join(dir, "b2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.keep(filepath.Join(dir, "b2")); !errors.Is(err, os.ErrExist) {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := l.keep(filepath.Join(dir, "b3")); err != nil {
		t.Error(err)
	}
	l.write([]byte("z"))
	holds("b3", long+"yz")
	holds("b2", "")

	l = late("over") // its last writer is gone before it is kept
	l.write([]byte("words"))
	l.close()
	if err := l.keep(filepath.Join(dir, "b4")); err != nil {
		t.Error(err)
	}
	holds("b4", "words")
	if _, err := l.file.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file stays open: %v", err)
	}

	l = late("dropped")
	l.write([]byte(long + "y"))
	l.drop()
	if n := names(); !slices.Equal(n, []string{"b2", "b3", "b4"}) {
		t.Errorf("%q", n)
	}
}

func TestALateLogDoesNotFollowAPlantedName(t *testing.T) {
	dir := t.TempDir()
	target, name := filepath.Join(dir, "precious"), filepath.Join(dir, "call")
	if err := os.WriteFile(target, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := openLog(name, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
	l.write(make([]byte, earlyMost+1))
	if b, _ := os.ReadFile(target); string(b) != "keep" {
		t.Errorf("it has %d bytes", len(b))
	}
	if fi, err := os.Lstat(name); l.err != nil || err != nil || !fi.Mode().IsRegular() || fi.Size() != earlyMost+1 {
		t.Errorf("%v %v %v", l.err, fi, err)
	}
}

func TestOnlyCmdGetsItsLineUnquoted(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{`C:\Windows\System32\cmd.exe`, "/C", `echo "a b" & dir "c:\x y"`}, `"C:\Windows\System32\cmd.exe" /S /C "echo "a b" & dir "c:\x y""`},
		{[]string{`CMD`, "/c", `dir`}, `"CMD" /S /C "dir"`},
		{[]string{`C:\pwsh.exe`, "-Command", `dir`}, ""},
		{[]string{`C:\x\notcmd.exe`, "/C", `dir`}, ""},
		{[]string{`cmd.exe`, "/K", `dir`}, ""},
		{[]string{`cmd.exe`, "/C", `dir`, "more"}, ""},
	} {
		if got, ok := rawCommandLine(c.argv); got != c.want || ok != (c.want != "") {
			t.Errorf("%q: %s", c.argv, got)
		}
	}
}
