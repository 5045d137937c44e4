package regex

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// ripgrep returns the path of the program that the package is compared with.
func ripgrep(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv("JIG_TEST_RG"); path != "" {
		return path
	}
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			path := filepath.Join(dir, ".cache", "tools", "rg")
			if _, missing = os.Stat(path); missing == nil {
				return path
			}
			break
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
		} else {
			break
		}
	}
	tb.Fatal("ripgrep 15 is missing: run `make deps`, or name it in JIG_TEST_RG")
	return ""
}

// corpusText holds lines that random patterns have a chance to match. No line begins
// with the rest of a character: whether ripgrep then looks back at the line feed
// depends on which of its optimisations applies.
func corpusText() []byte {
	lines := []string{
		"", "a", "b", "ab", "abc", "aab", "aaa", "foo", "foo bar", "Foo Bar", "FOO_test(x)", "foo_test(1)", "bar-baz", "a1", "1a", "0", "17", "x7_",
		"_x", "__", " a ", "\ta\t", "a\tb", "-", "--", "=", "a=b", "(a)", "[b]", "{c}", "a.b", "a*b", "a|b", "^a$", "#x", "a # b", "&&", "a&b", "~", `\`, `a\b`,
		"é", "É", "éa", "aé", "café", "cafe\u0301", "e\u0301", "Straße", "STRASSE", "STRAẞE", "ſt", "kelvin", "\u212aelvin", "KELVIN", "İstanbul", "ısı",
		"λόγος", "ΛΌΓΟΣ", "Σσς", "да", "ДА", "да нет", "日本", "日本語 text", "ひらがな", "カタカナ", "한국어", "ｶﾀｶﾅ", "العربية", "٣٤٥", "१२३", "हिन्दी", "ǅ ǆ Ǆ",
		"😀", "a😀b", "👩\u200d💻", "🇩🇪", "\u00a0", "a\u00a0b", "\u2028", "\u3000x", "\u200d", "\ufeff", "×÷", "€5", "½", "Ⅷ", "²", "«a»", "“q”", "…", "‿", "\ue000", "\u0378",
		"\xff", "a\xff", "\xffa", "a\xffb", "\xc3", "\xc3\xa9\xff", "\xe9", "caf\xe9", "\xc3a", "a\xc3", "\xe2\x82", "\xe2\x82a", "\xf0\x9f\x98", "\xf0\x9f\x98a", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "é\xa9", "\xc3é", "da\xd0", "\xe2\x82\xac\xac",
		"a\r", "\r", "foo\r", "\r\r", "a\rb", "foo\rbar\r", "é\r", "\ra", "a \r", "\x01\x02", "\x7f", "\v\f", "\a", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
		"the quick brown fox 0123456789", "AAA BBB", "ABab", "oooo", "fofo", "abababab", "x", "xx", "xxx xxx", "s", "S", "k", "K", "\u212a", "k\u212a", "a1b2c3", "test_case TestCase", "ab ab ab", "   ", "\t", "a  b", "b a", "éé", "да\xffда", "7é7", "é7é",
	}
	lines = append(lines, strings.Repeat("ab", 60), strings.Repeat("é日", 30)+"x", strings.Repeat("a", 90)+"\xff"+strings.Repeat("b", 20), "a", "last line without end é")
	// Some kilobytes before it, in another order, make it a text that is searched in
	// several streams.
	var text []byte
	for i := range 5 * len(lines) {
		text = append(text, lines[i*(7+2*(i/len(lines)))%len(lines)]...)
		text = append(text, '\n')
	}
	return append(text, strings.Join(lines, "\n")...)
}

// verdict is what a pattern comes to on the corpus: the numbers of the matching lines,
// or that it was refused.
type verdict struct {
	refused bool
	lines   string
	detail  string
}

func (v verdict) equal(w verdict) bool { return v.refused == w.refused && v.lines == w.lines }

func askRipgrep(rg, file, pattern string, opt Options) (verdict, error) {
	var out, problem bytes.Buffer
	cmd := exec.Command(rg, "--no-config", "--color=never", "-n", "-e", pattern, file)
	if opt.IgnoreCase {
		cmd.Args = append(cmd.Args, "--ignore-case")
	}
	cmd.Stdout, cmd.Stderr = &out, &problem
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return verdict{}, nil
	}
	if errors.As(err, &exit) && exit.ExitCode() == 2 {
		return verdict{refused: true, detail: problem.String()}, nil
	}
	if err != nil {
		return verdict{}, err
	}
	var numbers []string
	for line := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n"), "\n") {
		number, _, _ := strings.Cut(line, ":")
		numbers = append(numbers, number)
	}
	return verdict{lines: strings.Join(numbers, " ")}, nil
}

func askPackage(corpus []byte, pattern string, opt Options) (verdict, error) {
	re, err := Compile(pattern, opt)
	if err != nil {
		return verdict{refused: true, detail: err.Error()}, nil
	}
	m := re.Matcher()
	var numbers []string
	line, counted := 1, 0
	for at := 0; at < len(corpus); {
		start, end, ok := m.NextLine(corpus, at)
		if !ok {
			break
		}
		if start < at || end < start {
			return verdict{}, fmt.Errorf("NextLine from %d returned %d…%d", at, start, end)
		}
		line += bytes.Count(corpus[counted:start], []byte("\n"))
		counted = start
		numbers = append(numbers, strconv.Itoa(line))
		at = end + 1
	}
	return verdict{lines: strings.Join(numbers, " ")}, nil
}

// compareWithRipgrep runs patterns through both, every fourth one without regard to
// case, and reports each difference.
func compareWithRipgrep(t *testing.T, patterns []string) {
	t.Helper()
	rg := ripgrep(t)
	corpus := corpusText()
	file := filepath.Join(t.TempDir(), "corpus")
	if err := os.WriteFile(file, corpus, 0o600); err != nil {
		t.Fatal(err)
	}
	type job struct {
		pattern string
		opt     Options
	}
	work := make(chan job)
	var wg sync.WaitGroup
	var mu sync.Mutex
	refused, matching, regrouped := 0, 0, 0
	for range 3 {
		wg.Go(func() {
			for j := range work {
				pattern := j.pattern
				want, err := askRipgrep(rg, file, pattern, j.opt)
				if err != nil {
					t.Errorf("ripgrep: %v", err)
					continue
				}
				got, err := askPackage(corpus, pattern, j.opt)
				if err != nil {
					t.Errorf("%q: %v", pattern, err)
				}
				mu.Lock()
				if want.refused {
					refused++
				} else if want.lines != "" {
					matching++
				}
				mu.Unlock()
				if !got.equal(want) && got.refused != want.refused {
					// ripgrep puts a group around the pattern, which may make a wrong pattern
					// right, as it does `a)|(b`, or lose its end in a comment.
					grouped, err := askPackage(corpus, "(?:"+pattern+")", j.opt)
					if err == nil && grouped.equal(want) {
						mu.Lock()
						regrouped++
						mu.Unlock()
						continue
					}
				}
				if !got.equal(want) {
					t.Errorf("pattern %q %+v\n got refused=%v lines %s %s\nwant refused=%v lines %s %s",
						pattern, j.opt, got.refused, got.lines, got.detail, want.refused, want.lines, want.detail)
				}
			}
		})
	}
	for i, p := range patterns {
		work <- job{p, Options{IgnoreCase: i%4 == 3}}
	}
	close(work)
	wg.Wait()
	if regrouped > 1+len(patterns)/500 {
		t.Errorf("%d of %d patterns agree only with a group around them", regrouped, len(patterns))
	}
	t.Logf("%d patterns, of which ripgrep refuses %d and finds lines for %d", len(patterns), refused, matching)
}

func TestGeneratedPatternsAgreeWithRipgrep(t *testing.T) {
	if testing.Short() {
		t.Skip("needs ripgrep 15")
	}
	count, seed := 2000, uint64(15)
	// A longer run, with other patterns: JIG_REGEX_PATTERNS=COUNT,SEED
	if s := os.Getenv("JIG_REGEX_PATTERNS"); s != "" {
		if _, err := fmt.Sscanf(s, "%d,%d", &count, &seed); err != nil {
			t.Fatalf("JIG_REGEX_PATTERNS=%q: %v", s, err)
		}
	}
	g := newPatternMaker(seed)
	patterns := make([]string, count)
	for i := range patterns {
		patterns[i] = g.pattern()
	}
	compareWithRipgrep(t, patterns)
}

// TestSizeIsLimitedWhereRipgrepLimitsIt tries a tenth less and a fifth more than fits.
func TestSizeIsLimitedWhereRipgrepLimitsIt(t *testing.T) {
	if testing.Short() {
		t.Skip("needs ripgrep 15")
	}
	var patterns []string
	for pattern, fits := range map[string]int{`a`: 3276800, `\w`: 2100, `[a-z]`: 1455000} {
		patterns = append(patterns, fmt.Sprintf("%s{%d}", pattern, fits*9/10), fmt.Sprintf("%s{%d}", pattern, fits*6/5))
	}
	compareWithRipgrep(t, patterns)
}
