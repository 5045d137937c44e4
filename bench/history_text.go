package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// talk makes text like that of sessions: words that are as often as words of a language are, names of
// code made of them, paths, numbers, in pieces whose lengths spread as those of messages and results do.
type talk struct {
	rand  *rand.Rand
	words []string  // the most common one first
	odds  []float64 // added up
}

const (
	vocabulary    = 50_000
	shortestPiece = 20 // bytes
	longestPiece  = 16 << 10
	usualPiece    = 300 // the median
)

func newTalk() *talk {
	t := &talk{rand: rand.New(rand.NewPCG(7, 1))}
	begin := strings.Fields("b c d f g h j k l m n p r s t v w z br cr st tr pl sh ch th qu")
	middle := strings.Fields("a e i o u ai ea io ou é")
	seen := map[string]bool{}
	sum := 0.0
	for len(t.words) < vocabulary {
		var b strings.Builder
		longest := 4
		if len(t.words) < 200 { // common words are short
			longest = 2
		}
		for range 1 + t.rand.IntN(longest) {
			b.WriteString(pick(t, begin))
			b.WriteString(pick(t, middle[:9+t.rand.IntN(60)/59]))
			if t.rand.IntN(3) == 0 {
				b.WriteString(pick(t, begin[:18]))
			}
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			t.words = append(t.words, w)
			sum += 1 / math.Pow(float64(len(t.words))+2.7, 1.07) // after Zipf and Mandelbrot
			t.odds = append(t.odds, sum)
		}
	}
	return t
}

func pick(t *talk, from []string) string { return from[t.rand.IntN(len(from))] }

func (t *talk) word() string {
	x := t.rand.Float64() * t.odds[len(t.odds)-1]
	low, high := 0, len(t.odds)-1
	for low < high {
		if m := (low + high) / 2; t.odds[m] < x {
			low = m + 1
		} else {
			high = m
		}
	}
	return t.words[low]
}

func (t *talk) capital() string {
	w := t.word()
	return strings.ToUpper(w[:1]) + w[1:]
}

// piece is one text. Half its size is that of half of them, a few are fifty times as long.
func (t *talk) piece() string {
	size := int(usualPiece * math.Exp(1.4*t.rand.NormFloat64()))
	size = min(max(size, shortestPiece), longestPiece)
	var b strings.Builder
	for b.Len() < size {
		switch t.rand.IntN(28) {
		case 0, 1:
			b.WriteString(t.word() + t.capital() + t.capital())
		case 2, 3:
			b.WriteString(t.word() + "_" + t.word())
		case 4, 5:
			b.WriteString("internal/" + t.word() + "/" + t.word() + ".go")
		case 6:
			fmt.Fprintf(&b, "%x", t.rand.Uint32())
		case 7:
			fmt.Fprintf(&b, "%d", t.rand.IntN(2000))
		default:
			b.WriteString(t.word())
		}
		b.WriteString([]string{".\n", ", ", " (", " "}[min(t.rand.IntN(20), 3)])
	}
	return b.String()
}
