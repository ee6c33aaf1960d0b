package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/hooks"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/facts"
)

// envPolicyWebhook has the address of a policy webhook. Arguments are shown to all who may list processes.
const envPolicyWebhook = "HOLDFAST_POLICY_WEBHOOK"

// hookFlags adds the flags of what stands between a plan and its apply.
func (f *engineFlags) hookFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.webhook, "policy-webhook", "",
		"ask this address whether a plan may be applied; one with a secret in it belongs in "+envPolicyWebhook)
	cmd.Flags().BoolVar(&f.webhookOpen, "policy-webhook-open", false, "apply also if nobody answers there")
	cmd.Flags().StringArrayVar(&f.policies, "policy", nil,
		"a folder with policies in Rego, as insight has them: a plan with a grave finding is none")
}

// policyWebhook is the address of the policy webhook; empty without any.
func (f *engineFlags) policyWebhook(a *app) string {
	return cmp.Or(f.webhook, a.getenv(envPolicyWebhook))
}

// hooks are those that the flags name.
func (f *engineFlags) hooks(a *app) (all []engine.Hooks) {
	if address := f.policyWebhook(a); address != "" {
		all = append(all, (&hooks.Webhook{URL: address, Open: f.webhookOpen}).Hooks())
	}
	if len(f.policies) > 0 {
		all = append(all, engine.Hooks{AfterPlan: func(ctx context.Context, p *plan.Plan) error {
			return a.followPolicies(ctx, p, f.policies)
		}})
	}
	return all
}

// followPolicies shows a plan to policies, says what they find, and fails if they find what is grave.
func (a *app) followPolicies(ctx context.Context, p *plan.Plan, paths []string) error {
	text, err := p.JSON()
	if err != nil {
		return err
	}
	insights, options, err := a.insightOptions(insightFlags{policies: paths})
	if err != nil {
		return err
	}
	planned, err := facts.ReadBytes(text, facts.Limits{Whole: true})
	if err != nil {
		return err
	}
	found, err := insights.Of(ctx, planned, options)
	if err != nil {
		return err
	}
	grave := 0
	for _, finding := range found.Findings {
		fmt.Fprintf(a.stderr, "%s: %s: %s\n", finding.Severity, finding.Resource, finding.Title)
		if insight.Grave(finding, "high") {
			grave++
		}
	}
	if grave > 0 || len(found.Broken) > 0 {
		return &diag.Error{Category: diag.Planning, Summary: fmt.Sprintf("the policies find %d grave faults in the plan, and %d "+
			"policies could not be asked", grave, len(found.Broken))}
	}
	return nil
}

func newEngineDrift(a *app, f *engineFlags) *cobra.Command {
	var ignore []string
	cmd := &cobra.Command{
		Use:   "drift",
		Short: "Say what was changed outside, without a lock and without changing anything",
		Long: `Read the objects that the state has and say which were changed outside. Nothing is locked or changed. Exits
with 2 if something was.`,
		Example: "  holdfast engine drift --ignore updated_at",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := f.open(a)
			if err != nil {
				return engineError(err)
			}
			d := hooks.Drift{Engine: e, Ignore: map[string][]string{"*": ignore}}
			report, err := d.Look(cmd.Context())
			if err != nil {
				return engineError(err)
			}
			if f.asJSON {
				err = json.NewEncoder(a.stdout).Encode(report)
			} else {
				for _, r := range report.Drifted {
					fmt.Fprintf(a.stdout, "%s %s %v\n", r.Address, r.Action, r.Attributes)
				}
			}
			if err == nil && len(report.Drifted) > 0 {
				err = exitCode(2)
			}
			return err
		},
	}
	f.inputFlags(cmd)
	cmd.Flags().StringArrayVar(&ignore, "ignore", nil, "an attribute that doesn't count; several can be given")
	addJSONFlag(cmd, &f.asJSON)
	return cmd
}
