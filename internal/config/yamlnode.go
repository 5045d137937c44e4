package config

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

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
