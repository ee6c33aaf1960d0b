package workspace_test

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/workspace"
)

// A value is hostile: none may end the server's stack or keep it computing.
func TestHCLValuesAreConstants(t *testing.T) {
	limits := workspace.Limits{ValueBytes: 256 << 10}
	check := func(value string) error {
		key := workspace.Key{Kind: workspace.TerraformVariable, Name: "v"}
		return workspace.Value{Key: key, HCL: true, Value: value}.Check(limits)
	}
	list := "[" + strings.Repeat("0, ", 200) + "0]"
	for name, value := range map[string]string{
		"parentheses": strings.Repeat("(", 200<<10),
		"lists":       strings.Repeat("[", 100<<10) + strings.Repeat("]", 100<<10),
		"objects":     strings.Repeat("{a=", 50<<10) + "1" + strings.Repeat("}", 50<<10),
		"signs":       strings.Repeat("-", 200<<10) + "1",
		"spaced":      strings.Repeat("- ", 100<<10) + "1",
		"nots":        strings.Repeat("!", 200<<10) + "true",
		"choices":     strings.Repeat("true?", 20<<10) + "1",
		"sums":        "1" + strings.Repeat("+1", 100<<10),
		"differences": "1" + strings.Repeat("-1", 100<<10),
		"templates":   strings.Repeat(`"${`, 50<<10),
		"indexes":     "[1]" + strings.Repeat("[0]", 60<<10),
		"loops":       strings.Repeat("[for a in "+list+": ", 4) + "0" + strings.Repeat("]", 4),
		"loops apart": "[\n# a\nfor a in " + list + ": 0]",
		"splats":      list + ".*",
	} {
		if err := check(value); !fault.Is(err, fault.VariableHCL) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, value := range []string{
		"1", "-1.5e3", "[-1, -2, -3]", "true", "null", `"a-b"`, "{a = 1, \"b c\" = [2], for_each = \"x\"}",
		"{\n  a : 1 # one\n  b = {}\n}\n",
		"<<EOT\nsome ? text + more\nEOT\n", `["${"$"}{x}"]`[:0] + `["$${x}"]`, strings.Repeat("[", 90) +
			strings.Repeat("]", 90),
	} {
		if err := check(value); err != nil {
			t.Errorf("%q: %v", value, err)
		}
	}
}
