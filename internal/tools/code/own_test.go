package code

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Closing any descriptor of a file lets go of the locks that a process has on it. A database that jig
// has open may therefore not be opened beside it, by whatever name.
func TestWhatJigHasOpenIsNotOpenedAsAFile(t *testing.T) {
	p := given(t, files{"data/jig.db": "the word is needle\n", "data/other.txt": "needle\n"})
	p.must(os.Symlink("data/jig.db", p.path("link")))
	p.must(os.Link(p.path("data/jig.db"), p.path("hard")))
	p.with(Config{AutoWrite: true, Own: []string{p.path("data/jig.db"), p.path("data/jig.db-wal")}})
	for _, name := range []string{"data/jig.db", "link", "hard"} {
		if o := p.call("read_file", args{"path": name}); !strings.Contains(o.text, "is jig's own database") {
			t.Errorf("%s: %s", name, o.text)
		}
	}
	if o := p.call("grep", args{"pattern": "needle"}); o.text != "data/other.txt:1: needle" {
		t.Error(o.text)
	}
	// Also where the database lies outside and a link leads there.
	away := t.TempDir()
	p.must(os.WriteFile(filepath.Join(away, "jig.db"), []byte("needle\n"), 0o600))
	p.must(os.Symlink(away, p.path("away")))
	p.with(Config{Own: []string{filepath.Join(away, "jig.db")}})
	if o := p.call("grep", args{"pattern": "needle", "path": "away"}); o.text != "no matches for needle" {
		t.Error(o.text)
	}
}
