package main

import (
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
)

// settingFlags are the settings of a workspace, as the command line has them.
type settingFlags struct {
	tool, version, directory, pool, autoApply, minSandbox, gate    string
	outputs, reads                                                 []string
	parallelism, approvals                                         int
	planTimeout, applyTimeout, planGrace, applyGrace, planTTL, ttl time.Duration
	allowAuthor, carry, protected, gateIrreversible                bool
	gateMonthlyCost                                                int64
	gateWhen                                                       string
	approvalsFor                                                   map[string]int
	approversFor                                                   []string
}

func (f *settingFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "opentofu, terraform, terragrunt or engine (default of a new one: opentofu)")
	flags.StringVar(&f.version, "version", "", `of the tool: a constraint such as 1.12.6 or ">= 1.9, < 2.0"`)
	flags.StringVar(&f.directory, "directory", "", "within the configuration, where the tool is run")
	flags.StringVar(&f.pool, "pool", "", "of the agents that run it (default: the server itself)")
	flags.IntVar(&f.parallelism, "parallelism", 0,
		"how many resources the tool works on at once (default: the tool's own)")
	flags.StringSliceVar(&f.outputs, "output", nil, "names of outputs that an apply has to leave behind")
	flags.StringSliceVar(&f.reads, "reads", nil,
		`patterns of the states whose outputs runs may read, such as "prod/network,shared/*"`)
	flags.StringVar(&f.autoApply, "auto-apply", "", "never, no-changes or always")
	flags.IntVar(&f.approvals, "approvals", 0, "how many people must approve a plan")
	flags.BoolVar(&f.allowAuthor, "allow-author", false, "who asked for a run may approve it")
	flags.BoolVar(&f.carry, "carry-approvals", false, "approvals count for a later plan with equal changes")
	flags.StringVar(&f.gate, "gate", "",
		"none, critical or high: with such a finding a plan waits for somebody who may approve")
	flags.BoolVar(&f.gateIrreversible, "gate-irreversible", false, "so does a plan with a change that can't be undone")
	flags.Int64Var(&f.gateMonthlyCost, "gate-monthly-cost", 0,
		"and a plan that costs more dollars a month than that more than before (0: none)")
	flags.StringVar(&f.gateWhen, "gate-when", "", "and a plan of which this holds, such as 'facts.delete > 5 || cost.delta > 100'; "+
		"empty for none")
	flags.StringToIntVar(&f.approvalsFor, "approvals-for", nil, "how many people must approve a plan that is held, by what "+
		"holds it: critical, findings, rules, irreversible, cost, condition, policies, unread; 0 for no such number")
	flags.StringArrayVar(&f.approversFor, "approvers-for", nil, "whose yes counts for a plan that is held, as KIND=ID of a key "+
		"or a rule, or KIND=ID/SUBJECT; may be given more than once, KIND= for everybody who may approve")
	flags.BoolVar(&f.protected, "protect", false, "refuse to destroy what it manages")
	flags.StringVar(&f.minSandbox, "min-sandbox", "", "none, weak, landlock or namespaces: the least that a run starts with")
	flags.DurationVar(&f.planTimeout, "plan-timeout", 0, "how long a plan may take")
	flags.DurationVar(&f.applyTimeout, "apply-timeout", 0, "how long an apply may take")
	flags.DurationVar(&f.planGrace, "plan-grace", 0, "how long a cancelled plan may take to end")
	flags.DurationVar(&f.applyGrace, "apply-grace", 0, "how long a cancelled apply may take to end")
	flags.DurationVar(&f.planTTL, "plan-ttl", 0, "how long a plan may be applied")
	flags.DurationVar(&f.ttl, "approval-ttl", 0, "how long an approval counts")
}

// change has the settings that the command line names.
func (f *settingFlags) change(cmd *cobra.Command) (c api.WorkspaceChange) {
	given(cmd, "tool", &c.Tool, f.tool)
	given(cmd, "version", &c.Version, f.version)
	given(cmd, "directory", &c.Directory, f.directory)
	given(cmd, "pool", &c.Pool, f.pool)
	given(cmd, "parallelism", &c.Parallelism, f.parallelism)
	given(cmd, "output", &c.Outputs, f.outputs)
	given(cmd, "reads", &c.Reads, f.reads)
	given(cmd, "auto-apply", &c.AutoApply, f.autoApply)
	given(cmd, "approvals", &c.Approvals, f.approvals)
	given(cmd, "allow-author", &c.AllowAuthor, f.allowAuthor)
	given(cmd, "carry-approvals", &c.CarryApprovals, f.carry)
	given(cmd, "gate", &c.Gate, f.gate)
	given(cmd, "gate-irreversible", &c.GateIrreversible, f.gateIrreversible)
	given(cmd, "gate-monthly-cost", &c.GateMonthlyCost, f.gateMonthlyCost)
	given(cmd, "gate-when", &c.GateWhen, f.gateWhen)
	maps.DeleteFunc(f.approvalsFor, func(_ string, n int) bool { return n == 0 })
	given(cmd, "approvals-for", &c.ApprovalsFor, f.approvalsFor)
	given(cmd, "approvers-for", &c.ApproversFor, byKind(f.approversFor))
	given(cmd, "protect", &c.Protected, f.protected)
	given(cmd, "min-sandbox", &c.MinSandbox, f.minSandbox)
	given(cmd, "plan-timeout", &c.PlanTimeout, whole(f.planTimeout))
	given(cmd, "apply-timeout", &c.ApplyTimeout, whole(f.applyTimeout))
	given(cmd, "plan-grace", &c.PlanGrace, whole(f.planGrace))
	given(cmd, "apply-grace", &c.ApplyGrace, whole(f.applyGrace))
	given(cmd, "plan-ttl", &c.PlanTTL, whole(f.planTTL))
	given(cmd, "approval-ttl", &c.ApprovalTTL, whole(f.ttl))
	return c
}

// byKind has what is given as KIND=ONE by its kind.
func byKind(given []string) map[string][]string {
	all := map[string][]string{}
	for _, text := range given {
		if kind, one, _ := strings.Cut(text, "="); one != "" || !strings.Contains(text, "=") {
			all[kind] = append(all[kind], one)
		}
	}
	return all
}

// whole is a time in seconds.
func whole(d time.Duration) int64 { return int64(d / time.Second) }

// given sets a member whose flag is on the command line.
func given[T any](cmd *cobra.Command, flag string, to **T, value T) {
	if cmd.Flags().Changed(flag) {
		*to = &value
	}
}

// anySetting reports whether a change names a setting.
func anySetting(c api.WorkspaceChange) bool { return c != (api.WorkspaceChange{}) }
