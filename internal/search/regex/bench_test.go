package regex

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goSource returns up to 64 MiB of Go source, the standard library's.
func goSource(tb testing.TB) []byte {
	tb.Helper()
	var buf bytes.Buffer
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatalf("go env GOROOT: %v", err)
	}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		if buf.Len() > 64<<20 {
			return filepath.SkipAll
		}
		data, err := os.ReadFile(path)
		buf.Write(data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func BenchmarkSearch(b *testing.B) {
	text := goSource(b)
	for _, p := range []string{
		`runtime_pollUnblock`, `zzqxnotthere`, `return`, `func |import|type `, `Println|Errorf|Sprintf`, `\w+_test\(`, `(?i)gopanic`, `(?i)kernel`,
		`[A-Z]\w+ \d{4}`, `\b\w+é\b`, `\b[a-z]+[0-9]+[a-z]+\b`, `func \(\w+ \*?[A-Z]\w*\) Close\(`, `^func`, `\{$`, `.`, `e`, `[xyz]{5}`, `\p{Greek}+`, `(?i)error|warning|fatal`,
	} {
		b.Run(p, func(b *testing.B) {
			re, err := Compile(p, Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			lines := 0
			for b.Loop() {
				m := re.Matcher()
				lines = 0
				for at := 0; ; lines++ {
					_, end, ok := m.NextLine(text, at)
					if !ok {
						break
					}
					at = min(end+1, len(text))
				}
			}
			b.ReportMetric(float64(lines), "lines")
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, p := range []string{`return`, `\w+_test\(`, `(?i)gopanic`, `\b\w+é\b`, `[A-Z]\w+ \d{4}`, `\w{100}`} {
		b.Run(p, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(p, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
