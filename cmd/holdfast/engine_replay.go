package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/debug"
	"github.com/holdfast/holdfast/engine/statefile"
)

// snapshots is the folder of a configuration's snapshots.
func (f *engineFlags) snapshots() string {
	if f.unkept { // the server keeps the versions of states
		return ""
	}
	return filepath.Join(f.dir, ".holdfast", "snapshots")
}

func newDebugSnapshot(a *app, f *engineFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "List the snapshots of the state that were made before each change",
		Long: `List the snapshots of the state that were made before each change, in .holdfast/snapshots beside the
configuration. debug replay goes through what followed one, state restore brings it back.`,
		Example: "  holdfast engine debug snapshot",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := engine.Snapshots(f.snapshots())
			if err != nil {
				return engineError(err)
			}
			for _, s := range all {
				if asJSON {
					s.State, s.Plan = nil, nil // they have secrets
					err = json.NewEncoder(a.stdout).Encode(s)
				} else {
					_, err = fmt.Fprintf(a.stdout, "%s  %s by %s\n", s.ID, s.Operation, s.User)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newDebugReplay(a *app, f *engineFlags) *cobra.Command {
	var only int
	cmd := &cobra.Command{
		Use:   "replay SNAPSHOT",
		Short: "Go through an apply step by step, with what each changed in the state",
		Long: `Go through the apply that followed a snapshot, step by step, with what each changed in the state. Nothing is
done: it is what was recorded. With --step, the state after that step is printed.`,
		Example: "  holdfast engine debug replay apply-2026-10-05-14-30-00\n" +
			"  holdfast engine debug replay apply-2026-10-05-14-30-00 --step 2 > state",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.snapshotNames,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := engine.ReadSnapshot(f.snapshots(), args[0])
			if err != nil {
				return engineError(err)
			}
			before, err := s.File()
			if err != nil {
				return engineError(err)
			}
			if before == nil {
				before = statefile.New()
			}
			steps, err := engine.Replay(f.snapshots(), args[0])
			if err != nil {
				return engineError(err)
			}
			if only < 0 || only > len(steps) {
				return usagef("there are the steps 1 to %d", len(steps))
			}
			if only > 0 {
				text, err := steps[only-1].State.Bytes()
				if err == nil {
					_, err = a.stdout.Write(text)
				}
				return err
			}
			for i, step := range steps {
				if err := a.showReplayed(i+1, step, before); err != nil {
					return err
				}
				before = step.State
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&only, "step", "s", 0, "print the state after this step")
	return cmd
}

// showReplayed says what a step has done, and what it changed in the state.
func (a *app) showReplayed(n int, step engine.Replayed, before *statefile.File) error {
	end := "done"
	if step.Error != "" {
		end = "failed"
	}
	fmt.Fprintf(a.stdout, "%d. %s %s: %s\n", n, step.Action, step.Address, end)
	return debug.Compare(before, step.State).Text(a.stdout)
}

func (f *engineFlags) snapshotNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, err := engine.Snapshots(f.snapshots())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range all {
		names = append(names, s.ID)
	}
	return names[:min(len(names), completionNames)], cobra.ShellCompDirectiveNoFileComp
}

func newEngineRestore(a *app, f *engineFlags) *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Bring the state of a snapshot back",
		Long: `Bring the state of a snapshot back, under the next serial. Objects aren't changed: plan shows how they differ
from it.`,
		Example: "  holdfast engine state restore --snapshot-id apply-2026-10-05-14-30-00",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := engine.ReadSnapshot(f.snapshots(), id)
			if err != nil {
				return engineError(err)
			}
			kept, err := s.File()
			if err != nil {
				return engineError(err)
			}
			if kept == nil {
				return fmt.Errorf("there was no state before %s", id)
			}
			err = f.change(cmd.Context(), a, "restore", func(state *statefile.File) error {
				if state.Lineage != kept.Lineage {
					return fmt.Errorf("the snapshot is of another state: its lineage is %s", kept.Lineage)
				}
				state.Resources, state.Outputs = kept.Resources, kept.Outputs
				return nil
			})
			if err == nil {
				_, err = fmt.Fprintf(a.stdout, "The state is that of %s.\n", id)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&id, "snapshot-id", "", "which one")
	_ = cmd.MarkFlagRequired("snapshot-id")
	_ = cmd.RegisterFlagCompletionFunc("snapshot-id", f.snapshotNames)
	return cmd
}
