package relevance

import (
	"path"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// terragrunt finds what a terragrunt.hcl reads: its module, and files of folders above.
func (m *module) terragrunt(dir string, body *hclsyntax.Body) {
	for _, block := range body.Blocks {
		if block.Type != "terraform" || block.Body.Attributes["source"] == nil {
			continue
		}
		source := textOf(block.Body.Attributes["source"].Expr)
		if source.complete && source.base == atNothing {
			m.call(dir, source.text, where("terraform.source", dir, terragruntFile, block.DefRange().Start.Line))
		}
	}
	_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics {
		call, ok := node.(*hclsyntax.FunctionCallExpr)
		if !ok || call.Name != "find_in_parent_folders" {
			return nil
		}
		name := text{text: terragruntFile, complete: true}
		if len(call.Args) > 0 {
			name = textOf(call.Args[0])
		}
		why := where("find_in_parent_folders", dir, terragruntFile, call.Range().Start.Line)
		for above := dir; above != "."; {
			above = path.Dir(above)
			if to, inside := join(above, name.text); inside && name.complete {
				m.reads = append(m.reads, Source{Kind: Under, Path: to, Why: why})
			}
		}
		if !name.complete {
			m.all(".", why+", of a name that only a plan knows")
		}
		return nil
	})
}
