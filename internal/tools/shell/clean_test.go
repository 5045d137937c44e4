package shell

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// cleaned pushes s in pieces of n bytes.
func cleaned(s string, n int) string {
	var c cleaner
	var out []byte
	for b := []byte(s); len(b) > 0; {
		k := min(n, len(b))
		out = append(out, c.Push(b[:k])...)
		b = b[k:]
	}
	return text(append(out, c.Rest()...))
}

func TestWhatATerminalWouldShowIsWhatTheModelReads(t *testing.T) {
	progress := ""
	for i := 1; i <= 5000; i++ {
		progress += fmt.Sprintf("\rProgress %d%%", i)
	}
	for in, want := range map[string]string{
		"a\nb\n":                           "a\nb\n",
		"tab\there":                        "tab\there",
		"a\x00b\x1b]0;t\x07\xff\n":         "ab\uFFFD\n",
		"\xff\xfe\x80":                     "\uFFFD\uFFFD\uFFFD",
		"\xe2\x82\xac":                     "€",
		"\xe2\x82":                         "\uFFFD\uFFFD",
		"\xe2\x82\n":                       "\uFFFD\uFFFD\n",
		"\xe2\x82a\xac":                    "\uFFFD\uFFFDa\uFFFD",
		"\x1b[31mred\x1b[0m plain":         "red plain",
		"\x1b[38;5;196;48;2;1;2;3mx\x1b[m": "x",
		"\x1b[2A\x1b[2Kx\n":                "x\n",
		"\x1b(B\x1b)0x\x1b=\x1b>\x1b7y":    "xy",
		"\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1bP1$r0m\x1b\\after":                    "after",
		"\x1b]0;never ends\nnext":                  "\nnext",
		"\x1b[12\nnext":                            "\nnext",
		"\x1b[é":                                   "é",
		"\x1bé":                                    "é",
		"\x1b":                                     "",
		"a\x1b]x\x18b":                             "ab",
		"one\r\ntwo\r\n":                           "one\ntwo\n",
		"10%\r50%\r100%\n":                         "100%\n",
		"10%\r50%\r":                               "50%",
		"10%\r":                                    "10%",
		"long line\rx\n":                           "x\n",
		"10%\r\x1b[Kdone\n":                        "done\n",
		"10%\r\x1b[K\n":                            "\n",
		"10%\x1b[2K\rdone":                         "done",
		"keep\x1b[K\n":                             "keep\n",
		"a\nb\rc\rd\ne\r":                          "a\nd\ne",
		"a\bb\x7f\a\v\f":                           "ab",
		"\u009b31mx\u0085":                         "31mx",
		progress + "\n":                            "Progress 5000%\n",
		"日本語\r漢字\n":                                "漢字\n",
	} {
		for _, n := range []int{1, 2, 3, 7, 8, 1 << 20} {
			if got := cleaned(in, n); got != want {
				t.Errorf("%q in pieces of %d\n got %q\nwant %q", in, n, got, want)
			}
		}
	}
}

func TestOneGiantLineTakesConstantMemory(t *testing.T) {
	var c cleaner
	piece := bytes.Repeat([]byte("x"), 1<<16)
	total := 0
	for range 1000 {
		total += len(c.Push(piece))
		if n := len(c.Rest()); n > 2*longLine {
			t.Fatalf("%d bytes are held back", n)
		}
	}
	if total += len(c.Rest()); total != 1000<<16 || cap(c.buf) > 8*longLine {
		t.Errorf("%d bytes came through a buffer of %d", total, cap(c.buf))
	}
}

func TestASequenceThatNeverEndsSwallowsNoMoreThanItsShare(t *testing.T) {
	if got := cleaned("\x1b]"+strings.Repeat("x", 2*longLine)+"the end", 4096); !strings.HasSuffix(got, "the end") {
		t.Errorf("%d bytes, all swallowed", len(got))
	}
}

// FuzzClean: whatever a command prints, in whatever pieces, the model reads the same valid text
// without control characters, never longer than what its bytes can become.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\rb\n", "\x1b[31mx\x1b]0;t\x07", "\xe2\x82", "\x1bP\x1b", "\xf0\x9f\x98\x80\x1b[K\r\n", "\x1b]\x1bx", "a\x18\x1a\x1b["} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if len(b) > longLine/2 {
			b = b[:longLine/2]
		}
		whole := cleaned(string(b), len(b)+1)
		if got := cleaned(string(b), max(1, n%17)); got != whole {
			t.Fatalf("%q in pieces of %d: %q, else %q", b, max(1, n%17), got, whole)
		}
		if !utf8.ValidString(whole) || len(whole) > 3*len(b) {
			t.Fatalf("%q became %q", b, whole)
		}
		for _, r := range whole {
			if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' {
				t.Fatalf("%q left %q in %q", b, r, whole)
			}
		}
	})
}

// slowly is what becomes of s byte by byte, with nothing taken at once.
func slowly(s string) string {
	var c cleaner
	for b := []byte(s); len(b) > 0; {
		if c.state == ground && len(c.part) == 0 && (b[0] >= ' ' && b[0] < 0x7f || b[0] == '\n' || b[0] == '\t') {
			c.write(b[:1])
			b = b[1:]
			continue
		}
		b = b[c.special(b):]
	}
	return text(append(c.buf[:c.open:c.open], c.Rest()...))
}

// FuzzCleanAtOnce: what is taken eight bytes at a time is taken as byte by byte.
func FuzzCleanAtOnce(f *testing.F) {
	for _, s := range []string{
		"\x1b[1;32minternal/process/pump.go\x1b[0m:0001:\tthe \x1b[31mquick\x1b[0m brown fox\n",
		"one line\r\nand another one\r\n", "abcdefg\x1b[mx\n\x1b[38;5;196;48;2;1;2;3mlong colour", "1234567\x7f\x1b[3:4m\x1b[1\xed m",
		"Füße und Straßen sind größer als 日本\n", "text\x8atext\xff\n\u0085text and more text", "10%\r\x1b[K20%\rlong enough a line\r", "a\nb\nc\nd\x1b[0m\n\x1b[;m........",
		"\x1b]0;title\x1b[1m\a12345678\x1b[31\x1b[32m12345678",
	} {
		f.Add([]byte(s), 5)
	}
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if len(b) > longLine/2 {
			b = b[:longLine/2]
		}
		want := slowly(string(b))
		for _, n := range []int{len(b) + 1, max(1, n%100)} {
			if got := cleaned(string(b), n); got != want {
				t.Fatalf("%q in pieces of %d\n got %q\nwant %q", b, n, got, want)
			}
		}
	})
}

func BenchmarkClean(b *testing.B) {
	for name, line := range map[string]string{"yes": "y\n", "seq": "123456\n", "build": "   Compiling some crate v1.0.0 (/home/u/project)\n", "text": "Füße und Straßen sind größer als 日本\n", "colour": "\x1b[32mok\x1b[0m test passed in 3 ms\r\n",
		"grep": "\x1b[1;32minternal/process/pump.go\x1b[0m:0001:\tthe \x1b[31mquick\x1b[0m brown fox\n"} {
		data := bytes.Repeat([]byte(line), 256<<10/len(line))
		b.Run(name, func(b *testing.B) {
			var c cleaner
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				c.Push(data)
			}
		})
	}
}
