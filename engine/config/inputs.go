package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/diag"
)

// Inputs are where the root's variables get their values from.
type Inputs struct {
	Environ []string // TF_VAR_NAME=value among others
	Files   []string // of -var-file
	Vars    []string // NAME=value of -var
}

// Values brings the inputs together: what comes later here wins over what comes before, from defaults over
// the environment, terraform.tfvars, *.auto.tfvars in order and Files to Vars.
func (in Inputs) Values(root *Module) (map[string]cty.Value, error) {
	values := map[string]cty.Value{}
	for _, entry := range in.Environ {
		name, text, ok := strings.Cut(strings.TrimPrefix(entry, "TF_VAR_"), "=")
		if v := root.Variables[name]; ok && v != nil && strings.HasPrefix(entry, "TF_VAR_") {
			value, err := v.parse(text, "the environment")
			if err != nil {
				return nil, err
			}
			values[name] = value
		}
	}
	for _, path := range automatic(root.Dir) {
		if err := readValues(root, path, values); err != nil {
			return nil, err
		}
	}
	for _, path := range in.Files {
		if err := readValues(root, path, values); err != nil {
			return nil, err
		}
	}
	for _, entry := range in.Vars {
		name, text, ok := strings.Cut(entry, "=")
		v := root.Variables[name]
		if !ok || v == nil {
			return nil, &diag.Error{Category: diag.Configuration,
				Summary: "there is no variable for -var " + name, Hint: "it is -var NAME=VALUE, of a variable that is declared"}
		}
		value, err := v.parse(text, "-var")
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, nil
}

// automatic lists the files with values that are read without being named.
func automatic(dir string) []string {
	var paths []string
	for _, name := range []string{"terraform.tfvars", "terraform.tfvars.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	entries, _ := os.ReadDir(dir) // in order; that it can't be read has been said when the module was loaded
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".auto.tfvars") || strings.HasSuffix(e.Name(), ".auto.tfvars.json") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

func readValues(root *Module, path string, values map[string]cty.Value) error {
	text, err := readFile(path)
	if err != nil {
		return err
	}
	parser := hclparse.NewParser()
	var f *hcl.File
	var problems hcl.Diagnostics
	if strings.HasSuffix(path, ".json") {
		f, problems = parser.ParseJSON(text, path)
	} else {
		f, problems = parser.ParseHCL(text, path)
	}
	if err := diag.OfHCL(problems, ""); err != nil {
		return err
	}
	attributes, problems := f.Body.JustAttributes()
	if err := diag.OfHCL(problems, ""); err != nil {
		return err
	}
	for name, a := range attributes {
		if root.Variables[name] == nil {
			continue // files with values are shared among configurations
		}
		value, problems := a.Expr.Value(nil)
		if err := diag.OfHCL(problems, `the value of "`+name+`"`); err != nil {
			return err
		}
		values[name] = value
	}
	return nil
}

// parse reads a value given as text: as it is for a string, as an expression for all else.
func (v *Variable) parse(text, origin string) (cty.Value, error) {
	if v.Type.IsPrimitiveType() || v.Type == cty.DynamicPseudoType {
		return cty.StringVal(text), nil
	}
	expr, problems := hclsyntax.ParseExpression([]byte(text), "value of "+v.Name+" from "+origin, hcl.InitialPos)
	if err := diag.OfHCL(problems, `variable "`+v.Name+`"`); err != nil {
		return cty.NilVal, err
	}
	value, problems := expr.Value(nil)
	return value, diag.OfHCL(problems, `variable "`+v.Name+`"`)
}
