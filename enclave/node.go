package enclave

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// reader reads one file, and keeps what is wrong with it.
type reader struct {
	file   string
	faults *Faults
}

func (r reader) fault(line int, format string, args ...any) {
	*r.faults = append(*r.faults, Fault{r.file, line, fmt.Sprintf(format, args...)})
}

// maxDepth is how deep a file may be nested: the parser goes as deep as the text does.
const maxDepth = 200

// root parses a file that is one mapping.
func (r reader) root(text []byte) fields {
	if tooDeep(text) {
		r.fault(0, "it is nested too deeply")
		return fields{r: r}
	}
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		line, why := 0, err.Error()
		if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok {
			line, why = syntax.Token.Position.Line, syntax.Message
		}
		if bytes.Contains(lineAt(text, line), []byte("{{")) {
			why += `; put {{ alias.key }} into quotes`
		}
		r.fault(line, "this is no YAML: %s", why)
		return fields{r: r}
	}
	docs := slices.DeleteFunc(parsed.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) != 1 {
		r.fault(0, "there are %d documents in it; one is wanted", len(docs))
		return fields{r: r}
	}
	f, ok := r.mapping(docs[0].Body, "the file")
	if !ok {
		return fields{r: r}
	}
	return f
}

// lineAt is a line of a text, from 1.
func lineAt(text []byte, line int) []byte {
	lines := bytes.SplitN(text, []byte("\n"), line+1)
	if line < 1 || line > len(lines) {
		return nil
	}
	return lines[line-1]
}

// tooDeep reports whether a text may be nested more deeply than is sensible.
func tooDeep(text []byte) bool {
	depth := 0
	for line := range strings.Lines(string(text)) {
		content := strings.TrimLeft(line, " ")
		if len(line)-len(content) > 4*maxDepth || strings.Count(content, "- ") > maxDepth {
			return true
		}
		depth += strings.Count(content, "[") + strings.Count(content, "{")
		if depth > 50*maxDepth || strings.Count(content, "[")+strings.Count(content, "{") > maxDepth {
			return true
		}
	}
	return false
}

// fields are those of a mapping; each is taken once, and what is left at the end is unknown.
type fields struct {
	r    reader
	line int
	all  []*ast.MappingValueNode
	read map[string]bool
}

func (r reader) mapping(n ast.Node, what string) (fields, bool) {
	f := fields{r: r, read: map[string]bool{}}
	switch node := n.(type) {
	case *ast.MappingNode:
		f.all, f.line = node.Values, lineOf(node)
	case *ast.MappingValueNode:
		f.all, f.line = []*ast.MappingValueNode{node}, lineOf(node)
	default:
		r.fault(lineOf(n), "%s must be a mapping, with names and values", what)
		return f, false
	}
	return f, true
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// node is the value of a field, if it is there.
func (f fields) node(name string) (ast.Node, int) {
	for _, v := range f.all {
		if keyOf(v) == name {
			f.read[name] = true
			return v.Value, lineOf(v.Key)
		}
	}
	return nil, 0
}

func keyOf(v *ast.MappingValueNode) string { return v.Key.GetToken().Value }

// rest says which fields nothing is known of.
func (f fields) rest(where string, known ...string) {
	for _, v := range f.all {
		name := keyOf(v)
		if f.read[name] {
			continue
		}
		f.r.fault(lineOf(v.Key), "%s has no field %q; it has %s", where, name, strings.Join(known, ", "))
	}
}

// text is a field that is a text; line is 0 where there is none.
func (f fields) text(name string) (value string, line int) {
	n, line := f.node(name)
	if n == nil {
		return "", 0
	}
	value, ok := f.r.scalar(n, name)
	if !ok {
		return "", line
	}
	return value, line
}

// scalar is the text of a value as it is written: 5432 is 5432, and true is true.
func (r reader) scalar(n ast.Node, name string) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	case *ast.NullNode:
		r.fault(lineOf(n), "%s is empty", name)
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode, *ast.MergeKeyNode:
		r.fault(lineOf(n), "%s: anchors, aliases and tags are not read here", name)
	default:
		r.fault(lineOf(n), "%s must be one value", name)
	}
	return "", false
}

// items are those of a field that is a list.
func (f fields) items(name string) []ast.Node {
	n, line := f.node(name)
	if n == nil {
		return nil
	}
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		f.r.fault(line, "%s must be a list", name)
		return nil
	}
	return list.Values
}

// texts are those of a field that is a list of texts, each once.
func (f fields) texts(name string) (all []string) {
	for _, n := range f.items(name) {
		text, ok := f.r.scalar(n, name)
		switch {
		case !ok:
		case slices.Contains(all, text):
			f.r.fault(lineOf(n), "%s has %q twice", name, text)
		case !isWord(text):
			f.r.fault(lineOf(n), "%s: %q is no name of an output: letters, digits, _ and - are, with a letter first", name, text)
		default:
			all = append(all, text)
		}
	}
	return all
}
