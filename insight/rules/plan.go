package rules

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"golang.org/x/sync/errgroup"

	"github.com/holdfast/holdfast/insight/facts"
)

// batch is how many resources are shown to a rule at once that looks at each by itself.
const batch = 500

// Ask asks all rules about a plan. Who has Set of their own gives the plan's whole JSON too, masked,
// for policies that look at all of it. The error is the context's, or of a plan that is none.
func (s *Set) Ask(ctx context.Context, p *facts.Plan) ([]Finding, []Broken, error) {
	a, err := s.asking(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer a.close(ctx)
	to := &answer{}
	if s.whole {
		err = a.askWhole(ctx, p, to)
	} else {
		err = a.askEach(ctx, p, to)
	}
	return to.findings, onlyOnce(to.broken), err
}

// onlyOnce leaves each broken rule in the list once, by its name: not in the order in which they were asked.
func onlyOnce(list []Broken) []Broken {
	slices.SortStableFunc(list, func(a, b Broken) int { return cmp.Compare(a.Rule, b.Rule) })
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(b Broken) bool {
		again := seen[b.Rule]
		seen[b.Rule] = true
		return again
	})
}

func (a *asking) askWhole(ctx context.Context, p *facts.Plan, to *answer) error {
	input, err := ast.ValueFromReader(bytes.NewReader(p.Whole))
	if err != nil {
		return fmt.Errorf("the plan cannot be shown to policies: %w", err)
	}
	for _, rule := range a.set.rules {
		if err := a.ask(ctx, rule, ast.NewTerm(input), to); err != nil {
			return err
		}
	}
	return nil
}

// askers is how many ask rules about resources of one plan at once, of which each asks some of the rules.
const askers = 2

// askEach shows the resources to the rules of their types, some at a time, so that not all of a
// large plan is there in the form that rules see. Rules see the same terms side by side, which nothing may change: one
// that evaluates something `with input` replaced must not be asked so.
func (a *asking) askEach(ctx context.Context, p *facts.Plan, to *answer) error {
	known, made := a.ofTypes(), newTerms()
	broken := make([]bool, len(a.set.rules))
	shown := map[string][]*ast.Term{}
	n := 0
	flush := func() error {
		err := a.askTypes(ctx, known, shown, broken, to)
		clear(shown)
		n = 0
		return err
	}
	for _, change := range p.Changes {
		if len(known[change.Type]) == 0 || !change.Stays() {
			continue
		}
		term, err := made.change(change)
		if err != nil {
			return err
		}
		shown[change.Type] = append(shown[change.Type], term)
		if n++; n >= batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// ofTypes are the rules that look at resources of each type, by their places.
func (a *asking) ofTypes() map[string][]int {
	known := map[string][]int{}
	for i, rule := range a.set.rules {
		for _, name := range rule.Types {
			known[name] = append(known[name], i)
		}
	}
	return known
}

// askTypes asks the rules of these resources' types. A rule that broke is not asked again: it is
// reported already.
func (a *asking) askTypes(ctx context.Context, known map[string][]int, shown map[string][]*ast.Term,
	broken []bool, to *answer) error {
	asked := map[int][]*ast.Term{}
	for name, terms := range shown {
		for _, i := range known[name] {
			asked[i] = append(asked[i], terms...)
		}
	}
	places := slices.DeleteFunc(slices.Sorted(maps.Keys(asked)), func(i int) bool { return broken[i] })
	answers := make([]answer, askers)
	group, groupCtx := errgroup.WithContext(ctx)
	for first := range askers {
		group.Go(func() error {
			for k := first; k < len(places); k += askers {
				if err := a.askOne(groupCtx, places[k], asked[places[k]], broken, &answers[first]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	for _, one := range answers {
		to.findings, to.broken = append(to.findings, one.findings...), append(to.broken, one.broken...)
	}
	return err
}

// askOne asks the rule at a place about resources, and notes there whether it broke.
func (a *asking) askOne(ctx context.Context, i int, resources []*ast.Term, broken []bool, to *answer) error {
	input := ast.ObjectTerm([2]*ast.Term{ast.StringTerm("resource_changes"), ast.ArrayTerm(slices.Clip(resources)...)})
	before := len(to.broken)
	err := a.ask(ctx, a.set.rules[i], input, to)
	broken[i] = len(to.broken) > before
	return err
}

// change is a change as built-in rules see it: as the tools write it, without what was before.
func (t *terms) change(c facts.Change) (*ast.Term, error) {
	after, err := t.of(c.After)
	if err != nil {
		return nil, err
	}
	unknown, err := t.of(c.Unknown)
	if err != nil {
		return nil, err
	}
	actions := make([]*ast.Term, len(c.Actions))
	for i, action := range c.Actions {
		actions[i] = t.text([]byte(action))
	}
	text := func(name, value string) [2]*ast.Term {
		return [2]*ast.Term{t.text([]byte(name)), t.text([]byte(value))}
	}
	value := func(name string, value *ast.Term) [2]*ast.Term { return [2]*ast.Term{t.text([]byte(name)), value} }
	return ast.ObjectTerm(
		value("address", ast.StringTerm(c.Address)), text("mode", c.Mode), text("type", c.Type), text("name", c.Name),
		value("change", ast.ObjectTerm(value("actions", ast.ArrayTerm(actions...)), value("after", after),
			value("after_unknown", unknown))),
	), nil
}
