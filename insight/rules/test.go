package rules

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Tested is what became of one of a bundle's tests.
type Tested struct {
	Package string
	Name    string
	Passed  bool
	Reason  string // why it did not
	File    string // where it stands
	Line    int
}

// Test runs the rules of a bundle that are called test_ and something: each passes if it is true.
// The error is the context's.
func (s *Set) Test(ctx context.Context) (list []Tested, err error) {
	a, err := s.asking(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close(ctx)
	for _, c := range s.tests {
		for _, q := range c.queries {
			value, err := a.value(ctx, q, nil)
			if ctx.Err() != nil {
				return list, ctx.Err()
			}
			one := Tested{Package: c.Package, Name: q.name, File: q.file, Line: q.line}
			switch {
			case err != nil:
				one.Reason = a.explain(err)
			case value == nil:
				one.Reason = "it is undefined"
			case value.Compare(ast.Boolean(true)) != 0:
				one.Reason = "it is not true"
			default:
				one.Passed = true
			}
			list = append(list, one)
		}
	}
	return list, nil
}
