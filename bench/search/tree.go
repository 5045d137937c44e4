package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// A generated tree is the same on every machine, so its name carries a version
// in place of a checksum: change what is written and the version changes.
const treeVersion = "tree-v1"

// A plan is the list of files of a generated tree; each has its own seed, so
// they can be written in any order.
type plan struct {
	path   string
	size   int
	binary bool
	seed   uint64
}

// ensureTree returns the directory of the generated tree of about total bytes,
// written on first use.
func ensureTree(cache string, total int) (string, error) {
	dir := filepath.Join(cache, fmt.Sprintf("%s-%dmb", treeVersion, total>>20))
	if total == fullSize {
		dir = filepath.Join(cache, treeVersion)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	fmt.Fprintf(os.Stderr, "writing %s (once)\n", dir)
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", err
	}
	if err := writeTree(part, total); err != nil {
		return "", err
	}
	return dir, os.Rename(part, dir)
}

const fullSize = 1 << 30

func writeTree(root string, total int) error {
	plans := planTree(total)
	jobs := make(chan plan)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 2 {
		wg.Go(func() {
			var buf bytes.Buffer
			for p := range jobs {
				if err := p.write(root, &buf); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	for _, p := range plans {
		jobs <- p
	}
	close(jobs)
	wg.Wait()
	if failed != nil {
		return failed
	}
	return os.WriteFile(filepath.Join(root, ".gitignore"), []byte(treeIgnore), 0o644)
}

const treeIgnore = `# what a project of this kind leaves out
*.log
*.min.js
/dist/
node_modules/
.cache
**/generated/**/out
coverage-[0-9]*
!keep.log
`

// planTree spreads about 15,000 files for a gigabyte over directories three
// levels deep. The logarithms of their sizes are bell-shaped, as in real
// projects: most files are small and most bytes are in large ones.
func planTree(total int) []plan {
	r := rand.New(rand.NewPCG(20261130, 1))
	exts := []string{".go", ".go", ".go", ".ts", ".py", ".rs", ".md", ".json", ".c", ".h", ".txt"}
	var plans []plan
	for n, sum := 0, 0; sum < total; n++ {
		// In whole numbers: math.Exp is not the same on every processor.
		base := 240 << (r.IntN(4) + r.IntN(4) + r.IntN(4) + r.IntN(4))
		p := plan{size: base + r.IntN(base), seed: r.Uint64()}
		dir := fmt.Sprintf("%s/%s/%s", tops[r.IntN(len(tops))], syllables[r.IntN(len(syllables))], syllables[r.IntN(5)])
		name := fmt.Sprintf("%s%s%d%s", syllables[r.IntN(len(syllables))], syllables[r.IntN(len(syllables))], n, exts[r.IntN(len(exts))])
		switch {
		case n%211 == 0:
			p.binary = true
			name += ".bin"
		case n%97 == 0:
			dir = "dist/" + dir
		case n%89 == 0:
			dir += "/node_modules/pkg"
		case n%113 == 0:
			name += ".log"
		case n%5000 == 1:
			p.size = 11 << 20 // over the limit of both searches
		}
		p.path = dir + "/" + name
		plans = append(plans, p)
		sum += p.size
	}
	return plans
}

var tops = []string{"cmd", "internal", "pkg", "web", "docs", "test", "third_party", "tools", "lib", "api"}

var syllables = []string{"re", "con", "ta", "ser", "net", "par", "lo", "mi", "ver", "ex", "ro", "ti", "pol", "ma", "den", "sy", "un", "ca",
	"fi", "ge", "hand", "quer", "sto", "buf", "read", "writ", "sign", "al", "ba", "du"}

func (p plan) write(root string, buf *bytes.Buffer) error {
	buf.Reset()
	r := rand.New(rand.NewPCG(p.seed, 7))
	if p.binary {
		buf.WriteString("\x7fELF\x00\x00")
		for buf.Len() < p.size {
			var word [8]byte
			for i, v := 0, r.Uint64(); i < 8; i++ {
				word[i] = byte(v >> (8 * i))
			}
			buf.Write(word[:])
		}
	} else {
		for buf.Len() < p.size {
			writeLine(buf, r)
		}
	}
	full := filepath.Join(root, filepath.FromSlash(p.path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.WriteFile(full, buf.Bytes(), 0o644)
}

var plain = sync.OnceValue(makeWords)

// makeWords returns identifiers in the order of how often they are used.
func makeWords() []string {
	r := rand.New(rand.NewPCG(3, 3))
	words := []string{"err", "nil", "ctx", "name", "i", "value", "t", "len", "string", "s", "data", "int", "size", "key", "n"}
	for len(words) < 3000 {
		w := syllables[r.IntN(len(syllables))]
		for range 1 + r.IntN(3) {
			s := syllables[r.IntN(len(syllables))]
			switch r.IntN(5) {
			case 0:
				s = string(s[0]-'a'+'A') + s[1:]
			case 1:
				s = "_" + s
			}
			w += s
		}
		words = append(words, w)
	}
	return words
}

// Words of their own frequency: about one in so many lines.
var planted = []struct {
	every int
	text  string
}{
	{400, "café"}, {200, "Straße 12"}, {900, "entrée né"}, {300, "March 2024"}, {500, "naïve"}, {900, "日本語"},
	{2500, "netpoll"}, {3500, "goPanic"}, {4000, "gopark"}, {5000, "alloc_test("}, {6000, "sysmon"}, {9000, "gopanic"},
	{4_000_000, "runtime_pollUnblock"},
}

// writeLine writes a line that looks like code from some way off.
func writeLine(b *bytes.Buffer, r *rand.Rand) {
	words := plain()
	word := func() string { // few words make up most of a text
		f := r.Float64()
		return words[int(f*f*f*f*float64(len(words)))]
	}
	for range r.IntN(4) {
		b.WriteByte('\t')
	}
	for _, p := range planted {
		if r.IntN(p.every) == 0 {
			b.WriteString("// " + word() + " " + p.text + " " + word())
			b.WriteByte('\n')
			return
		}
	}
	switch r.IntN(12) {
	case 0:
		b.WriteString("// ")
		for range 4 + r.IntN(9) {
			b.WriteString(word())
			b.WriteByte(' ')
		}
	case 1:
		b.WriteString("if " + word() + " != nil {")
	case 2:
		b.WriteString("}")
	case 3:
		if r.IntN(3) == 0 {
			b.WriteString("return " + word() + ", " + word())
		} else {
			b.WriteString("for _, " + word() + " := range " + word() + " {")
		}
	case 4:
		b.WriteString("func (" + word() + " *" + word() + ") " + word() + "(" + word() + " int) error {")
	case 5:
	case 6, 7:
		fmt.Fprintf(b, "%s := %s.%s(%s, %d)", word(), word(), word(), word(), r.IntN(100000))
	case 8:
		b.WriteString(`"` + word() + `": "` + word() + " " + word() + `",`)
	default:
		b.WriteString(word() + "." + word() + "(" + word() + ")")
	}
	b.WriteByte('\n')
}
