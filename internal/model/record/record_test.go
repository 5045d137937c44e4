package record_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/model/record"
	"jig/internal/model/replay"
	"jig/internal/model/tape"
	"jig/internal/msg"
)

// step is what a model does when it is asked.
type step struct {
	reply model.Reply
	err   error
}

type scripted []step

func (s *scripted) Stream(_ context.Context, _ model.Request, tell func(model.Delta)) (model.Reply, error) {
	next := (*s)[0]
	*s = (*s)[1:]
	tell(model.Delta{Text: next.reply.Blocks.Text()})
	return next.reply, next.err
}

func says(text string) step {
	return step{reply: model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: text}}}}
}

func fails(k model.Kind, text string) step {
	return step{err: &model.Error{Kind: k, Status: 503, After: 3 * time.Second, Text: text}}
}

// recorded asks a model for replies and gives what was written.
func recorded(t *testing.T, m model.Model, requests ...model.Request) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rec.jsonl")
	f, err := record.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r := record.New(f, tape.NewValues(nil, []string{"sk-0123456789"}))
	w := r.Wrap(m)
	for _, q := range requests {
		_, _ = w.Stream(t.Context(), q, func(model.Delta) {})
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func asks(texts ...string) (r model.Request) {
	for i, s := range texts {
		role := msg.User
		if i%2 == 1 {
			role = msg.Assistant
		}
		r.Messages = append(r.Messages, msg.Say(role, s))
	}
	return r
}

func play(t *testing.T, file string) *replay.Model {
	t.Helper()
	m, err := replay.New([]byte(file))
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	return m
}

func TestWhatIsRecordedIsWhatWasSaidAndIsSaidAgain(t *testing.T) {
	whole := step{reply: model.Reply{Stop: model.StopCalls, CutBy: "--max-cost", Usage: msg.Usage{Input: 5, Output: 4, CacheRead: 3, CacheWrite: 2},
		Blocks: msg.Blocks{msg.Reasoning{Text: "hm", Raw: []byte("\xffsigned")}, msg.Call{Given: "id-1", Name: "f", Args: `{"a": 1}`}, msg.Text{Text: "and\n"}}}}
	silent := step{reply: model.Reply{Stop: model.StopEnd}}
	q1 := asks("go")
	q1.System, q1.Reasoning, q1.Tools = "be brief", "low", []model.Tool{{Name: "f", Doc: "does f", Input: []byte(`{ "type":"object"}`)}}
	q2 := q1
	q2.Messages = slices.Concat(q1.Messages, []msg.Message{{Role: msg.Assistant, Blocks: whole.reply.Blocks}, {Role: msg.User, Blocks: msg.Blocks{msg.Result{Blocks: msg.Blocks{msg.Text{Text: "done"}}}}}})
	requests := []model.Request{q1, q2}
	file := recorded(t, &scripted{whole, silent}, requests...)
	m := play(t, file)
	for i, want := range []model.Reply{whole.reply, silent.reply} {
		got, err := m.Stream(t.Context(), requests[i], nil)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Error(err, d)
		}
	}
	if again := recorded(t, play(t, file), requests...); again != file {
		t.Errorf("a recording of the recording differs:\n%s\n%s", file, again)
	}
	if n := strings.Count(file, "be brief"); n != 1 || strings.Count(file, "does f") != 1 {
		t.Errorf("what does not change is written again:\n%s", file)
	}
}

func TestARetriedRoundIsRecordedAsItEnded(t *testing.T) {
	file := recorded(t, &scripted{fails(model.KindServer, "busy"), fails(model.KindNetwork, "cut"), says("one"), fails(model.KindLimit, "slow"), says("two")},
		asks("go"), asks("go"), asks("go"), asks("go", "one", "and?"), asks("go", "one", "and?"))
	if strings.Contains(file, "error") || strings.Count(file, "\n") != 3 {
		t.Errorf("%s", file)
	}
	m := play(t, file)
	for i, want := range []string{"one", "two"} {
		q := []model.Request{asks("go"), asks("go", "one", "and?")}[i]
		if got, err := m.Stream(t.Context(), q, nil); err != nil || got.Blocks.Text() != want {
			t.Errorf("%v %v", got, err)
		}
	}
}

// Whoever asks again gives each try a listener of its own.
func TestATryIsTheSameRequestWhoeverListens(t *testing.T) {
	var tries []model.Request
	for range 2 {
		q := asks("hi")
		q.Heard = func(string, model.Progress) {}
		q.More = func(model.Reply, int) (int, error) { return 0, nil }
		tries = append(tries, q)
	}
	got := recorded(t, &scripted{fails(model.KindServer, "busy"), says("done")}, tries...)
	if strings.Contains(got, "busy") || !strings.Contains(got, "done") {
		t.Error(got)
	}
}

func TestAFailureThatEndedATurnEndsItAgain(t *testing.T) {
	half := fails(model.KindServer, "broken for sk-0123456789")
	half.reply.Blocks = msg.Blocks{msg.Text{Text: "half"}}
	unsent := &model.Error{Kind: model.KindQuota, Text: "used up", Cause: model.ErrUnsent}
	next := asks("go")
	next.Messages = append(next.Messages, msg.Say(msg.User, "again"))
	for name, c := range map[string]struct {
		steps    scripted
		requests []model.Request
	}{
		"last":       {scripted{half, half}, []model.Request{asks("go"), asks("go")}},
		"in between": {scripted{half, half, says("ok"), {err: unsent}}, []model.Request{asks("go"), asks("go"), next, asks("go", "x", "y")}},
	} {
		file := recorded(t, &c.steps, c.requests...)
		m := play(t, file)
		got, err := m.Stream(t.Context(), asks("go"), nil)
		var e *model.Error
		want := model.Error{Kind: model.KindServer, Status: 503, After: 3 * time.Second, Text: "broken for ${key}", Final: true}
		if !errors.As(err, &e) || *e != want || got.Blocks.Text() != "half" {
			t.Errorf("%s: %#v %v", name, err, got)
		}
		got, err = m.Stream(t.Context(), next, nil)
		if name == "in between" && (err != nil || got.Blocks.Text() != "ok") {
			t.Errorf("%s: %v %v\n%s", name, got, err, file)
		}
		if strings.Contains(file, "used up") {
			t.Errorf("a request that was not made is in it:\n%s", file)
		}
	}
}

func TestAnInterruptedRequestIsNotRecorded(t *testing.T) {
	f := &memory{}
	r := record.New(f, tape.NewValues(nil, nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	half := says("half")
	half.err = context.Canceled
	if _, err := r.Wrap(&scripted{half}).Stream(ctx, asks("go"), func(model.Delta) {}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := r.Close(); err != nil || len(f.lines) > 0 {
		t.Errorf("%v %v", f.lines, err)
	}
}

// memory is a file that is full after some lines.
type memory struct {
	lines []any
	full  int
}

var errFull = errors.New("no space left on device")

func (m *memory) Line(v any) error {
	if m.full > 0 && len(m.lines) == m.full {
		return errFull
	}
	m.lines = append(m.lines, v)
	return nil
}

func (m *memory) Close() error { return nil }

func TestAFullDiskEndsTheRecordingAndNotTheRun(t *testing.T) {
	f := &memory{full: 1}
	r := record.New(f, tape.NewValues(nil, nil))
	m := r.Wrap(&scripted{says("one"), says("two"), says("three")})
	for i := range 3 {
		if _, err := m.Stream(t.Context(), asks(fmt.Sprint(i)), func(model.Delta) {}); err != nil {
			t.Error(err)
		}
	}
	if err := r.Close(); !errors.Is(err, errFull) || len(f.lines) != 1 {
		t.Errorf("%d lines, %v", len(f.lines), err)
	}
}

func TestARecordingIsPrivateAndOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rec")
	must := func(name string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
	}
	f, err := record.Create(path)
	must("new", err)
	must("line", f.Line(1))
	must("close", f.Close())
	st, err := os.Stat(path)
	must("stat", err)
	if runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	must("dir", os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	for _, taken := range []string{path, filepath.Join(dir, "dir")} {
		if _, err := record.Create(taken); !errors.Is(err, record.ErrTaken) {
			t.Errorf("%s: %v", taken, err)
		}
	}
	if runtime.GOOS != "windows" {
		must("link", os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "link")))
		if _, err := record.Create(filepath.Join(dir, "link")); !errors.Is(err, record.ErrTaken) {
			t.Errorf("link: %v", err)
		}
	}
	if _, err := record.Create(filepath.Join(dir, "none", "rec")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	empty := filepath.Join(dir, "empty")
	must("empty", os.WriteFile(empty, nil, 0o644))
	for range 2 { // nothing was recorded, so it is empty again
		f, err = record.Create(empty)
		must("empty", err)
		must("close", f.Close())
	}
	if st, err := os.Stat(empty); err != nil || st.Size() > 0 || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	f, err = record.Create(filepath.Join(dir, "unused"))
	must("unused", err)
	must("close", f.Close())
	if _, err := os.Stat(filepath.Join(dir, "unused")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a recording without a reply is left behind: %v", err)
	}
}

// Wherever a jig is killed, and wherever a disk cut it, what is there plays.
func TestEveryPrefixOfARecordingPlaysAsFarAsItGoes(t *testing.T) {
	file := recorded(t, &scripted{says("one"), says("two")}, asks("go"), asks("go", "one", "and?"))
	lines := strings.SplitAfter(file, "\n")
	for n := len(lines[0]) + len(lines[1]); n < len(file); n++ {
		m := play(t, file[:n])
		if got, err := m.Stream(t.Context(), asks("go"), nil); err != nil || got.Blocks.Text() != "one" {
			t.Fatalf("%d bytes: %v %v", n, got, err)
		}
		_, err := m.Stream(t.Context(), asks("go", "one", "and?"), nil)
		if whole := n >= len(file)-1; whole != (err == nil) { // the last byte is a newline
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
	}
}
