package rules

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// asking is one round of questions about one plan.
type asking struct {
	set   *Set
	store storage.Store
	txn   storage.Transaction
}

func (s *Set) asking(ctx context.Context) (*asking, error) {
	store := inmem.New()
	txn, err := store.NewTransaction(ctx)
	return &asking{s, store, txn}, err
}

func (a *asking) close(ctx context.Context) { a.store.Abort(ctx, a.txn) }

// errSlow is of a rule that took longer than it may.
var errSlow = errors.New("slow")

// value asks for one name. It is nil for a name that has no value for this input.
func (a *asking) value(ctx context.Context, q query, input *ast.Term) (ast.Value, error) {
	cancel := topdown.NewCancel()
	timer := time.AfterFunc(a.set.limits.Rule, cancel.Cancel)
	defer timer.Stop()
	stop := context.AfterFunc(ctx, cancel.Cancel)
	defer stop()
	greedy := watch(a.set.limits.Bytes, cancel.Cancel)
	defer greedy.stop()
	results, err := topdown.NewQuery(q.body).WithCompiler(a.set.compiler).WithStore(a.store).WithTransaction(a.txn).
		WithCancel(cancel).WithInput(input).Run(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case greedy.found():
		return nil, errGreedy
	case cancel.Cancelled():
		return nil, errSlow
	case err != nil:
		return nil, err
	case len(results) == 0:
		return nil, nil
	}
	return results[0]["result"].Value, nil
}

// answer is what a rule has said.
type answer struct {
	findings []Finding
	broken   []Broken
}

// ask asks a rule about an input. The error is the context's: nobody waits for the answer any more.
func (a *asking) ask(ctx context.Context, c compiled, input *ast.Term, to *answer) error {
	excepted, err := a.excepted(ctx, c, input)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		to.broken = append(to.broken, Broken{c.ID, a.explain(err)})
	}
	for _, q := range c.queries {
		if excepted[withoutVerdict(q.name)] {
			continue
		}
		value, err := a.value(ctx, q, input)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			err = a.collect(c.Rule, q, value, to)
		}
		if err != nil {
			to.broken = append(to.broken, Broken{c.ID, a.explain(err)})
		}
	}
	return nil
}

// excepted are the rules that a package makes exceptions of for an input, by conftest's conventions: the names in the
// lists that exception has, without deny_, violation_ and warn_.
func (a *asking) excepted(ctx context.Context, c compiled, input *ast.Term) (map[string]bool, error) {
	if c.exception == nil {
		return nil, nil
	}
	value, err := a.value(ctx, *c.exception, input)
	if err != nil || value == nil {
		return nil, err
	}
	names := map[string]bool{}
	each := func(of ast.Value, visit func(*ast.Term)) {
		switch of := of.(type) {
		case ast.Set:
			of.Foreach(visit)
		case *ast.Array:
			of.Foreach(visit)
		case ast.Object:
			of.Foreach(func(_, value *ast.Term) { visit(value) })
		}
	}
	each(value, func(list *ast.Term) {
		each(list.Value, func(name *ast.Term) {
			if text, ok := name.Value.(ast.String); ok {
				names[string(text)] = true
			}
		})
	})
	return names, nil
}

// explain is an error in words that carry no value out of a plan: only where it happened.
func (a *asking) explain(err error) string {
	if errors.Is(err, errSlow) {
		return fmt.Sprintf("it took longer than %s", a.set.limits.Rule)
	}
	if errors.Is(err, errGreedy) {
		return "it took more memory than a rule may"
	}
	if bad, ok := errors.AsType[*topdown.Error](err); ok && bad.Location != nil {
		return fmt.Sprintf("%s in %s, line %d", bad.Code, bad.Location.File, bad.Location.Row)
	}
	if bad, ok := errors.AsType[resultError](err); ok {
		return string(bad)
	}
	return "it failed"
}

// resultError is of an answer that is no finding.
type resultError string

func (e resultError) Error() string { return string(e) }

// collect makes findings of what a rule has said.
func (a *asking) collect(rule Rule, q query, value ast.Value, to *answer) error {
	n := 0
	add := func(term *ast.Term) error {
		if n++; n > a.set.limits.Findings {
			return resultError(fmt.Sprintf("%s has more than %d findings", q.name, a.set.limits.Findings))
		}
		finding, err := findingOf(rule, q, term.Value)
		if err == nil {
			to.findings = append(to.findings, finding)
		}
		return err
	}
	switch value := value.(type) {
	case nil:
		return nil
	case ast.Set:
		return value.Iter(add)
	case *ast.Array:
		return value.Iter(add)
	case ast.Boolean:
		if !bool(value) {
			return nil
		}
		return add(ast.StringTerm(rule.Title))
	case ast.String:
		return add(ast.NewTerm(value))
	}
	return resultError(q.name + " is neither a set, nor a list, a text or a boolean")
}

// findingOf reads a finding: a text, or an object with a msg, as conftest has them.
func findingOf(rule Rule, q query, value ast.Value) (Finding, error) {
	f := Finding{Rule: rule, Severity: rule.Severity, Recommendation: rule.Recommendation, Denies: q.denies()}
	if f.Severity == "" {
		f.Severity = q.severity
	}
	switch value := value.(type) {
	case ast.String:
		f.Message = string(value)
	case ast.Object:
		read := func(into *string, names ...string) {
			for _, name := range names {
				if term := value.Get(ast.StringTerm(name)); term != nil {
					if text, ok := term.Value.(ast.String); ok && text != "" {
						*into = string(text)
						return
					}
				}
			}
		}
		read(&f.Message, "msg", "message")
		read(&f.Resource, "resource", "address")
		read(&f.Recommendation, "recommendation")
		severity := ""
		if read(&severity, "severity"); AtLeast(severity, Low) {
			f.Severity = severity
		}
		if details, ok := detailsOf(value); ok && f.Resource == "" {
			f.Resource = details
		}
	}
	if f.Message == "" {
		return f, resultError(q.name + " has a value that is neither a text nor an object with a msg")
	}
	return f, nil
}

// detailsOf is the resource of a finding that has it among its details, as Gatekeeper's have.
func detailsOf(value ast.Object) (resource string, ok bool) {
	details := value.Get(ast.StringTerm("details"))
	if details == nil {
		return "", false
	}
	object, isObject := details.Value.(ast.Object)
	if !isObject {
		return "", false
	}
	if term := object.Get(ast.StringTerm("resource")); term != nil {
		text, isText := term.Value.(ast.String)
		return string(text), isText
	}
	return "", false
}
