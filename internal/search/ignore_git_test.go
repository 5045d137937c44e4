package search

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tree that generated rules are tried on. A name that ends in a slash is a
// directory.
var ignoreTree = []string{
	"a/", "a/a", "a/b/", "a/b/a", "a/b/c/", "a/b/c/a", "a/b/c/b.c", "a/c", "a/x.c",
	"b/", "b/a/", "b/a/b", "b/aa", "c", "ab", "abc", "aXb", "b.c", "x.c",
	"foo/", "foo/bar/", "foo/bar/x", "foobar/", "foobar/x", "fooX/", "fooX/bar", "foox/", "foox/y/", "foox/y/bar",
	"A", "B/", "B/A", "Foo/", "Foo/x.C", "[a]", "[ab", "a]", "a b", "a ", "a  ", " a", "é", "éa", "a\\", "a\\b", "a*b", "a?",
	"#a", "!a", "-a", "a-b", "a^", "a:", "a\tb", "a\r", "1", "a1", "\x80", ".a", "~", "_",
}

func ignoreRepo(t *testing.T) (root string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if testing.Short() {
			t.Skip("needs git")
		}
		t.Fatal("git is not installed; this test compares with git check-ignore")
	}
	root = t.TempDir()
	for _, p := range ignoreTree {
		full := filepath.Join(root, p)
		if strings.HasSuffix(p, "/") {
			if err := os.MkdirAll(full, 0o755); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, root, nil, "init", "-q")
	return root
}

func runGit(t *testing.T, dir string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("git %v: %v", args, err)
	}
	return out
}

// ignored applies rules the way a walk does: what is below an ignored
// directory is not looked at.
func ignored(ig *Ignore, path string) bool {
	isDir := strings.HasSuffix(path, "/")
	path = strings.TrimSuffix(path, "/")
	for i := range len(path) {
		if path[i] == '/' && ig.Match(path[:i], true) {
			return true
		}
	}
	return ig.Match(path, isDir)
}

// compareWithGit writes rules as the root .gitignore and reports where git and
// the matcher differ.
func compareWithGit(t *testing.T, root, rules string, fold bool) (differ []string, hits int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	for _, p := range ignoreTree {
		in.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	out := runGit(t, root, in.Bytes(), "-c", fmt.Sprint("core.ignorecase=", fold), "check-ignore", "--no-index", "-z", "--stdin")
	want := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		want[p] = true
	}
	ig := parseIgnore([]byte(rules), fold)
	for _, p := range ignoreTree {
		git := want[strings.TrimSuffix(p, "/")]
		if git {
			hits++
		}
		if ignored(ig, p) != git {
			differ = append(differ, fmt.Sprintf("rules %q, path %q: git says %v", rules, p, git))
		}
	}
	return differ, hits
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// genIgnoreLine makes one line out of what git gives a meaning to, and of what
// looks as if it did.
func genIgnoreLine(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(pick(r, "", "", "", "", "!", "/", "!/", "**/", `\`, " ", "#", "!!", "./"))
	for range 1 + r.IntN(1+r.IntN(4)) {
		switch r.IntN(12) {
		case 0, 1, 2, 3:
			b.WriteString(pick(r, "a", "b", "c", "foo", "bar", "x.c", ".c", "é", "A", "Foo", "x", "a b", "X", "1"))
		case 4, 5:
			b.WriteString(pick(r, "*", "*", "**", "***", "?", "*?", "?*"))
		case 6, 7, 8:
			b.WriteString(pick(r, "/", "/", "/", "/**/", "/**", "**/", "/***/", "//", `\/`, `/**\/`, "/*/", "/.", "/*"))
		case 9:
			b.WriteString(pick(r, "[ab]", "[!ab]", "[^a]", "[a-c]", "[c-a]", "[]a]", "[!]a]", "[a-]", "[-a]", "[a", "[", "[]", "[!]", "]", `[\]]`, `[\a]`,
				`[a\-c]`, `[a-\c]`, "[a/b]", "[!/]", "[/]", "[*?]", "[A-C]", "[A]", "[^A-Z]", "[é]", "[\x80-\xff]"))
		case 10:
			b.WriteString(pick(r, "[[:alpha:]]", "[[:digit:]]", "[[:upper:]]", "[[:lower:]]", "[![:alnum:]]", "[[:space:]]", "[[:punct:]]", "[[:xdigit:]x]",
				"[[:blank:]]", "[[:cntrl:]]", "[[:graph:]]", "[[:print:]]", "[[:nope:]]", "[[:alpha]", "[[:alpha:]", "[[:", "[:alpha:]", "[[:alpha:]-z]", "[a-[:digit:]]", "[[.a.]]", "[[:ALPHA:]]"))
		case 11:
			b.WriteString(pick(r, `\`, `\ `, `\*`, `\a`, `\[`, `\\`, "#", "!", " ", "-", "~", "\t", "\x00", "{a,b}", ":", "^"))
		}
	}
	b.WriteString(pick(r, "", "", "", "", "/", "/", " ", "  ", `\ `, "/ ", "\t", "\r", "/\r", " \r", "\\\r", `\`, "/**", "/*", "**"))
	return b.String()
}

func TestIgnoreRulesMeanWhatGitReads(t *testing.T) {
	root := ignoreRepo(t)
	r := rand.New(rand.NewPCG(1, 2))
	files, hits, bad := 500, 0, 0
	for i := range files {
		var rules strings.Builder
		rules.WriteString(pick(r, "", "", "", "", "", "", "\xef\xbb\xbf"))
		for range 1 + r.IntN(4) {
			rules.WriteString(genIgnoreLine(r) + pick(r, "\n", "\n", "\n", "\n", "\r\n", "\n\n"))
		}
		text := rules.String()
		if r.IntN(4) == 0 {
			text = strings.TrimSuffix(text, "\n")
		}
		differ, n := compareWithGit(t, root, text, i%5 == 4)
		hits += n
		for _, d := range differ {
			if bad++; bad < 40 {
				t.Error(d)
			}
		}
	}
	t.Logf("%d cases, %d of them ignored, %d differ", files*len(ignoreTree), hits, bad)
}
