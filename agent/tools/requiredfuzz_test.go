package tools

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzRequired compares what is found by tokens with what the language's own parser finds, in
// files that it takes.
func FuzzRequired(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte("terraform {\n  required_version = \"~> 1.9\" # so\n}\n"))
	f.Add([]byte("terraform { required_version = \">1\" }\nterraform \"x\" {\n required_version = \"<1\"\n}\n"))
	f.Add([]byte("a \"${x}\" {\n terraform {\n required_version = \">1\"\n}\n}\n"))
	f.Add([]byte("x = <<-EOT\n terraform {\n required_version = \">1\"\n}\nEOT\n/* \n */ terraform {\n/**/ " +
		"required_version = \"1\"\n}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := requiredOfHCL("main.tf", data)
		if err != nil || len(data) > 4<<10 { // the parser descends into what is nested
			return
		}
		file, problems := hclsyntax.ParseConfig(data, "main.tf", hcl.InitialPos)
		if problems.HasErrors() {
			return
		}
		var got []string
		for _, rule := range rules {
			got = append(got, rule.Text)
		}
		if want := parsed(file.Body.(*hclsyntax.Body)); !slices.Equal(got, want) {
			t.Errorf("found %q, and the parser %q, in:\n%s", got, want, data)
		}
	})
}

// parsed returns the constraints of blocks `terraform`, which have no labels.
func parsed(body *hclsyntax.Body) (texts []string) {
	for _, block := range body.Blocks {
		attribute, found := block.Body.Attributes[requiredVersion]
		if block.Type != "terraform" || len(block.Labels) > 0 || !found {
			continue
		}
		if value, problems := attribute.Expr.Value(nil); !problems.HasErrors() {
			texts = append(texts, value.AsString())
		}
	}
	return texts
}
