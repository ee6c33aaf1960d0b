package relevance

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// references finds the files that the expressions of one file name.
type references struct {
	m         *module
	dir, name string
}

func (r references) walk(body *hclsyntax.Body) {
	read := map[hclsyntax.Node]bool{} // by a function, which says more of it
	_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics {
		switch n := node.(type) {
		case *hclsyntax.FunctionCallExpr:
			if r.function(n); isReader(n.Name) && len(n.Args) > 0 {
				read[n.Args[0]] = true
			}
		case *hclsyntax.TemplateExpr:
			if t := textOf(n); !read[n] && t.base != atNothing && t.text != "" {
				t.text, _, _ = strings.Cut(t.text, " ") // of a command with arguments
				r.add(t, "a path", n.Range())
			}
		}
		return nil
	})
}

// isReader reports whether a function reads the file which its first argument names.
func isReader(name string) bool {
	return strings.HasPrefix(name, "file") || slices.Contains([]string{"templatefile", "read_terragrunt_config",
		"sops_decrypt_file", "read_tfvars_file", "yamldecodefile"}, name)
}

func (r references) function(call *hclsyntax.FunctionCallExpr) {
	if !isReader(call.Name) || len(call.Args) == 0 {
		return
	}
	what := call.Name + "(…)"
	named := textOf(call.Args[0])
	if call.Name == "fileset" && len(call.Args) == 2 && named.complete {
		if pattern := textOf(call.Args[1]); pattern.complete && pattern.base == atNothing &&
			CheckPattern(pattern.text) == "" {
			r.set(named, pattern.text, what, call.Range())
			return
		}
	}
	r.add(named, what, call.Range())
}

// set notes the files of a folder that a pattern matches.
func (r references) set(folder text, pattern, what string, at hcl.Range) {
	r.keep(folder, Source{Kind: Matching, Path: path.Clean("./" + folder.text), Pattern: pattern,
		Why: where(what, r.dir, r.name, at.Start.Line)})
}

// add notes a file or folder: the one that the text begins with where the rest is not known.
func (r references) add(t text, what string, at hcl.Range) {
	s := Source{Kind: Under, Path: path.Clean("./" + t.text), Why: where(what, r.dir, r.name, at.Start.Line)}
	if !t.complete {
		s.Path = path.Clean("./" + t.text[:strings.LastIndexByte(t.text, '/')+1])
		s.Why = where(what+" of a name that only a plan knows", r.dir, r.name, at.Start.Line)
	}
	r.keep(t, s)
}

// keep notes a source that is named from the module's folder or from where the tool works.
func (r references) keep(t text, s Source) {
	if path.IsAbs(t.text) && t.base == atNothing {
		return // it is no file of the repository
	}
	if t.base != atModule {
		r.m.inRoot = append(r.m.inRoot, s)
	}
	if t.base == atModule || !t.complete && t.base == atNothing {
		to, inside := join(r.dir, s.Path)
		if s.Path = to; inside {
			r.m.reads = append(r.m.reads, s)
		}
	}
}

// text is what is known of a text without a plan.
type text struct {
	base     base
	text     string
	complete bool
}

// base is the folder that a text begins with.
type base uint8

const (
	atNothing base = iota
	atModule
	atRoot
)

// textOf is what is known of an expression's text.
func textOf(e hclsyntax.Expression) text {
	switch n := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		if isText(n.Val) {
			return text{text: n.Val.AsString(), complete: true}
		}
	case *hclsyntax.ScopeTraversalExpr:
		return text{base: baseOf(n.Traversal), complete: baseOf(n.Traversal) != atNothing}
	case *hclsyntax.TemplateWrapExpr:
		return textOf(n.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return textOf(n.Expression)
	case *hclsyntax.TemplateExpr:
		return textOfAll(n.Parts)
	case *hclsyntax.FunctionCallExpr:
		if (n.Name == "abspath" || n.Name == "get_repo_root") && len(n.Args) == 1 {
			return textOf(n.Args[0])
		}
	}
	return text{}
}

func textOfAll(parts []hclsyntax.Expression) (all text) {
	all.complete = true
	for i, part := range parts {
		t := textOf(part)
		if t.base != atNothing && i > 0 {
			t = text{}
		}
		if i == 0 {
			all.base = t.base
		}
		if all.text += t.text; !t.complete {
			all.complete = false
			return all
		}
	}
	return all
}

func baseOf(t hcl.Traversal) base {
	if len(t) != 2 || t.RootName() != "path" {
		return atNothing
	}
	attr, ok := t[1].(hcl.TraverseAttr)
	switch {
	case ok && attr.Name == "module":
		return atModule
	case ok && (attr.Name == "root" || attr.Name == "cwd"):
		return atRoot
	}
	return atNothing
}

func isText(v cty.Value) bool { return v.IsWhollyKnown() && !v.IsNull() && v.Type() == cty.String }
