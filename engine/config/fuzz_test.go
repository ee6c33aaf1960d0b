package config

import (
	"testing"

	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

func fuzzFormat(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		body, err := parse(hclparse.NewParser(), name, text)
		if err != nil {
			return
		}
		_ = newModule(t.TempDir(), nil).read(body) // an error is fine, a panic isn't
	})
}

func FuzzHCL(f *testing.F) {
	fuzzseeds.Add(f)
	fuzzFormat(f, "main.tf", "variable \"a\" {\n  type = object({ b = optional(string, \"c\") })\n  default = {}\n}\n",
		"resource \"a_b\" \"c\" {\n  count = 2\n  lifecycle {\n    ignore_changes = all\n  }\n}\n",
		"moved {\n  from = a.b\n  to = module.c[\"d\"].a.b\n}\n",
		"terraform {\n  required_providers {\n    a = { source = \"b/a\" }\n  }\n}\n")
}

func FuzzJSON(f *testing.F) {
	fuzzseeds.Add(f)
	fuzzFormat(f, "main.tf.json", `{"variable":{"a":{"type":"string","default":"b"}}}`,
		`{"resource":{"a_b":{"c":{"count":2,"lifecycle":{"ignore_changes":["x"]}}}}}`)
}

func FuzzYAML(f *testing.F) {
	fuzzseeds.Add(f)
	fuzzFormat(f, "main.tf.yaml", "variable:\n  a:\n    default: b\n", "locals:\n  x: ${1 + 2}\n")
}
