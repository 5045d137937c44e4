//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"jig/internal/model/modeltest"
)

// observed is a run of the program whose every line is read, with the time at which it came.
type observed struct {
	dir            string
	stdout, stderr []line
	said           time.Time // when the message was in the log, which is before the first request
	code           int
	cmd            *exec.Cmd
	each           func(line string) // is told each line of stdout as it comes; may be nil
	all            sync.WaitGroup
}

type line struct {
	at   time.Time
	text string
}

// names are the models of the dialects.
var names = map[string]string{"openai": "m", "anthropic": "claude-haiku-4-5", "gemini": "gemini-3-flash-preview", "openresponses": "gpt-5.2"}

func config(dialect, url string) string {
	return fmt.Sprintf("providers:\n  p: {type: %s, url: %q, key: %s}\nagents:\n  default: {model: \"p:%s\", tools: {code: {auto_write: true}}}\n", dialect, url, modeltest.Key, names[dialect])
}

// start starts a run with one message in a folder of its own, which files put something into.
func start(t *testing.T, config string, haste int, files ...func(dir string)) *observed {
	t.Helper()
	return startTelling(t, nil, config, haste, files...)
}

// startTelling tells each line of the run's events as it comes, too.
func startTelling(t *testing.T, each func(line string), config string, haste int, files ...func(dir string)) *observed {
	t.Helper()
	o := &observed{dir: t.TempDir(), each: each}
	home := filepath.Join(o.dir, "home")
	for path, text := range map[string]string{filepath.Join(home, ".config/jig/config.yaml"): config, filepath.Join(o.dir, ".git/HEAD"): ""} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		f(o.dir)
	}
	o.cmd = exec.Command("jig", "-m", "go", "--output-format", "jsonl")
	o.cmd.Dir = o.dir
	o.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), fmt.Sprintf("JIG_TEST_HASTE=%d", haste), "GORACE=atexit_sleep_ms=0"}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := o.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o.all.Go(func() { o.stdout = lines(out, o.each) })
	o.all.Go(func() { o.stderr = lines(errs, nil) })
	return o
}

func lines(r io.Reader, each func(string)) []line {
	var out []line
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		out = append(out, line{time.Now(), s.Text()})
		if each != nil {
			each(s.Text())
		}
	}
	return out
}

// wait waits for the end.
func (o *observed) wait() {
	o.all.Wait()
	err := o.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		o.code = exit.ExitCode()
	}
	for _, l := range o.stdout {
		if strings.HasPrefix(l.text, `{"type":"said"`) {
			o.said = l.at
			break
		}
	}
}

// waited is a line of the events that says what is waited for.
type waited struct {
	at       time.Time
	Type     string
	Provider string
	Kind     string
	Why      string
	Seconds  float64
	Silent   float64
	Try      int
	Tries    int
	Until    time.Time
	Since    time.Time
}

// waits are the waits as they were first shown.
func (o *observed) waits(t *testing.T) []waited {
	var out []waited
	for _, l := range o.stdout {
		if !strings.HasPrefix(l.text, `{"type":"waiting"`) {
			continue
		}
		w := waited{at: l.at}
		if err := json.Unmarshal([]byte(l.text), &w); err != nil {
			t.Error(err)
		}
		if w.Kind == "silence" {
			continue
		}
		if w.Provider != "p" || w.Why == "" || !w.Until.After(w.Since) {
			t.Errorf("not all is said of a wait: %s", l.text)
		}
		if len(out) == 0 || out[len(out)-1].Try != w.Try {
			out = append(out, w)
		}
	}
	return out
}

// silent is for how long, in seconds, nothing had come when that was first shown, 0 when it was not.
func (o *observed) silent() float64 {
	var w waited
	for _, l := range o.stdout {
		if strings.HasPrefix(l.text, `{"type":"waiting"`) && json.Unmarshal([]byte(l.text), &w) == nil && w.Kind == "silence" {
			return w.Silent
		}
	}
	return 0
}

// lastError is the last line on standard error, "" when there is none.
func (o *observed) lastError() string {
	if len(o.stderr) == 0 {
		return ""
	}
	return o.stderr[len(o.stderr)-1].text
}

func (o *observed) reply(t *testing.T) string {
	var r struct{ Type, Reply string }
	if len(o.stdout) == 0 || json.Unmarshal([]byte(o.stdout[len(o.stdout)-1].text), &r) != nil || r.Type != "result" {
		t.Errorf("no report: %v", o.stderr)
	}
	return r.Reply
}
