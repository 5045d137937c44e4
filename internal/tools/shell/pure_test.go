package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"jig/internal/process"
)

func TestConfigurationIsRefusedInItsOwnWords(t *testing.T) {
	base := Options{OS: "linux", Root: "/p", Cwd: "/start", Home: "/home/u", Temp: t.TempDir()}
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Sandbox: "on"}, `sandbox must be "auto" or "off", got "on"`},
		{Config{Sandbox: "OFF"}, `sandbox must be "auto" or "off", got "OFF"`},
		{Config{}, ""}, {Config{Sandbox: "auto"}, ""}, {Config{Sandbox: "off"}, ""},
	} {
		o := base
		o.Config = c.config
		_, err := New(o)
		if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && got != c.want {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
	_, err := Decode(func(any) error { return errors.New("got a list") })
	if err == nil || err.Error() != "config must be a mapping (sandbox, network, auto_run, write): got a list" {
		t.Error(err)
	}
	_, err = Decode(func(v any) error { return json.Unmarshal([]byte(`{"sandbox":"yes"}`), v) })
	if err == nil || err.Error() != `sandbox must be "auto" or "off", got "yes"` {
		t.Error(err)
	}
	c, err := Decode(func(v any) error {
		return json.Unmarshal([]byte(`{"sandbox":"off","network":true,"auto_run":true,"write":["~/x"]}`), v)
	})
	if err != nil || !c.Off() || !c.Network || !c.AutoRun || !slices.Equal(c.Write, []string{"~/x"}) {
		t.Errorf("%+v, %v", c, err)
	}
	o := base
	o.Root = "p"
	if _, err := New(o); err == nil {
		t.Error("a relative root is taken")
	}
}

func TestWritePathsAreMadeAbsolute(t *testing.T) {
	got, err := writePaths([]string{"~", "~/.cache", "", " ", "rel/x/..", "/abs//y", "~user", "./~"}, "/home/u", "/start")
	want := []string{"/home/u", "/home/u/.cache", "/start/rel", "/abs/y", "/start/~user", "/start/~"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := writePaths([]string{"~/x"}, "", "/start"); err == nil {
		t.Error("an unknown home directory is taken")
	}
	if _, err := writePaths([]string{"x"}, "/h", ""); err == nil {
		t.Error("an unknown working directory is taken")
	}
}

func TestLabelsAreOneLineOfAtMost64Characters(t *testing.T) {
	for in, want := range map[string]string{
		"git status":                       "git status",
		"  a\tb  \n":                       "a b",
		"one\ntwo":                         "one …",
		"one\n\n":                          "one",
		strings.Repeat("é", 64):            strings.Repeat("é", 64),
		strings.Repeat("é", 65):            strings.Repeat("é", 63) + "…",
		strings.Repeat("x", 63) + "\nmore": strings.Repeat("x", 63) + "…",
		"a\x1b[31mb\x00c\u202ed":           "a[31mbcd",
		"a\r\nb":                           "a …",
	} {
		if got := label(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "<1s", 999 * time.Millisecond: "<1s", time.Second: "1s", 42*time.Second + 9e8: "42s", 60 * time.Second: "1m 0s",
		72 * time.Second: "1m 12s", 59*time.Minute + 59*time.Second: "59m 59s", 2*time.Hour + 5*time.Minute + 7*time.Second: "2h 5m",
	} {
		if got := elapsed(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestTimeouts(t *testing.T) {
	for raw, want := range map[string]time.Duration{
		``: 0, `null`: 0, `1`: time.Second, `600`: 10 * time.Minute, `"30"`: 30 * time.Second, `" 30 "`: 30 * time.Second,
		`1.5`: 1500 * time.Millisecond, `2e1`: 20 * time.Second, `1e300`: math.MaxInt64, `1e999`: math.MaxInt64, `1e-300`: 1,
		`0`: -1, `-1`: -1, `-0`: -1, `-1e999`: -1, `"x"`: -1, `""`: -1, `true`: -1, `[]`: -1, `{}`: -1, `"Inf"`: -1, `"NaN"`: -1, `"0x10"`: -1, `"1_0"`: -1,
		`"10s"`: -1,
	} {
		got, err := timeout(json.RawMessage(raw))
		if want < 0 && (err == nil || err.Error() != "timeout must be a positive number of seconds") || want >= 0 && (err != nil || got != want) {
			t.Errorf("%s: %v, %v", raw, got, err)
		}
	}
	for in, want := range map[string]string{
		`{"command":"x","timeout":"no"}`:                `{"command":"x","timeout":null}`,
		`{ "timeout" : {"a":[1]} , "command":"a,\"b" }`: `{"timeout":null,"command":"a,\"b"}`,
		`{"timeout":1,"timeout":2}`:                     `{"timeout":null,"timeout":null}`,
		`{"tim\u0065out":1}`:                            `{"tim\u0065out":null}`,
		`{"a":"\ud800","timeout":1}`:                    `{"a":"\ud800","timeout":null}`,
		`[1]`:                                           `[1]`,
		`{"command":`:                                   `{"command":`,
	} {
		if got, _ := takeTimeout(json.RawMessage(in)); string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// FuzzTimeoutIsTakenOut: whatever else is in the arguments stays as it was.
func FuzzTimeoutIsTakenOut(f *testing.F) {
	for _, s := range []string{`{"command":"x","timeout":5}`, `{"timeout":{"timeout":1},"a":[{}]}`, `{"tim\u0065out":"3","b":"\ud800"}`, `{"timeout"`, `[]`, `{} {}`, `{"timeout":1,"timeout":2,"":0}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		rest, _ := takeTimeout(raw)
		var before, after map[string]any
		if json.Unmarshal(raw, &before) != nil {
			if string(rest) != string(raw) {
				t.Fatalf("%q became %q", raw, rest)
			}
			return
		}
		if err := json.Unmarshal(rest, &after); err != nil {
			t.Fatalf("%q became %q: %v", raw, rest, err)
		}
		if _, there := before["timeout"]; there {
			before["timeout"] = nil
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", raw, rest)
		}
	})
}

// output is what process would have kept of a text.
func output(s string) process.Output {
	const keep = 32 << 10
	o := process.Output{Bytes: int64(len(s)), Lines: int64(strings.Count(s, "\n"))}
	if s != "" && !strings.HasSuffix(s, "\n") {
		o.Lines++
	}
	if len(s) <= 2*keep {
		n := min(len(s), keep)
		o.Head, o.Tail = []byte(s[:n]), []byte(s[n:])
		return o
	}
	o.Head, o.Tail = process.FirstBytes([]byte(s), keep), process.LastBytes([]byte(s), keep)
	o.Gap = o.Bytes - int64(len(o.Head)+len(o.Tail))
	return o
}

// numbered is n lines of a width, each with its number.
func numbered(n, width int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%0*d\n", width-1, i)
	}
	return b.String()
}

func lines(s string, from, to int) string {
	l := strings.SplitAfter(s, "\n")
	return strings.Join(l[from-1:to], "")
}

func TestPast512LinesTheFirst128AndTheLast384AreKept(t *testing.T) {
	const mark = "[... %d lines omitted — pipe through head/tail/grep to narrow the output ...]\n"
	for _, c := range []struct{ n, width int }{{512, 10}, {513, 10}, {600, 20}, {5000, 8}, {200000, 7}, {100000, 60}} {
		s := numbered(c.n, c.width)
		want := s
		if c.n > 512 {
			want = lines(s, 1, 128) + fmt.Sprintf(mark, c.n-512) + lines(s, c.n-383, c.n)
		}
		if got := capped(output(s)); got != want {
			t.Errorf("%d lines of %d: %s", c.n, c.width, brief(got))
		}
	}
	s := strings.TrimSuffix(numbered(513, 10), "\n")
	if got := capped(output(s)); got != lines(s, 1, 128)+fmt.Sprintf(mark, 1)+lines(s, 130, 513) {
		t.Errorf("no newline at the end: %s", brief(got))
	}
}

func TestPast32KBTheFirst8AndTheLast22AreKept(t *testing.T) {
	for _, n := range []int{32 << 10, 32<<10 + 1, 64 << 10, 64<<10 + 1, 600000} {
		s := strings.Repeat("abcdefg ", n/8+1)[:n]
		want := s
		if n > 32<<10 {
			want = s[:8<<10] + fmt.Sprintf("\n[... %d bytes omitted ...]\n", n-(30<<10)) + s[n-(22<<10):]
		}
		if got := capped(output(s)); got != want {
			t.Errorf("%d bytes: %s", n, brief(got))
		}
	}
}

func TestBothCaps(t *testing.T) {
	for _, c := range []struct{ name, s string }{
		{"long lines, all few", numbered(300, 300)},
		{"lines first, bytes after", numbered(600, 100)},
		{"a short beginning", numbered(128, 10) + numbered(5000, 200)},
		{"a short end", numbered(200, 300) + numbered(5000, 10)},
		{"a long beginning", numbered(128, 3000) + numbered(5000, 10)},
		{"the mark in the cut", numbered(128, 64) + numbered(1000, 70)},
		{"the mark in the other cut", numbered(128, 200) + numbered(5000, 58)},
		{"a giant first line", strings.Repeat("x", 100000) + "\n" + numbered(5000, 10)},
		{"a giant last line", numbered(5000, 10) + strings.Repeat("x", 100000)},
	} {
		got := capped(output(c.s))
		if len(got) > 32<<10 {
			t.Errorf("%s: %d bytes", c.name, len(got))
		}
		first, last, ok := strings.Cut(got, " omitted")
		if !ok || !strings.HasPrefix(c.s, first[:strings.LastIndex(first, "[...")-1]) {
			t.Errorf("%s: does not begin as the output does: %s", c.name, brief(got))
		}
		for strings.Contains(last, " omitted") {
			_, last, _ = strings.Cut(last, " omitted")
		}
		_, end, _ := strings.Cut(last, "...]\n")
		if !strings.HasSuffix(c.s, end) || len(end) < 3000 {
			t.Errorf("%s: does not end as the output does: %s", c.name, brief(got))
		}
		if strings.Count(got, "[... ") > 2 || strings.Count(got, "[... ") != strings.Count(got, " ...]") {
			t.Errorf("%s: marks: %s", c.name, brief(got))
		}
	}
}

func TestACutNeverMakesAReplacementCharacter(t *testing.T) {
	for shift := range 8 {
		s := strings.Repeat("a", shift) + strings.Repeat("€", 40000)
		got := capped(output(s))
		if strings.ContainsRune(got, '\uFFFD') || len(got) > 32<<10 || !strings.Contains(got, " bytes omitted") {
			t.Errorf("shifted by %d: %d bytes, %s", shift, len(got), brief(got))
		}
		front, rest, _ := strings.Cut(got, "\n[... ")
		number, back, _ := strings.Cut(rest, " bytes omitted ...]\n")
		if fmt.Sprint(len(s)-len(front)-len(back)) != number {
			t.Errorf("shifted by %d: %s bytes are said to be omitted", shift, number)
		}
	}
}

func TestWhatTheModelReadsOfTheEnd(t *testing.T) {
	for _, c := range []struct {
		st     process.State
		out    string
		want   string
		failed bool
	}{
		{process.State{TimedOut: true, Cancelled: false, Exit: 143}, "x\n", "x\n[command timed out after 10m0s]", true},
		{process.State{Cancelled: true, Exit: 143}, "x", "x\n[command cancelled]", true},
		{process.State{Exit: 3}, "out\nerr\n", "out\nerr\n[exit code 3]", true},
		{process.State{Exit: 137}, "", "[exit code 137]", true},
		{process.State{}, "", "[command produced no output]", false},
		{process.State{}, " \n\n", "[command produced no output]", false},
		{process.State{}, "out\n", "out\n", false},
		{process.State{LogFull: true, Exit: 143}, "x", "x\n[command " + fullText + "]", true},
		{process.State{Lost: true, Exit: 137}, "x", "x\n[failed to run: " + lostText + "]", true},
	} {
		if got, failed := outcome(c.st, c.out, 10*time.Minute); got != c.want || failed != c.failed {
			t.Errorf("%+v: %q, %v", c.st, got, failed)
		}
	}
	for _, c := range []struct {
		st        process.State
		out, want string
	}{
		{process.State{Took: 42 * time.Second}, "ok\n", "[background job b1 finished: exit 0 after 42s] make test\nok\n"},
		{process.State{Exit: 2, Took: 72 * time.Second}, "", "[background job b1 finished: exit 2 after 1m 12s] make test"},
		{process.State{TimedOut: true, Exit: 143, Took: 600 * time.Second}, "x", "[background job b1 finished: timed out after 10m 0s] make test\nx"},
		{process.State{Cancelled: true, Exit: 143, Took: 600 * time.Second}, "x", "[background job b1 finished: killed] make test\nx"},
		{process.State{LogFull: true}, "x", "[background job b1 finished: killed] make test\nx\n[it " + fullText + "]"},
		{process.State{Lost: true}, "", "[background job b1 finished: killed] make test\n[" + lostText + "]"},
	} {
		if got := notice("b1", "make test", c.st, c.out); got != c.want {
			t.Errorf("%+v\n got %q\nwant %q", c.st, got, c.want)
		}
	}
	if got := goesOn(nil); got != "" {
		t.Error(got)
	}
	left := []process.Left{{Pid: 7, HostPid: 4242, Command: "python3 -m http.server"}, {Pid: 9, Command: "x"}}
	if got := goesOn(left[:1]); got != "1 process that detached itself goes on: python3 -m http.server (pid 4242)" {
		t.Error(got)
	}
	if got := goesOn(append(left, left[0], left[0], left[0], left[0])); got != "6 processes that detached themselves go on: python3 -m http.server (pid 4242), x (pid 9), python3 -m http.server (pid 4242), python3 -m http.server (pid 4242), python3 -m http.server (pid 4242), 1 more" {
		t.Error(got)
	}
}
