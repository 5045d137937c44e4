package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type bench struct {
	runs  int
	only  string
	where string
	size  int // of the generated tree
	rg    string
	self  string
	temp  string
}

type query struct {
	name, pattern string
	fold          bool
}

var queries = []query{
	{"rare literal", `runtime_pollUnblock`, false},
	{"absent literal", `zq_nowhere_to_be_found`, false},
	{"common literal", `return`, false},
	{"three alternated", `netpoll|gopark|sysmon`, false},
	{"word before literal", `\w+_test\(`, false},
	{"ignoring case", `gopanic`, true},
	{"no literal", `[A-Z]\w+ \d{4}`, false},
	{"Unicode boundary", `\b\w+é\b`, false},
}

type subject struct{ name, dir string }

func (b *bench) run(out io.Writer) error {
	var err error
	if b.rg, err = findRipgrep(); err != nil {
		return err
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.temp, err = os.MkdirTemp("", "jig-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.temp)
	subjects, err := b.subjects()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Whole processes, 2 threads, warm cache, median of %d runs each, one after the other in turn.\n", b.runs)
	for _, s := range subjects {
		if err := b.subject(out, s); err != nil {
			return err
		}
	}
	return nil
}

// wants says whether a tree was asked for; without -tree all are.
func (b *bench) wants(tree string) bool { return strings.Contains(tree, b.where) }

func (b *bench) subjects() ([]subject, error) {
	var all []subject
	if b.wants("go") {
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return nil, fmt.Errorf("go env GOROOT: %w", err)
		}
		all = append(all, subject{"go", filepath.Join(strings.TrimSpace(string(goroot)), "src")})
	}
	if b.wants("generated") {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		dir, err := ensureTree(filepath.Join(cache, "jig", "bench"), b.size)
		if err != nil {
			return nil, err
		}
		all = append(all, subject{"generated", dir})
	}
	return all, nil
}

func (b *bench) subject(out io.Writer, s subject) error {
	odd, files, size, err := survey(s.dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s: %s, %d files, %d MB\n", s.name, s.dir, files, size>>20)
	fmt.Fprintf(out, "left out of the comparison (not of the times), because the two take them for binary or text by different rules: %d files\n", len(odd))
	fmt.Fprintf(out, "with a zero byte after the first 8,000 bytes only, or a UTF-16 byte order mark\n")
	fmt.Fprintf(out, "| pattern | | lines | rg ms | jig ms | ratio | rg CPU | jig CPU |\n|---|---|---:|---:|---:|---:|---:|---:|\n")
	for _, q := range queries {
		if !strings.Contains(q.name, b.only) {
			continue
		}
		lines, err := b.compare(s, q, odd)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", s.name, q.name, err)
		}
		rg, own, err := b.times(s, q)
		if err != nil {
			return err
		}
		flag := ""
		if q.fold {
			flag = "-i "
		}
		fmt.Fprintf(out, "| %s | `%s%s` | %d | %.1f | %.1f | %.2f | %.0f | %.0f |\n", q.name, flag, strings.ReplaceAll(q.pattern, "|", `\|`),
			lines, ms(rg.wall), ms(own.wall), float64(own.wall)/float64(rg.wall), ms(rg.cpu), ms(own.cpu))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (b *bench) ripgrep(s subject, q query) *exec.Cmd {
	args := []string{"--no-config", "-n", "--no-heading", "--color=never", "--no-ignore", "--hidden", "-g", "!.git", "--max-filesize", "10M", "-j2"}
	if rules := filepath.Join(s.dir, ".gitignore"); exists(rules) {
		args = append(args, "--ignore-file", rules)
	}
	if q.fold {
		args = append(args, "-i")
	}
	cmd := exec.Command(b.rg, append(args, "-e", q.pattern)...)
	cmd.Dir = s.dir
	return cmd
}

func (b *bench) own(s subject, q query) *exec.Cmd {
	args := []string{"find"}
	if q.fold {
		args = append(args, "-i")
	}
	cmd := exec.Command(b.self, append(args, q.pattern, s.dir)...)
	cmd.Dir = s.dir
	return cmd
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// spent is what one run took: by the clock, and on all processors together,
// which is the steadier figure on a busy machine.
type spent struct{ wall, cpu time.Duration }

// once runs a program with its output to a file, as both are when timed.
func (b *bench) once(cmd *exec.Cmd, name string) (spent, error) {
	f, err := os.Create(filepath.Join(b.temp, name))
	if err != nil {
		return spent{}, err
	}
	defer f.Close()
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = f, &stderr
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && stderr.Len() == 0 {
		err = nil // ripgrep's way of saying that nothing matched
	}
	if err != nil {
		return spent{}, fmt.Errorf("%s: %w: %s", cmd.Path, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return spent{took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// times takes turns, so that both have the same luck with what else runs.
func (b *bench) times(s subject, q query) (rg, own spent, err error) {
	var rgs, owns []spent
	for range b.runs {
		d, err := b.once(b.own(s, q), "own")
		if err != nil {
			return rg, own, err
		}
		owns = append(owns, d)
		if d, err = b.once(b.ripgrep(s, q), "rg"); err != nil {
			return rg, own, err
		}
		rgs = append(rgs, d)
	}
	return median(rgs), median(owns), nil
}

// median takes each column on its own.
func median(all []spent) (m spent) {
	for _, column := range []func(*spent) *time.Duration{
		func(s *spent) *time.Duration { return &s.wall },
		func(s *spent) *time.Duration { return &s.cpu },
	} {
		var d []time.Duration
		for i := range all {
			d = append(d, *column(&all[i]))
		}
		slices.Sort(d)
		*column(&m) = d[len(d)/2]
	}
	return m
}

// compare runs both once and returns the number of lines both found, or says
// where they differ.
func (b *bench) compare(s subject, q query, odd map[string]bool) (int, error) {
	if _, err := b.once(b.ripgrep(s, q), "rg"); err != nil {
		return 0, err
	}
	if _, err := b.once(b.own(s, q), "own"); err != nil {
		return 0, err
	}
	return b.difference(odd)
}

// difference compares what both have printed.
func (b *bench) difference(odd map[string]bool) (int, error) {
	want, err := b.lines("rg", odd)
	if err != nil {
		return 0, err
	}
	got, err := b.lines("own", odd)
	if err != nil {
		return 0, err
	}
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got) || i < len(want) && want[i] < got[i]:
			return 0, fmt.Errorf("only ripgrep has %q", want[i])
		case i >= len(want) || got[i] < want[i]:
			return 0, fmt.Errorf("only jig has %q", got[i])
		}
	}
	return len(want), nil
}

func (b *bench) lines(name string, odd map[string]bool) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(b.temp, name))
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		path, _, _ := strings.Cut(line, ":")
		if line != "" && !odd[path] && !strings.HasPrefix(path, "binary file matches") {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all, nil
}

// survey finds the files that the two programs do not agree on, and warms the
// cache.
func survey(dir string) (odd map[string]bool, files int, size int64, err error) {
	odd = map[string]bool{}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		size += int64(len(data))
		late := bytes.IndexByte(data, 0) >= 8000
		wide := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
		if late || wide {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			odd[filepath.ToSlash(rel)] = true
		}
		return nil
	})
	return odd, files, size, err
}

// findRipgrep returns the ripgrep to compare with: $JIG_TEST_RG, or the one
// `make test` keeps below the module's root.
func findRipgrep() (string, error) {
	rg := os.Getenv("JIG_TEST_RG")
	if rg == "" {
		mod, err := exec.Command("go", "env", "GOMOD").Output()
		if err != nil {
			return "", fmt.Errorf("go env GOMOD: %w", err)
		}
		rg = filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), ".cache", "tools", "rg")
	}
	version, err := exec.Command(rg, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("no ripgrep 15 to compare with: set JIG_TEST_RG or put it at .cache/tools/rg: %w", err)
	}
	if !bytes.HasPrefix(version, []byte("ripgrep 15.")) {
		return "", fmt.Errorf("%s is %s, not ripgrep 15", rg, bytes.Fields(version)[1])
	}
	return rg, nil
}
