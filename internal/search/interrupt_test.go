package search

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jig/internal/search/regex"
)

// A pattern may be so large that every byte of a text costs it milliseconds; a search with it would
// go on for hours after everybody has lost interest.
func TestSearchWithAHugePatternEndsWhenItIsCancelled(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(strings.Repeat("a", 1<<20)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	re, err := regex.Compile(`(?:[ab]{1000}){1000}[xy]`, regex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = Search(ctx, Query{Tree: Tree{Root: dir, Base: "."}, Pattern: re}, func(string, []Line) bool { return true })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}
