package config

import (
	"bytes"
	"fmt"
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
	for going := true; going; {
		some, err := s.Scan()
		for _, t := range some {
			if err := b.take(t); err != nil {
				return nil, err
			}
		}
		tokens.Add(some...)
		going = err == nil // an error that is not the end is told by a token, which the parser finds and places
	}
	return tokens, nil
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
