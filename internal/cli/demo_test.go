package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"jig/internal/proto"
)

// demoIn runs the demonstration on files that a test has put a hand to.
func demoIn(t *testing.T, change func(dir string)) (why proto.Why, said string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	change(dir)
	var out bytes.Buffer
	jig, err := exec.LookPath("jig") // this test as the program, which starts the commands
	if err != nil {
		t.Fatal(err)
	}
	w := World{Out: &out, Err: &out, Getenv: func(string) (string, bool) { return "", false }, Environ: []string{"PATH=" + os.Getenv("PATH")},
		Home: dir, Temp: dir, Binary: jig, Cwd: filepath.Join(dir, "project"), GOOS: runtime.GOOS, Now: time.Now}
	report, err := demoRun(context.Background(), w, dir, false)
	if err != nil {
		return proto.Failed, err.Error()
	}
	return report.Why, report.Error
}

func rewrite(t *testing.T, path, old, new string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, new)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDemoIsDoneWhenItsToolsDidTheWork(t *testing.T) {
	if why, said := demoIn(t, func(string) {}); why != proto.Done {
		t.Errorf("%s: %s", why, said)
	}
}

// A recording that plays to its end whatever the tools do would show nothing.
func TestDemoFailsWhenAToolDoesNotDoItsWork(t *testing.T) {
	for name, test := range map[string]struct {
		change func(dir string)
		want   string
	}{
		"search finds nothing": {func(dir string) {
			_ = os.WriteFile(filepath.Join(dir, "project", ".gitignore"), []byte("*.sh\n"), 0o644)
		}, "reply 2 is not what the script expects"},
		"the file that is read is another": {func(dir string) {
			rewrite(t, filepath.Join(dir, "project", "lib", "price.sh"), "count / 10", "count / (10)")
		}, "reply 3 is not what the script expects"},
		"there is nothing to mend": {func(dir string) {
			rewrite(t, filepath.Join(dir, "project", "lib", "price.sh"), "count + free", "count - free")
		}, "reply 2 is not what the script expects"},
		"the edit is refused": {func(dir string) {
			rewrite(t, filepath.Join(dir, "config.yaml"), "auto_write: true", "auto_write: false")
		}, "reply 4 is not what the script expects"},
		"the writers are not there": {func(dir string) {
			rewrite(t, filepath.Join(dir, "config.yaml"), "auto_write: true", "read_only: true")
		}, "reply 4 is not what the script expects"},
		"the edit leads out of the project": {func(dir string) {
			price := filepath.Join(dir, "project", "lib", "price.sh")
			_ = os.Rename(price, filepath.Join(dir, "price.sh"))
			_ = os.Symlink(filepath.Join(dir, "price.sh"), price)
		}, "reply 4 is not what the script expects"},
	} {
		t.Run(name, func(t *testing.T) {
			why, said := demoIn(t, test.change)
			if why != proto.Failed || !strings.Contains(said, test.want) {
				t.Errorf("%s: %s, want %s", why, said, test.want)
			}
		})
	}
}

func TestAPathIsGivenToAShellAsOneWord(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/jig-demo-1/check.sh": "/tmp/jig-demo-1/check.sh",
		"/tmp/my files/x":          "'/tmp/my files/x'",
		"/tmp/it's $HOME":          `'/tmp/it'\''s $HOME'`,
	} {
		if got := shellWord(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
