package rules

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// What conftest lets pass by a package's exception is no finding; rules of other packages and other names are.
func TestExceptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"excepted": {`package a
			deny_public_bucket contains "d" if true
			violation_public_bucket contains "v" if true
			warn_other contains "w" if true
			exception contains ["public_bucket"] if input.legacy`, []string{"w"}},
		"not for this input": {`package a
			deny_public_bucket contains "d" if true
			exception contains ["public_bucket"] if input.new`, []string{"d"}},
		"version 0": {`package a
			deny_x[msg] { msg := "d" }
			deny_y[msg] { msg := "e" }
			exception[rules] { rules := ["x"] }`, []string{"e"}},
		"deny alone": {`package a
			deny contains "d" if true
			exception contains [""] if true`, nil},
	} {
		set, err := CompileSources(map[string]string{"a.rego": c.source, "b.rego": `package b
			exception contains ["y", "other"] if true`}, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, err := set.asking(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got answer
		input := ast.NewTerm(ast.MustInterfaceToValue(map[string]any{"legacy": true}))
		for _, rule := range set.rules {
			if err := a.ask(t.Context(), rule, input, &got); err != nil {
				t.Fatal(err)
			}
		}
		a.close(t.Context())
		if len(got.broken) > 0 || len(got.findings) != len(c.want) {
			t.Fatalf("%s: %+v", name, got)
		}
		for i, f := range got.findings {
			if f.Message != c.want[i] {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}
