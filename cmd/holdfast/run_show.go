package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

const exampleRun = "01JD8X6Q4ZK4T1M5S0R9V7E2WB"

func newRunShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.ofRun(&cobra.Command{
		Use:   "show",
		Short: "Show what is known of a run",
		Long: "Show what is known of a run: where it is and why, what its plan was made of, who approved it,\nwhat its " +
			"tool has found fault with.",
		Example: "  holdfast run show " + exampleRun + "\n  holdfast run show " + exampleRun + " --json | jq .pin",
	}, func(ctx context.Context, c *client.Client, id string) error {
		run, err := c.Run(ctx, id)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, run)
		}
		return a.showFacts(runFacts(run))
	})
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	return cmd
}

// runFacts are what people want to know of a run.
func runFacts(r api.Run) [][2]string {
	facts := [][2]string{
		{"run", r.ID}, {"workspace", r.Workspace}, {"kind", r.Kind}, {"status", r.Status}, {"phase", r.Phase},
		{"why", r.Reason},
		{"message", r.Message}, {"by", whose(r.Trigger)}, {"retry of", r.RetryOf}, {"follows", r.Follows},
		{"followed by", r.FollowedBy}, {"attempt", fmt.Sprint(r.Attempt)},
		{"configuration", r.Snapshot}, {"targets", strings.Join(r.Targets, ", ")},
		{"replaces", strings.Join(r.Replace, ", ")},
	}
	facts = append(facts, planFacts(r)...)
	if e := r.Executor; e != nil {
		facts = append(facts, [2]string{"executor", named(e.Agent, e.Name)}, [2]string{"sandbox", sandboxOf(e.Sandbox)})
	}
	if r.Cancel != nil {
		facts = append(facts, [2]string{"cancelled",
			fmt.Sprintf("%s, by %s, %s", r.Cancel.Level, whose(r.Cancel.By), showTime(r.Cancel.At))})
	}
	for _, f := range r.InFlight {
		facts = append(facts, [2]string{"in flight", f.Address + " (" + f.Action + ", since " + showTime(f.Since) + ")"})
	}
	for _, d := range r.Diagnostics {
		facts = append(facts, [2]string{d.Severity, diagnosticOf(d)})
	}
	facts = append(facts, [2]string{"created", showTime(r.CreatedAt)}, [2]string{"planned", showTimeOr(r.PlannedAt)},
		[2]string{"decided", showTimeOr(r.DecidedAt)}, [2]string{"applied", showTimeOr(r.AppliedAt)},
		[2]string{"finished", showTimeOr(r.FinishedAt)})
	for _, p := range r.Phases {
		facts = append(facts, [2]string{"phase " + p.Phase,
			fmt.Sprintf("%s in %.1f s (attempt %d)%s", p.Outcome, p.Seconds, p.Attempt, workOf(p.Work))})
		for _, slow := range p.Slowest {
			facts = append(facts, [2]string{"",
				fmt.Sprintf("%s %s took %.1f s", slow.Action, slow.Address, slow.Seconds)})
		}
	}
	return facts
}

// workOf says how many resources a phase was at work on.
func workOf(w api.Work) string {
	if w.Resources == 0 {
		return ""
	}
	text := fmt.Sprintf(": %d resources", w.Resources)
	if w.PerSecond > 0 {
		text += fmt.Sprintf(", %.1f a second", w.PerSecond)
	}
	return text
}

// planFacts are about the run's plan and who decided on it.
func planFacts(r api.Run) (facts [][2]string) {
	if r.Counts != nil {
		facts = append(facts, [2]string{"changes", countsOf(*r.Counts)})
	}
	if p := r.Pin; p != nil {
		facts = append(facts, [2]string{"plan digest", p.Digest},
			[2]string{"planned on", fmt.Sprintf("version %d of the state, serial %d", p.State.Version, p.State.Serial)},
			[2]string{"tool", p.Tool.Name + " " + p.Tool.Version}, [2]string{"not verified", strings.Join(p.Unchecked, ", ")})
	}
	if r.Stale != nil {
		facts = append(facts, [2]string{"stale since", showTime(r.Stale.Since) + ", because of " + r.Stale.Because})
	}
	for _, g := range r.Gates {
		facts = append(facts, [2]string{"waits for a person", g.Reason})
		for _, detail := range g.Details {
			facts = append(facts, [2]string{"", detail})
		}
	}
	for _, d := range r.Approvals {
		said := map[bool]string{true: "approved", false: "denied"}[d.Approved]
		facts = append(facts, [2]string{said,
			strings.TrimSpace(fmt.Sprintf("by %s, %s %s", whose(d.By), showTime(d.At), d.Reason))})
	}
	if r.Needed > 0 {
		facts = append(facts, [2]string{"approvals needed", fmt.Sprint(r.Needed)})
	}
	if r.After > 0 {
		facts = append(facts, [2]string{"state after", fmt.Sprintf("version %d", r.After)})
	}
	return facts
}

func sandboxOf(s *api.Sandbox) string {
	if s == nil {
		return ""
	}
	return strings.TrimSuffix(s.Level+", network "+s.Network+"; "+strings.Join(s.Why, "; "), "; ")
}

func diagnosticOf(d api.Diagnostic) string {
	text := d.Summary
	if d.File != "" {
		text += fmt.Sprintf(" (%s:%d)", d.File, d.Line)
	}
	if d.Address != "" {
		text += ", " + d.Address
	}
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	return text
}

func newRunEventsCommand(a *app) *cobra.Command {
	var asJSON bool
	var limit int
	cmd := a.ofRun(&cobra.Command{
		Use:     "events",
		Short:   "Show what happened to a run, in order",
		Long:    "Show what happened to a run, in order: who did what, and what became of it.",
		Example: "  holdfast run events " + exampleRun + "\n  holdfast run events " + exampleRun + " --json | jq -r .type",
	}, func(ctx context.Context, c *client.Client, id string) error {
		if err := checkLimit(limit); err != nil {
			return err
		}
		return showList(ctx, a, c.RunEvents(id, limit), limit, asJSON, []column[api.RunEvent]{
			{"AT", firm, func(e api.RunEvent) string { return a.tableTime(e.At) }},
			{"WHAT", always, func(e api.RunEvent) string { return e.Type }},
			{"STATUS", filled, func(e api.RunEvent) string { return e.To }},
			{"BY", always, func(e api.RunEvent) string { return whose(e.By) }},
			{"NOTE", filled, func(e api.RunEvent) string { return e.Note }},
		})
	})
	addLimitFlag(cmd, &limit, 0)
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func newRunOutputsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.ofRun(&cobra.Command{
		Use:   "outputs",
		Short: "Show the outputs that a run has left behind",
		Long: "Show the outputs that a run's apply has left behind: those that the workspace declares, or all\nwhere it " +
			"declares none. Sensitive values are masked, and values are for keys with the right state:outputs.",
		Example: "  holdfast run outputs " + exampleRun + "\n  holdfast run outputs " + exampleRun +
			" --json | jq '.outputs[] | {(.name): .value}'",
	}, func(ctx context.Context, c *client.Client, id string) error {
		outputs, err := c.RunOutputs(ctx, id)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, outputs)
		}
		return a.showRunOutputs(outputs)
	})
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	return cmd
}

func (a *app) showRunOutputs(all api.RunOutputs) error {
	var facts [][2]string
	for _, o := range all.Outputs {
		value := compacted(o.Value)
		if o.Sensitive {
			value = "(sensitive)"
		} else if o.Withheld {
			value = "(only for keys with state:outputs)"
		}
		facts = append(facts, [2]string{o.Name, value})
	}
	for _, name := range all.Missing {
		facts = append(facts, [2]string{name, "(declared, but not there)"})
	}
	return a.showFacts(facts)
}
