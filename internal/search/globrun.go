package search

// A glob runs as a set of states that moves over the path once.

type globOp uint8

const (
	globMatch globOp = iota
	globChar
	globAny
	globClassOp
	globStar     // stays on all but a slash, or goes on
	globDeep     // ** before it is known whether a component begins here
	globDeepLoop // ** as whole components: stays on everything, leaves at a component's end
	globSplit
)

type globNode struct {
	op    globOp
	char  rune
	class *globClass
	out   int
	alt   int
	skip  []int // of globDeep: where the slash that follows leads
}

func (g *Glob) node(n globNode) int {
	g.prog = append(g.prog, n)
	return len(g.prog) - 1
}

// compile builds the states of items from the last to the first, so that each
// knows where it goes on.
func (g *Glob) compile(items []globItem, next int) int {
	for i := len(items) - 1; i >= 0; i-- {
		switch it := items[i]; it.kind {
		case itemChar:
			next = g.node(globNode{op: globChar, char: it.char, out: next})
		case itemAny:
			next = g.node(globNode{op: globAny, out: next})
		case itemStar:
			next = g.node(globNode{op: globStar, out: next})
		case itemDeep:
			loop := g.node(globNode{op: globDeepLoop, out: next})
			star := g.node(globNode{op: globStar, out: next})
			skip := g.skipSlash(nil, map[int]bool{}, next)
			next = g.node(globNode{op: globDeep, out: star, alt: loop, skip: skip})
		case itemClass:
			class := g.node(globNode{op: globClassOp, class: it.class, out: next})
			next = g.node(globNode{op: globSplit, out: class, alt: g.literal(it.text, next)})
		case itemGroup:
			all := g.literal(it.text, next)
			for _, alt := range it.alts {
				all = g.node(globNode{op: globSplit, out: g.compile(alt, next), alt: all})
			}
			next = all
		}
	}
	return next
}

func (g *Glob) literal(text string, next int) int {
	var chars []globItem
	for len(text) > 0 {
		r, n := decodeGlob(text)
		chars = append(chars, globItem{kind: itemChar, char: r})
		text = text[n:]
	}
	return g.compile(chars, next)
}

// globState is two sets of states with constant-time insertion and clearing.
type globState struct {
	now, then globSet
	stack     []int
}

type globSet struct {
	list []int
	mark []uint32
	turn uint32
}

func newGlobState(size int) *globState {
	return &globState{now: globSet{mark: make([]uint32, size)}, then: globSet{mark: make([]uint32, size)}}
}

func (s *globSet) clear() {
	s.list = s.list[:0]
	s.turn++
	if s.turn == 0 {
		clear(s.mark)
		s.turn = 1
	}
}

func (s *globSet) add(n int) bool {
	if s.mark[n] == s.turn {
		return false
	}
	s.mark[n] = s.turn
	s.list = append(s.list, n)
	return true
}

func (g *Glob) run(s *globState, path string) bool {
	s.now.clear()
	g.enter(s, &s.now, g.start, path, 0)
	for at := 0; at < len(path); {
		r, size := decodeGlob(path[at:])
		at += size
		s.then.clear()
		for _, i := range s.now.list {
			n := &g.prog[i]
			switch n.op {
			case globChar:
				if n.char == r {
					g.enter(s, &s.then, n.out, path, at)
				}
			case globAny:
				if r != '/' {
					g.enter(s, &s.then, n.out, path, at)
				}
			case globClassOp:
				if n.class.has(r) {
					g.enter(s, &s.then, n.out, path, at)
				}
			case globStar:
				if r != '/' {
					g.enter(s, &s.then, i, path, at)
				}
			case globDeepLoop:
				g.enter(s, &s.then, i, path, at)
			}
		}
		s.now, s.then = s.then, s.now
		if len(s.now.list) == 0 {
			return false
		}
	}
	return s.now.mark[0] == s.now.turn
}

// enter adds a state and all that is reached from it without reading.
func (g *Glob) enter(s *globState, set *globSet, first int, path string, at int) {
	s.stack = append(s.stack[:0], first)
	for len(s.stack) > 0 {
		i := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if !set.add(i) {
			continue
		}
		switch n := &g.prog[i]; n.op {
		case globSplit:
			s.stack = append(s.stack, n.out, n.alt)
		case globStar:
			s.stack = append(s.stack, n.out)
		case globDeep:
			s.stack = append(s.stack, n.out)
			if at == 0 || path[at-1] == '/' {
				s.stack = append(s.stack, n.alt)
				// No component at all: the slash that follows goes with it.
				s.stack = append(s.stack, n.skip...)
			}
		case globDeepLoop:
			if at == len(path) || path[at] == '/' {
				s.stack = append(s.stack, n.out)
			}
		}
	}
}

// skipSlash collects what follows the slashes that can be read next at node i.
func (g *Glob) skipSlash(found []int, seen map[int]bool, i int) []int {
	if seen[i] {
		return found
	}
	seen[i] = true
	switch n := &g.prog[i]; {
	case n.op == globSplit:
		found = g.skipSlash(found, seen, n.out)
		return g.skipSlash(found, seen, n.alt)
	case n.op == globChar && n.char == '/':
		return append(found, n.out)
	}
	return found
}
