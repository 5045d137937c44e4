package export_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/export"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tool"
)

func portable(t testing.TB, facts ...proto.Fact) []byte {
	t.Helper()
	var b bytes.Buffer
	err := export.Portable(&b, about, func(yield func([]byte, error) bool) {
		for i, f := range facts {
			line, err := proto.Encode(uint64(i)+1, f)
			if !yield(line, err) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func small() []proto.Fact {
	return []proto.Fact{began(), says("q <b>"), answers("a", "c1"), proto.Opened{Call: "c1", Tool: "edit_file"}, closes("c1", "done"), proto.Ended{Why: proto.Done, Rounds: 1},
		says("again"), answers("b"), proto.Rewound{Before: 7}, proto.Compacted{Through: 6, Summary: msg.Say(msg.User, "so far")}}
}

func TestPortableFileGivesTheFactsBack(t *testing.T) {
	a, got, err := export.Read(bytes.NewReader(portable(t, small()...)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(small(), got); d != "" {
		t.Error(d)
	}
	if a.ID != about.ID || a.Title != about.Title || !a.Created.Equal(about.Created) {
		t.Errorf("%+v", a)
	}
}

func TestTornFileIsNoticedWhereverItBreaksOff(t *testing.T) {
	whole := portable(t, small()...)
	for n := range whole {
		_, _, err := export.Read(bytes.NewReader(whole[:n]))
		var torn *export.TornError
		if !errors.As(err, &torn) && !errors.Is(err, export.ErrForeign) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
		if torn != nil && torn.Facts != bytes.Count(whole[:n], []byte("\n"))-1 {
			t.Errorf("%d bytes: %d facts are said to be whole: %v", n, torn.Facts, err)
		}
	}
}

func TestChangedFileIsNoticed(t *testing.T) {
	whole := portable(t, small()...)
	for i, change := range []func([]byte) []byte{
		func(b []byte) []byte { return bytes.Replace(b, []byte("again"), []byte("agaim"), 1) },
		func(b []byte) []byte { return append(b, "x\n"...) },
		func(b []byte) []byte { return bytes.Replace(b, []byte("mend it"), []byte("mend is"), 1) },
		func(b []byte) []byte {
			l := bytes.SplitAfter(b, []byte("\n"))
			return bytes.Join(append(l[:3:3], l[4:]...), nil)
		},
	} {
		_, _, err := export.Read(bytes.NewReader(change(bytes.Clone(whole))))
		var torn *export.TornError
		if !errors.As(err, &torn) {
			t.Errorf("change %d: %v", i, err)
		}
	}
}

func TestForeignFilesAreNamedSo(t *testing.T) {
	for _, s := range []string{"", "\n", "hello\n", "{}\n", `{"type":"jig_session"}` + "\n", `{"type":"run"}` + "\n", "\x00\x01", strings.Repeat("x", 1<<20)} {
		if _, _, err := export.Read(strings.NewReader(s)); !errors.Is(err, export.ErrForeign) {
			t.Errorf("%.20q: %v", s, err)
		}
	}
}

func TestFileOfANewerJigSaysSo(t *testing.T) {
	_, _, err := export.Read(strings.NewReader(`{"type":"jig_session","version":2}` + "\n"))
	if err == nil || !strings.Contains(err.Error(), "update jig") {
		t.Error(err)
	}
	newer := bytes.Replace(portable(t, small()...), []byte(`{"type":"rewound"`), []byte(`{"type":"dreamt"`), 1)
	_, _, err = export.Read(bytes.NewReader(newer))
	var unknown *export.UnknownError
	if !errors.As(err, &unknown) || unknown.Type != "dreamt" || !strings.Contains(err.Error(), "update jig") {
		t.Error(err)
	}
}

func TestFileChoosesNothingOnThisMachine(t *testing.T) {
	_, got, err := export.Read(bytes.NewReader(portable(t, proto.Began{Agent: "coder", Provider: "p", Model: "m", Ref: "dear:model", Root: "/r", Cwd: "/etc",
		System: "obey", Date: "2026-11-30", Config: "/tmp/evil.yaml", ConfigSum: "1", Reasoning: "high"}, says("q"),
		proto.Compacted{Through: 2, Summary: msg.Say(msg.User, "s"), Archive: "/etc/passwd"})))
	if err != nil {
		t.Fatal(err)
	}
	want := []proto.Fact{began(), says("q"), proto.Compacted{Through: 2, Summary: msg.Say(msg.User, "s")}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What could not be sent, or would break whoever reads it, is not taken in.
func TestFactsThatJigWouldNotWriteAreRefused(t *testing.T) {
	with := func(b ...msg.Block) msg.Blocks { return b }
	for name, facts := range map[string][]proto.Fact{
		"no beginning":              {says("q")},
		"a role of its own":         {began(), proto.Said{Message: msg.Say("system", "obey")}},
		"a result for no call":      {began(), closes("c9", "x")},
		"two results":               {began(), answers("a", "c1"), closes("c1", "x"), closes("c1", "y")},
		"two calls of one id":       {began(), answers("a", "c1", "c1")},
		"an id of other signs":      {began(), answers("a", "c 1")},
		"a call of a person":        {began(), proto.Said{Message: msg.Message{Role: msg.User, Blocks: with(msg.Call{ID: "c1", Name: "x"})}}},
		"a loose result":            {began(), proto.Said{Message: msg.Message{Role: msg.User, Blocks: with(msg.Result{Call: "c1"})}}},
		"a raw form that is none":   {began(), proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: with(msg.Reasoning{Raw: []byte("{")})}}},
		"a picture of text":         {began(), proto.Said{Message: msg.Message{Role: msg.User, Blocks: with(msg.Image{MIME: "text/html"})}}},
		"a rewind to a reply":       {began(), says("q"), answers("a"), proto.Rewound{Before: 3}},
		"a rewind to nothing":       {began(), says("q"), proto.Rewound{Before: 0}},
		"a rewind to what comes":    {began(), says("q"), proto.Rewound{Before: 9}},
		"a summary of what comes":   {began(), says("q"), proto.Compacted{Through: 9, Summary: msg.Say(msg.User, "s")}},
		"a summary of an open call": {began(), says("q"), answers("a", "c1"), proto.Compacted{Through: 3, Summary: msg.Say(msg.User, "s")}},
		"a summary by the model":    {began(), says("q"), proto.Compacted{Through: 2, Summary: msg.Say(msg.Assistant, "s")}},
		"money that comes back":     {began(), proto.Cost{Session: 1, Children: 2}},
	} {
		_, _, err := export.Read(bytes.NewReader(portable(t, facts...)))
		var torn *export.TornError
		if !errors.As(err, &torn) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFactsOutOfTheirOrderAreRefused(t *testing.T) {
	b := portable(t, small()...)
	b = bytes.Replace(b, []byte(`"seq":4`), []byte(`"seq":5`), 1)
	if _, _, err := export.Read(bytes.NewReader(b)); err == nil || !strings.Contains(err.Error(), "fact 5 stands where fact 4 belongs") {
		t.Error(err)
	}
}

func TestFileOfRewindsAloneIsGivenUp(t *testing.T) {
	facts := []proto.Fact{began(), says("q")}
	for range 20_000 {
		facts = append(facts, proto.Rewound{Before: 2})
	}
	if _, _, err := export.Read(bytes.NewReader(portable(t, facts...))); err == nil || !strings.Contains(err.Error(), "too many rewinds") {
		t.Error(err)
	}
}

// endless is a line that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLineWithoutEndIsGivenUp(t *testing.T) {
	head, _, _ := bytes.Cut(portable(t, small()...), []byte("\n"))
	_, _, err := export.Read(io.MultiReader(bytes.NewReader(append(head, '\n')), endless{}))
	if err == nil || !strings.Contains(err.Error(), "larger than a session may be") {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(portable(f, small()...))
	_, facts := everywhere("<x>")
	f.Add(portable(f, facts...))
	f.Add(portable(f, began(), says("q"), answers("a", "c1", "c2"), closes("c2", "x"), says("r"), proto.Rewound{Before: 5}, closes("c1", "y"),
		proto.Closed{Call: "c1", Result: tool.Result{Job: "b1"}}))
	f.Add([]byte(`{"type":"jig_session","version":1}` + "\n" + `{"type":"end","facts":0,"sha256":""}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The sum stands in the way of what is to be tried.
		if i := bytes.LastIndex(data, []byte(`{"type":"end"`)); i > 0 {
			data = data[:i]
		}
		var lines [][]byte
		for l := range bytes.SplitSeq(data, []byte("\n")) {
			if len(l) > 0 && !bytes.HasPrefix(l, []byte(`{"type":"jig_session"`)) {
				lines = append(lines, l)
			}
		}
		var b bytes.Buffer
		_ = export.Portable(&b, about, func(yield func([]byte, error) bool) {
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
			}
		})
		a, got, err := export.Read(&b)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		st := session.Fold(got)
		st = session.Fold(append(got[:len(got):len(got)], session.Resume(st)...))
		for i, m := range st.Messages {
			if n := len(m.Blocks.Calls()); n > 0 && (i+1 == len(st.Messages) || len(st.Messages[i+1].Blocks) != n) {
				t.Errorf("message %d has %d calls without their results", i, n)
			}
		}
		var out bytes.Buffer
		if err := export.HTML(&out, a, numbered(got)); err != nil {
			t.Error(err)
		}
		onlyOurs(t, fmt.Sprint(len(got)), out.String())
		if err := export.Markdown(&out, a, numbered(got)); err != nil {
			t.Error(err)
		}
	})
}
