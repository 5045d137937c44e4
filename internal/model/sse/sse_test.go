package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func all(t testing.TB, src io.Reader) ([]string, error) {
	t.Helper()
	r := NewReader(src)
	var out []string
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, string(e))
	}
}

// pieces reads a string in the pieces given by cut points.
type pieces struct{ left []string }

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.left) > 0 && p.left[0] == "" {
		p.left = p.left[1:]
	}
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[0])
	p.left[0] = p.left[0][n:]
	return n, nil
}

const mixed = "\xef\xbb\xbf: hello\r\n" +
	"event: a\r\ndata: {\"t\":\"😀\"}\r\n\r\n" +
	"data:no space\n\n" +
	": keep-alive\n\n" +
	"data: one\rdata:  two\rdata\rid: 7\rretry: 5\r\r" +
	"event: nothing\n\n" +
	"dataset: x\ndata: Ж\n\n" +
	"data: [DONE]\n"

func TestAnySplitGivesTheSameEvents(t *testing.T) {
	want := []string{`{"t":"😀"}`, "no space", "one\n two\n", "Ж", "[DONE]"}
	for i := range mixed {
		for j := i; j < len(mixed); j += 7 {
			got, err := all(t, &pieces{[]string{mixed[:i], mixed[i:j], mixed[j:]}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("cut at %d and %d: %s", i, j, d)
			}
		}
	}
	if got, err := all(t, iotest.OneByteReader(strings.NewReader(mixed))); err != nil || !cmp.Equal(want, got) {
		t.Errorf("byte by byte: %v %v", got, err)
	}
}

func TestAnEventOfFiveMegabytesIsOneEvent(t *testing.T) {
	big := strings.Repeat("é", 5<<19)
	got, err := all(t, strings.NewReader("data: "+big+"\n\ndata: x\n\n"))
	if err != nil || len(got) != 2 || got[0] != big {
		t.Errorf("%d events, error %v", len(got), err)
	}
}

func TestAnEndlessEventEndsWithAClearError(t *testing.T) {
	for name, s := range map[string]string{"line": "data: " + strings.Repeat("x", 2000), "lines": strings.Repeat("data: xxxx\n", 300)} {
		r := NewReader(strings.NewReader(s))
		r.max = 1000
		if _, err := r.Next(); !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACutLineIsNotTakenForAnEvent(t *testing.T) {
	got, err := all(t, strings.NewReader("data: a\n\ndata: {\"cut"))
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 1 {
		t.Errorf("%v %v", got, err)
	}
}

func TestACompleteEventEndedByCRIsNotHeldBack(t *testing.T) {
	pr, pw := io.Pipe()
	defer pr.Close()
	go func() { _, _ = pw.Write([]byte("data: now\r\r")) }()
	if e, err := NewReader(pr).Next(); err != nil || string(e) != "now" {
		t.Errorf("%q %v", e, err)
	}
}

func FuzzAnyChunking(f *testing.F) {
	f.Add([]byte(mixed), byte(1), byte(3))
	f.Add([]byte("data: a\r\r\n\ndata:b\n\r\n"), byte(2), byte(1))
	f.Add([]byte("\xef\xbb\xbfdata"), byte(1), byte(1))
	f.Fuzz(func(t *testing.T, s []byte, a, b byte) {
		want, wantErr := all(t, bytes.NewReader(s))
		var cut []string
		for rest := string(s); rest != ""; {
			n := min(1+int(a), len(rest))
			cut = append(cut, rest[:n])
			rest = rest[n:]
			a, b = b, a
		}
		got, gotErr := all(t, &pieces{cut})
		if d := cmp.Diff(want, got); d != "" || !errors.Is(gotErr, wantErr) {
			t.Errorf("%s%v / %v", d, wantErr, gotErr)
		}
	})
}
