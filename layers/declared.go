package layers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// DeclarationFile is the file of a repository that says which layers it has.
const DeclarationFile = "holdfast.yaml"

// Declared is a layer, or by a path with stars several, that a repository's file has.
type Declared struct {
	Name string
	Tooling
	Settings
	Line int
}

// maxDeclared is how many entries a file may have.
const maxDeclared = 10_000

// ParseDeclaration reads holdfast.yaml. What is wrong is returned as Faults, all of it.
func ParseDeclaration(text []byte) ([]Declared, error) {
	d := &declaration{}
	d.read(text)
	if len(d.faults) > 0 {
		d.faults.sort()
		return nil, d.faults
	}
	return d.layers, nil
}

// declaration is a file that is being read.
type declaration struct {
	faults Faults
	layers []Declared
}

func (d *declaration) fault(line int, format string, args ...any) {
	d.faults = append(d.faults, Fault{DeclarationFile, line, fmt.Sprintf(format, args...)})
}

func (d *declaration) read(text []byte) {
	if nestedTooDeep(text) {
		d.fault(0, "it is nested too deeply")
		return
	}
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey()) // they are found below, with all else
	if err != nil {
		line, why := 0, err.Error()
		if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok {
			line, why = syntax.Token.Position.Line, syntax.Message
		}
		d.fault(line, "this is no YAML: %s", why)
		return
	}
	docs := slices.DeleteFunc(file.Docs, func(doc *ast.DocumentNode) bool { return doc.Body == nil })
	if len(docs) != 1 {
		d.fault(0, "it has %d documents; one is wanted", len(docs))
		return
	}
	d.mapping(docs[0].Body, "the file", fields{"layers": func(n ast.Node) { d.list(n, "layers", maxDeclared, d.layer) }})
}

// nestedTooDeep reports whether the parser, which calls itself for each nesting, may run out of stack.
func nestedTooDeep(text []byte) bool {
	const most = 100
	depth := 0
	for line := range strings.Lines(string(text)) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		opened := strings.Count(line, "[") + strings.Count(line, "{")
		depth = max(0, depth+opened-strings.Count(line, "]")-strings.Count(line, "}"))
		if indent > 4*most || opened > most || depth > most || strings.Count(line, "- ") > most || strings.Count(line,
			"? ") > most {
			return true
		}
	}
	return false
}

// fields are those that a mapping may have, with what reads each.
type fields map[string]func(ast.Node)

func (d *declaration) mapping(n ast.Node, what string, known fields) {
	var all []*ast.MappingValueNode
	switch node := n.(type) {
	case *ast.MappingNode:
		all = node.Values
	case *ast.MappingValueNode:
		all = []*ast.MappingValueNode{node}
	default:
		d.fault(line(n), "%s must be a mapping, with names and values", what)
		return
	}
	read := map[string]bool{}
	for _, v := range all {
		name := v.Key.GetToken().Value
		use := known[name]
		switch {
		case use == nil:
			d.fault(line(v.Key), "%s has no field %q; it has %s", what, name,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case read[name]:
			d.fault(line(v.Key), "%s has the field %q twice", what, name)
		default:
			use(v.Value)
		}
		read[name] = true
	}
}

func (d *declaration) list(n ast.Node, what string, most int, each func(ast.Node)) {
	all, ok := n.(*ast.SequenceNode)
	switch {
	case !ok:
		d.fault(line(n), "%s must be a list", what)
	case len(all.Values) > most:
		d.fault(line(n), "%s has more than %d entries", what, most)
	default:
		for _, value := range all.Values {
			each(value)
		}
	}
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return line(m.Values[0].Key)
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		return line(v.Key)
	}
	return n.GetToken().Position.Line
}

// text is a value as it is written: 5 is 5, and true is true.
func (d *declaration) text(what string, to *string) func(ast.Node) {
	return func(n ast.Node) {
		switch v := n.(type) {
		case *ast.StringNode:
			*to = v.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			*to = n.GetToken().Value
		default:
			d.fault(line(n), "%s must be a text", what)
		}
	}
}

// parsed is a value that something makes of a text.
func parsed[T any](d *declaration, what, wants string, to *T, parse func(string) (T, error)) func(ast.Node) {
	return func(n ast.Node) {
		var written string
		before := len(d.faults)
		d.text(what, &written)(n)
		value, err := parse(written)
		if err != nil && len(d.faults) == before {
			d.fault(line(n), "%s: %q is not %s", what, written, wants)
		}
		*to = value
	}
}

func (d *declaration) number(what string, to *int) func(ast.Node) {
	return parsed(d, what, "a number", to, strconv.Atoi)
}

func (d *declaration) duration(what string, to *time.Duration) func(ast.Node) {
	return parsed(d, what, "a duration such as 20m or 8h", to, time.ParseDuration)
}

func (d *declaration) flag(what string, to *bool) func(ast.Node) {
	return parsed(d, what, "true or false", to, func(text string) (bool, error) {
		if text != "true" && text != "false" {
			return false, errors.New("neither")
		}
		return text == "true", nil
	})
}

func (d *declaration) texts(what string, to *[]string) func(ast.Node) {
	return func(n ast.Node) {
		d.list(n, what, mostTriggers, func(item ast.Node) {
			var one string
			d.text(what, &one)(item)
			*to = append(*to, one)
		})
	}
}
