package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/enclave/reconcile"
	"github.com/holdfast/holdfast/internal/printable"
)

const enclaveApplyHelp = `

It shows the plan and asks once; elsewhere than on a terminal that needs --auto-approve. A workspace that wants
approvals has its run wait for them: with --wait the reconcile does too, without it goes on when it is begun again. What
fails holds up only what imports from it. Whoever begins again, after a failure or a crash, goes on where it
stopped; where all is as the folder says, nothing is run.`

func newEnclaveApply(a *app) *cobra.Command {
	var f enclaveFlags
	cmd := a.remoteBy(&cobra.Command{
		Use:   "apply DIR",
		Short: "Make each partition as the folder says, in the order of imports",
		Long: `Bring what differs of each partition to the server, as its workspace's configuration and variables, and have it
applied there: partitions after those that they import from, others at once.

With --local the tools run here, in folders below ~/.holdfast/workspaces that have links to DIR's files; states and
locks stay at the server.` + enclaveApplyHelp + enclaveHelp,
		Example: `  holdfast enclave apply .
  holdfast enclave apply . --auto-approve --prune
  holdfast enclave apply . --enclave product-a-dev --local`,
		Args: cobra.ExactArgs(1),
	}, &f.client, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := a.reconciler(c, args[0], f)
		if err != nil {
			return err
		}
		plan, err := r.Plan(ctx)
		if err != nil {
			return err
		}
		if err := a.mayReconcile(ctx, r, plan, f); err != nil {
			return err
		}
		return a.reconcile(ctx, f, r.Apply)
	})
	f.add(cmd)
	f.changes(cmd)
	f.runs(a, cmd)
	return cmd
}

// runs adds the flags that say how runs go.
func (f *enclaveFlags) runs(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.approve, "auto-approve", false, "don't ask")
	flags.BoolVar(&f.wait, "wait", false, "wait until others have approved plans")
	flags.BoolVar(&f.quiet, "quiet", false, "don't show what the tools print")
	flags.IntVar(&f.parallelism, "parallelism", 8, "how many partitions at once")
	a.tableFlags(cmd, &f.asJSON)
}

// mayReconcile shows a plan, and asks. Nothing is asked where there is nothing to do.
func (a *app) mayReconcile(ctx context.Context, r *reconcile.Reconciler, plan []reconcile.Result,
	f enclaveFlags) error {
	if toDo(plan) == 0 || f.approve {
		r.Approve = f.approve
		return nil
	}
	if !a.interactive {
		return usagef("stdin is no terminal to ask on: confirm with --auto-approve")
	}
	if err := a.showReconcile(plan, false); err != nil {
		return err
	}
	if err := a.confirm(ctx, false, "Do this?"); err != nil {
		return err
	}
	r.Approve = true
	return nil
}

// reconcile does something with partitions, and says what has become of each.
func (a *app) reconcile(ctx context.Context, f enclaveFlags,
	do func(context.Context) ([]reconcile.Result, error)) error {
	all, err := do(ctx)
	bad, isBad := errors.AsType[*reconcile.BadError](err)
	if err != nil && !isBad {
		return err
	}
	if isBad {
		all, err = bad.Results, bad
	}
	return errors.Join(a.showReconcile(all, f.asJSON), err)
}

func newEnclaveDestroy(a *app) *cobra.Command {
	var f enclaveFlags
	cmd := a.remoteBy(&cobra.Command{
		Use:   "destroy DIR",
		Short: "Take enclaves away, in the reverse of the order in which they were made",
		Long: `Destroy what partitions have made, in the reverse order of imports, then delete their states and workspaces. Which
enclaves is said with --enclave, or with --all for everything that this set has made, also what DIR no longer has. Where a
workspace among them is protected, or a partition that stays imports from one, nothing is begun.` + enclaveApplyHelp +
			enclaveHelp,
		Example: "  holdfast enclave destroy . --enclave product-a-dev\n  holdfast enclave destroy . --all --auto-approve",
		Args:    cobra.ExactArgs(1),
	}, &f.client, func(ctx context.Context, c *client.Client, args []string) error {
		if (len(f.only) > 0) == f.everything {
			return usagef("say which enclaves: --enclave ID, or --all")
		}
		wanted := f.only
		f.only = nil // an enclave may be gone from the folder
		r, err := a.reconciler(c, args[0], f)
		if err != nil {
			return err
		}
		r.Only = wanted
		plan, err := r.PlanDestroy(ctx)
		if err != nil {
			return err
		}
		if len(plan) == 0 {
			a.note("There is nothing to take away.")
			return nil
		}
		if err := a.mayReconcile(ctx, r, plan, f); err != nil {
			return err
		}
		return a.reconcile(ctx, f, r.Destroy)
	})
	f.add(cmd)
	cmd.Flags().BoolVar(&f.everything, "all", false, "everything that this set has made")
	f.runs(a, cmd)
	return cmd
}

// toDo counts what an apply would change.
func toDo(all []reconcile.Result) (n int) {
	for _, r := range all {
		if r.Action != reconcile.None && r.Action != reconcile.Leave {
			n++
		}
	}
	return n
}

// enclaveTeller shows what happens to partitions, each line with its partition before it.
func (a *app) enclaveTeller(f enclaveFlags) func(reconcile.Event) {
	var lock sync.Mutex
	return func(e reconcile.Event) {
		if e.Log && f.quiet {
			return
		}
		sign := ":"
		if e.Log {
			sign = " |"
		}
		lock.Lock()
		defer lock.Unlock()
		fmt.Fprintf(a.stderr, "%s%s %s\n", e.Path, sign, printable.Text(stripped(e.Text)))
	}
}

// showReconcile shows what is to be done with partitions, or was.
func (a *app) showReconcile(all []reconcile.Result, asJSON bool) error {
	if asJSON {
		for _, r := range all {
			if err := showJSON(a.stdout, r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		return nil
	}
	t := a.newTable(head{"PARTITION", always}, head{"ACTION", firm}, head{"OUTCOME", filled}, head{"RUN", filled},
		head{"WHY", filled})
	for _, r := range all {
		why := strings.Join(r.Why, "; ")
		if r.Reason != "" {
			why = r.Reason
		}
		t.add(r.Path, string(r.Action), string(r.Outcome), r.Run, why)
	}
	return t.show()
}

// showStatus shows where partitions stand.
func (a *app) showStatus(all []reconcile.Status, asJSON bool) error {
	if asJSON {
		for _, s := range all {
			if err := showJSON(a.stdout, s); err != nil {
				return err
			}
		}
		return nil
	}
	t := a.newTable(head{"PARTITION", always}, head{"EXISTS", firm}, head{"STATUS", firm}, head{"RUN", filled},
		head{"OUTPUTS", filled}, head{"WHY", filled})
	for _, s := range all {
		exists := "no"
		if s.Exists {
			exists = "yes"
		}
		t.add(s.Path, exists, string(s.Status), s.Run, strings.Join(s.Outputs, ", "), strings.Join(s.Why, "; "))
	}
	return t.show()
}
