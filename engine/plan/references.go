package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/eval"
)

// CheckReferences fails for the first variable or local value that a configuration refers to and doesn't have. Nothing
// is evaluated for it, so that it needs neither values nor providers.
func CheckReferences(m *config.Module) error {
	for _, r := range m.SortedResources() {
		all := slices.Concat(bodyTraversals(r.Body), variables(r.Count, r.ForEach))
		for _, c := range slices.Concat(r.Lifecycle.Preconditions, r.Lifecycle.Postconditions) {
			all = append(all, variables(c.Condition, c.Message)...)
		}
		if err := defined(m, r.Construct(), all); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.Providers)) {
		if err := defined(m, fmt.Sprintf("provider %q", key), bodyTraversals(m.Providers[key].Body)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Locals)) {
		if err := defined(m, fmt.Sprintf("local %q", name), m.Locals[name].Expr.Variables()); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Outputs)) {
		if err := defined(m, fmt.Sprintf("output %q", name), m.Outputs[name].Expr.Variables()); err != nil {
			return err
		}
	}
	for _, call := range m.SortedCalls() {
		all := slices.Concat(bodyTraversals(call.Body), variables(call.Count, call.ForEach))
		if err := defined(m, fmt.Sprintf("module %q", call.Name), all); err != nil {
			return err
		}
		if err := CheckReferences(call.Module); err != nil {
			return err
		}
	}
	return nil
}

// defined wants a module to have what references of one construct name. The first one in its file is told.
func defined(m *config.Module, construct string, references []hcl.Traversal) error {
	slices.SortStableFunc(references, func(a, b hcl.Traversal) int {
		return cmp.Compare(a.SourceRange().Start.Byte, b.SourceRange().Start.Byte)
	})
	for _, t := range references {
		if err := eval.Undefined(m, t, construct); err != nil {
			return err
		}
	}
	return nil
}
