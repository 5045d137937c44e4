package print_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"jig/internal/proto"
)

// TestEveryFactIsInTheManual: whoever reads the events needs to know all of them.
func TestEveryFactIsInTheManual(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "output.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(proto.Types()) < 13 {
		t.Fatalf("only %d facts", len(proto.Types()))
	}
	for _, name := range append(proto.Types(), "session", "delta", "compacting", "progress", "jobs", "waiting", "result") {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + name + "`[^|]*\\| ").Match(page) {
			t.Errorf("docs/output.md does not say what %s is", name)
		}
	}
}
