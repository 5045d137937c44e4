package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// notices tells when somebody begins to read.
type notices struct {
	io.Reader
	reading chan struct{}
}

func (n notices) Read(p []byte) (int, error) {
	select {
	case n.reading <- struct{}{}:
	default:
	}
	return n.Reader.Read(p)
}

// What waits for standard input must end at the first Ctrl+C, although the read itself cannot.
func TestInterruptEndsAWaitForInput(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte("agents:\n  default: {model: \"openai:m\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-c", config, "-m", "-"},
		{"-c", config, "-m", "-", "--output-format", "json"},
		{"call", "-"},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		in, end := io.Pipe()
		reading := make(chan struct{}, 1)
		var out, errs bytes.Buffer
		w := World{In: notices{in, reading}, Out: &out, Err: &errs, Getenv: func(string) (string, bool) { return "", false },
			Home: dir, Cwd: dir, GOOS: "linux", Now: time.Now}
		code := make(chan int)
		go func() { code <- Run(ctx, w, args) }()
		<-reading
		cancel()
		if got := <-code; got != exitInterrupted {
			t.Errorf("%v: exit code %d, %s", args, got, errs.String())
		}
		if errs.String() != "jig: interrupted\n" {
			t.Errorf("%v: %q", args, errs.String())
		}
		if asked := len(args) == 6; asked != strings.Contains(out.String(), `"error": "interrupted"`) || !asked && out.Len() > 0 {
			t.Errorf("%v: %s", args, out.String())
		}
		_ = end.Close()
	}
}
