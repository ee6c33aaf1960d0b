package insight

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/insight/rules"
)

// maxFindings is how many findings are listed, the gravest first.
const maxFindings = 5000

// Engine makes insights. It never changes, and may be used by several at once.
type Engine struct {
	builtin *rules.Set
	secrets *rules.Secrets
	prices  *cost.Sheet
}

// NewEngine compiles the built-in rules and reads the price sheet that comes with the program.
func NewEngine(limits rules.Limits) (*Engine, error) {
	builtin, err := rules.Builtin(limits)
	if err != nil {
		return nil, err
	}
	prices, err := cost.Shipped()
	if err != nil {
		return nil, err
	}
	return &Engine{builtin, rules.NewSecrets(), prices}, nil
}

// WithPrices returns an engine that goes by another price sheet.
func (e *Engine) WithPrices(sheet *cost.Sheet) *Engine {
	return &Engine{e.builtin, e.secrets, sheet}
}

// Rules are all built-in rules, by their identifiers.
func (e *Engine) Rules() []rules.Rule { return append(e.builtin.Rules(), e.secrets.Rules()...) }

// Options are what else an insight is made of.
type Options struct {
	Own     []Own // policies of whoever asks
	Waivers policy.Waivers
	// Narrow are waivers of somebody who may change only some workspaces: they count for no policy that holds for all.
	Narrow policy.Waivers
	Now    time.Time
}

// waived is why a finding is let be, of one of Own or of none; nil where it isn't.
func (o Options) waived(f api.InsightFinding, own int) *api.InsightWaiver {
	by := o.Waivers.Of(f, o.Now)
	if by != nil || own >= 0 && o.Own[own].Bundle != nil && o.Own[own].Bundle.Workspace == "" {
		return by
	}
	return o.Narrow.Of(f, o.Now)
}

// Own is a bundle of policies of whoever asks.
type Own struct {
	Set    *rules.Set         // nil where it has none, or can't be read any more
	Bundle *api.InsightPolicy // what is known of it; nil of a folder
	Broken string             // why it can't be read; empty where it can
}

// name is what findings call the bundle.
func (o Own) name() string {
	if o.Bundle == nil {
		return ""
	}
	if o.Bundle.Workspace != "" {
		return o.Bundle.Workspace + "/" + o.Bundle.Name
	}
	return o.Bundle.Name
}

// Of makes a plan's insight. The error is the context's, or of a plan that policies can't be shown.
func (e *Engine) Of(ctx context.Context, p *facts.Plan, o Options) (api.Insight, error) {
	all := api.Insight{Broken: []api.InsightBroken{}, Reasons: []string{}}
	var asked, secrets []hit
	var cutFacts, cutCosts bool
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		asked, err = e.ask(groupCtx, p, o, &all)
		return err
	})
	group.Go(func() error {
		for _, f := range e.secrets.Find(p) {
			secrets = append(secrets, hit{f, -1})
		}
		all.Facts, cutFacts = facts.Of(p)
		all.Costs, cutCosts = e.prices.Of(p)
		return nil
	})
	if err := group.Wait(); err != nil {
		return api.Insight{}, err
	}
	all.Cut = cutFacts || cutCosts
	all.Findings = findingsOf(p, append(asked, secrets...), o, &all)
	judge(&all, p)
	all.Summary = summary(all)
	return all, nil
}

// hit is a finding of a rule, and which of Options.Own has the rule; -1 for none.
type hit struct {
	rules.Finding
	own int
}

// ask asks all rules, and notes which of them broke.
func (e *Engine) ask(ctx context.Context, p *facts.Plan, o Options, all *api.Insight) (list []hit, err error) {
	digests := []string{e.builtin.Digest()}
	if err := askSet(ctx, p, e.builtin, Own{}, -1, &list, all); err != nil {
		return nil, err
	}
	for i, own := range o.Own {
		if own.Bundle != nil {
			all.Policies = append(all.Policies, *own.Bundle)
		}
		if own.Broken != "" {
			all.Broken = append(all.Broken, api.InsightBroken{Rule: own.name(), Reason: own.Broken, Policy: own.name()})
			noteBroken(all, own)
		}
		if own.Set == nil {
			continue
		}
		if err := askSet(ctx, p, own.Set, own, i, &list, all); err != nil {
			return nil, err
		}
		digests = append(digests, own.Set.Digest())
	}
	all.Rules = strings.Join(digests, ",")
	return list, nil
}

// askSet asks one bundle.
func askSet(ctx context.Context, p *facts.Plan, set *rules.Set, own Own, i int, list *[]hit, all *api.Insight) error {
	findings, broken, err := set.Ask(ctx, p)
	if err != nil {
		return err
	}
	for _, f := range findings {
		*list = append(*list, hit{f, i})
	}
	for _, b := range broken {
		all.Broken = append(all.Broken, api.InsightBroken{Rule: b.Rule, Reason: b.Reason, Policy: own.name()})
		noteBroken(all, own)
	}
	return nil
}

// noteBroken counts a rule that could not be asked for the bundle that was asked last.
func noteBroken(all *api.Insight, own Own) {
	if own.Bundle != nil {
		all.Policies[len(all.Policies)-1].Broken++
	}
}

// findingsOf lists findings, the gravest first, each once.
func findingsOf(p *facts.Plan, list []hit, o Options, all *api.Insight) []api.InsightFinding {
	standing := map[string]bool{}
	for _, change := range p.Changes {
		standing[change.Address] = !change.Does()
	}
	made := make([]api.InsightFinding, 0, len(list))
	place := bundlePlaces(o)
	for _, f := range list {
		one := api.InsightFinding{Rule: f.Rule.ID, Severity: f.Severity, Kind: f.Rule.Kind, Resource: f.Resource,
			Title: f.Rule.Title, Description: f.Message, Recommendation: f.Recommendation, Link: f.Rule.Link,
			Standing: standing[f.Resource]}
		one.Waived = o.waived(one, f.own)
		if f.own >= 0 {
			one.Policy = o.Own[f.own].name()
		}
		if i, ok := place[f.own]; ok && f.Denies && one.Waived == nil && !one.Standing {
			all.Policies[i].Denied++
		}
		made = append(made, one)
	}
	slices.SortStableFunc(made, func(a, b api.InsightFinding) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)), strings.Compare(a.Rule, b.Rule),
			strings.Compare(a.Policy, b.Policy), strings.Compare(a.Resource, b.Resource),
			strings.Compare(a.Description, b.Description))
	})
	return slices.CompactFunc(made, func(a, b api.InsightFinding) bool {
		return a.Rule == b.Rule && a.Policy == b.Policy && a.Resource == b.Resource && a.Description == b.Description
	})
}

// bundlePlaces says where in the list of bundles each of Options.Own is.
func bundlePlaces(o Options) map[int]int {
	places := map[int]int{}
	for i, own := range o.Own {
		if own.Bundle != nil {
			places[i] = len(places)
		}
	}
	return places
}

func rank(severity string) int { return slices.Index(rules.Severities(), severity) }

// Grave reports whether a finding counts against a plan: one of this severity or a graver one, of a
// resource that the plan touches, and that nobody waived.
func Grave(f api.InsightFinding, severity string) bool {
	return f.Waived == nil && !f.Standing && rules.AtLeast(f.Severity, severity)
}

// judge says whether people have to approve, and lists what is to be shown.
func judge(all *api.Insight, p *facts.Plan) {
	all.Security.Issues = []api.InsightIssue{}
	grave := 0
	for _, f := range all.Findings {
		if Grave(f, rules.High) {
			grave++
		}
		if f.Waived == nil && !f.Standing && len(all.Security.Issues) < maxFindings {
			all.Security.Issues = append(all.Security.Issues, api.InsightIssue{Severity: f.Severity, Resource: f.Resource,
				Description: f.Description, Recommendation: f.Recommendation})
		}
	}
	if len(all.Findings) > maxFindings {
		all.Findings, all.Cut = all.Findings[:maxFindings], true
	}
	because := func(n int, text string) {
		if n > 0 {
			all.Reasons = append(all.Reasons, text)
		}
	}
	because(grave, findingsText(grave, rules.High))
	because(len(all.Broken), brokenText(len(all.Broken)))
	because(len(all.Facts.Irreversible), undoneText(len(all.Facts.Irreversible)))
	if p.Cut {
		all.Cut = true
		all.Reasons = append(all.Reasons, "more changes than are looked at")
	}
	if p.Errored {
		all.Reasons = append(all.Reasons, "planning failed, and not all changes are there")
	}
	all.Unread = p.Cut || p.Errored
	all.Security.ShouldApprove = grave > 0 || len(all.Broken) > 0 || all.Unread
}
