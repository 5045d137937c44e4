package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// Bounds on one file. The parser needs quadratic time for long mappings and recurses
// as deep as its input says, so both are limited on the tokens, which are made in
// linear time and without recursion.
const (
	MaxFile   = 1 << 20 // bytes
	maxTokens = 20_000
	maxDepth  = 64
	maxNodes  = 50_000 // after aliases are followed
)

type nodeKind int

const (
	nullNode nodeKind = iota
	scalarNode
	listNode
	mapNode
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "text", "a list", "a mapping"}[k]
}

// node is a YAML value without its syntax: tags, anchors and styles are dealt with
// when it is made, and nothing behind it needs the YAML library.
type node struct {
	kind      nodeKind
	raw, text string   // scalars: as written, and after expansion
	unset     []string // environment variables that text lacks
	quoted    bool     // scalars: in quotes, or a block
	items     []*node
	pairs     []pair
	line, col int
	nodes     int // this and all below, aliases followed
	depth     int
}

type pair struct {
	key       string
	line, col int
	value     *node
}

func (n *node) get(key string) *node {
	for _, p := range n.pairs {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// syntaxError is a file that is not the YAML wanted here.
type syntaxError struct {
	line, col int
	message   string
}

func (e *syntaxError) Error() string { return e.message }

// parseYAML makes the one document of a file into a node; nil when it holds none.
func parseYAML(data []byte) (root *node, err error) {
	defer func() {
		// The parser is known to panic on odd input; that must cost a message, not the program.
		if r := recover(); r != nil {
			root, err = nil, &syntaxError{message: "not valid YAML: the parser gave up on it"}
		}
	}()
	text, err := cleanText(data)
	if err != nil {
		return nil, err
	}
	tokens, err := tokenize(text)
	if err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, readable(err, text)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.DirectiveType {
			continue
		}
		if body != nil {
			line, col := place(doc.Body)
			return nil, &syntaxError{line, col, "a second YAML document begins here: keep everything in one"}
		}
		body = doc.Body
	}
	if body == nil {
		return nil, nil
	}
	c := converter{anchors: map[string]*node{}}
	root = c.node(body, 0)
	if c.err != nil {
		return nil, c.err
	}
	return root, nil
}

// cleanText checks what YAML forbids below the level of syntax, and takes off a byte
// order mark.
func cleanText(data []byte) (string, error) {
	if len(data) > MaxFile {
		return "", &syntaxError{message: fmt.Sprintf("the file is too large (%d bytes, at most %d)", len(data), MaxFile)}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return "", &syntaxError{1, 1, "the file is UTF-16: save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	line, col := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return "", &syntaxError{line, col, fmt.Sprintf("byte 0x%02x is not UTF-8: save the file as UTF-8", data[i])}
		case r == '\n', r == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			line, col = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r == 0x7f:
			return "", &syntaxError{line, col, fmt.Sprintf("control character U+%04X: remove it, or write it as an escape in double quotes", r)}
		}
		i += size
		col++
	}
	return string(data), nil
}

// tokenize splits a text into its signs, and stops at once where it would cost the
// parser too much time or stack.
func tokenize(text string) (token.Tokens, error) {
	var (
		s      scanner.Scanner
		tokens token.Tokens
		b      bounds
	)
	s.Init(text)
	for {
		some, err := s.Scan()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		for _, t := range some {
			if err := b.take(t); err != nil {
				return nil, err
			}
		}
		tokens.Add(some...)
		if err != nil { // told by a token that the parser finds and places
			return tokens, nil
		}
	}
}

// bounds counts tokens and how deep they nest.
type bounds struct{ count, flow, onLine, line int }

func (b *bounds) take(t *token.Token) error {
	if t.Type == token.CommentType {
		return nil
	}
	line, col := t.Position.Line, t.Position.Column
	if b.count++; b.count > maxTokens {
		return &syntaxError{line, col, fmt.Sprintf("the file says too much (more than %d words and signs)", maxTokens)}
	}
	if line != b.line {
		b.line, b.onLine = line, 0
	}
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		b.flow++
	case token.SequenceEndType, token.MappingEndType:
		b.flow--
	case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
		b.onLine++
	}
	if b.flow > maxDepth || b.onLine > maxDepth && b.flow <= 0 || b.onLine > 16*maxDepth {
		return tooDeep(line, col)
	}
	return nil
}

func tooDeep(line, col int) *syntaxError {
	return &syntaxError{line, col, fmt.Sprintf("nested too deep (more than %d levels)", maxDepth)}
}

// converter makes nodes of the library's tree.
type converter struct {
	anchors map[string]*node
	err     *syntaxError
}

func (c *converter) fail(n ast.Node, format string, args ...any) *node {
	if c.err == nil {
		line, col := place(n)
		c.err = &syntaxError{line, col, fmt.Sprintf(format, args...)}
	}
	return &node{nodes: 1}
}

func place(n ast.Node) (line, col int) {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return place(m.Values[0].Key) // a block mapping begins with its first key, not the colon
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		return place(m.Key)
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}

func (c *converter) node(a ast.Node, depth int) *node {
	if c.err != nil {
		return &node{}
	}
	if depth > maxDepth {
		line, col := place(a)
		c.err = tooDeep(line, col)
		return &node{}
	}
	n := &node{nodes: 1}
	n.line, n.col = place(a)
	switch a := a.(type) {
	case *ast.NullNode:
	case *ast.StringNode:
		t := a.Token.Type
		n.scalar(a.Value, t == token.SingleQuoteType || t == token.DoubleQuoteType)
	case *ast.LiteralNode:
		n.scalar(a.Value.Value, true)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		n.scalar(a.GetToken().Value, false)
	case *ast.MappingNode:
		c.mapping(n, a, depth)
	case *ast.MappingValueNode:
		n.kind = mapNode
		c.pair(n, a, depth)
	case *ast.SequenceNode:
		n.kind = listNode
		for _, v := range a.Values {
			n.items = append(n.items, c.child(n, v, depth))
		}
	case *ast.AnchorNode:
		name := a.Name.GetToken().Value
		v := c.node(a.Value, depth)
		c.anchors[name] = v
		return v
	case *ast.AliasNode:
		name := a.Value.GetToken().Value
		v := c.anchors[name]
		if v == nil {
			return c.fail(a, "alias *%s: nothing before it is marked &%s", Shown(name), Shown(name))
		}
		return v
	case *ast.TagNode:
		return c.tagged(a, depth)
	case *ast.MappingKeyNode: // "? key"
		return c.node(a.Value, depth)
	default:
		return c.fail(a, "this YAML cannot be used here: write plain values, lists and mappings")
	}
	return n
}

func (n *node) scalar(text string, quoted bool) {
	n.kind, n.raw, n.text, n.quoted = scalarNode, text, text, quoted
}

// child converts a node's part and counts it; a file whose aliases multiply is refused
// here, before anything walks it.
func (c *converter) child(parent *node, a ast.Node, depth int) *node {
	v := c.node(a, depth+1)
	parent.nodes += v.nodes
	parent.depth = max(parent.depth, v.depth+1)
	if parent.nodes > maxNodes {
		c.fail(a, "the file says too much (more than %d values once its aliases are followed)", maxNodes)
	}
	if parent.depth > maxDepth && c.err == nil {
		line, col := place(a)
		c.err = tooDeep(line, col)
	}
	return v
}

func (c *converter) tagged(a *ast.TagNode, depth int) *node {
	switch tag := a.GetToken().Value; tag {
	case "!!str":
		v := c.node(a.Value, depth)
		v.quoted = v.kind == scalarNode
		return v
	case "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq":
		return c.node(a.Value, depth)
	default:
		return c.fail(a, "tag %s means nothing here: remove it", Shown(tag))
	}
}

func (c *converter) mapping(n *node, a *ast.MappingNode, depth int) {
	n.kind = mapNode
	var merges []*ast.MappingValueNode
	seen := map[string]int{}
	for _, v := range a.Values {
		if v.Key.IsMergeKey() {
			merges = append(merges, v)
			continue
		}
		c.pair(n, v, depth)
		if c.err != nil {
			return
		}
		p := n.pairs[len(n.pairs)-1]
		if first, twice := seen[p.key]; twice {
			c.fail(v.Key, "key \"%s\" is here twice (first on line %d): remove one", Shown(p.key), first)
			return
		}
		seen[p.key] = p.line
	}
	for _, v := range merges {
		c.merge(n, v, seen, depth)
	}
}

// merge brings in what << names; keys written out go first.
func (c *converter) merge(n *node, v *ast.MappingValueNode, seen map[string]int, depth int) {
	from := c.child(n, v.Value, depth)
	list := []*node{from}
	if from.kind == listNode {
		list = from.items
	}
	for _, m := range list {
		if m.kind != mapNode {
			c.fail(v.Key, "<< takes a mapping, got %s", m.kind)
			return
		}
		for _, p := range m.pairs {
			if _, have := seen[p.key]; !have {
				seen[p.key] = p.line
				n.pairs = append(n.pairs, p)
			}
		}
	}
}

func (c *converter) pair(n *node, v *ast.MappingValueNode, depth int) {
	key := c.node(v.Key, depth+1)
	if c.err == nil && key.kind != scalarNode {
		c.fail(v.Key, "a key must be a word, got %s: put it in quotes if it is meant", key.kind)
	}
	if c.err != nil {
		return
	}
	p := pair{key: key.text, line: key.line, col: key.col}
	p.value = c.child(n, v.Value, depth)
	if p.value.kind == nullNode && p.value.line == 0 {
		p.value.line, p.value.col = p.line, p.col
	}
	n.pairs = append(n.pairs, p)
}

// readable turns the parser's error into a sentence for people. The parser's own text
// quotes the file, which may be huge or full of control characters.
func readable(err error, text string) *syntaxError {
	var e interface {
		error
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &e) {
		return &syntaxError{message: "not valid YAML"}
	}
	out := &syntaxError{message: "not valid YAML: " + Shown(e.GetMessage())}
	if t := e.GetToken(); t != nil && t.Position != nil {
		out.line, out.col = t.Position.Line, t.Position.Column
	}
	has := func(part string) bool { return strings.Contains(e.GetMessage(), part) }
	switch {
	case has("found character '\t'"), has("tab character"):
		out.message = "a tab cannot indent: use spaces"
	case has("mapping value is not allowed in this context"):
		out.message = colonMessage(lineOf(text, out.line))
	case has("block sequence entries are not allowed"):
		out.message = "a list begins on the line below its key; a text that begins with \"- \" needs quotes"
	case has("is a reserved character"):
		out.message = "a value cannot begin with this character: put it in quotes"
	case has("could not find end character of"):
		out.message = "the quote that opens here is never closed"
	case has("non-map value is specified"), has("unexpected key name"):
		out.message = "want a line of the form key: value"
	case has("could not find '[' character"), has("could not find '{' character"):
		out.message = "this bracket closes nothing"
	case has("found an invalid key for this map"):
		out.message = "a key must be a word"
	case has("value is not allowed in this context"):
		out.message = "this line's indentation fits none of the lines above"
		if !startsLine(text, out.line, out.col) {
			out.message = "nothing more can stand on this line"
		}
	case has("',' or ']' must be specified"), has("sequence end token ']' not found"):
		out.message = "the [ before this is never closed, or a comma is missing (a value with \": \" in it needs quotes)"
	case has("',' or '}' must be specified"), has("could not find flow mapping end token '}'"):
		out.message = "the { before this is never closed, or a comma is missing (a value with braces, such as ${env:X}, needs quotes inside { })"
	}
	return out
}

// startsLine tells whether a place is the first on its line that is not blank.
func startsLine(text string, line, col int) bool {
	for range line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	for _, r := range text {
		if col--; col <= 0 || r != ' ' {
			break
		}
	}
	return col <= 0
}

func lineOf(text string, line int) string {
	for range line - 1 {
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			return ""
		}
		text = rest
	}
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}

// colonMessage explains the second ": " of a line such as model: anthropic: x.
func colonMessage(line string) string {
	_, value, found := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
	word, rest, again := strings.Cut(value, ": ")
	if !found || !again || strings.ContainsAny(word, " '\"{[") {
		return "a value with \": \" in it reads as a mapping: put it in quotes"
	}
	return spaceMessage(word, rest)
}

// spaceMessage is the sentence for a space that made a mapping out of provider:id.
func spaceMessage(word, rest string) string {
	word, rest = Shown(word), Shown(strings.TrimSpace(rest))
	if rest == "" {
		return fmt.Sprintf("\"%s:\" reads as a mapping: write %s:ID without a space, or in quotes", word, word)
	}
	return fmt.Sprintf("\"%s: %s\" reads as a mapping because of the space after the colon: write %s:%s, or put it in quotes", word, rest, word, rest)
}
