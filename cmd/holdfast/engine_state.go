package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/statefile"
)

func newEngineOutput(a *app, f *engineFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "output [NAME]",
		Short:   "Show the outputs that the state has",
		Example: "  holdfast engine output --json",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: f.completing(a, func(state *statefile.File) []string {
			return slices.Sorted(maps.Keys(state.Outputs))
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, state, err := f.read(cmd.Context(), a)
			if err != nil {
				return engineError(err)
			}
			if asJSON && len(args) == 0 {
				return json.NewEncoder(a.stdout).Encode(state.Outputs)
			}
			for _, name := range slices.Sorted(maps.Keys(state.Outputs)) {
				o := state.Outputs[name]
				switch {
				case len(args) == 1 && args[0] == name:
					_, err := fmt.Fprintf(a.stdout, "%s\n", compacted(o.Value))
					return err
				case len(args) == 1:
				case o.Sensitive:
					fmt.Fprintf(a.stdout, "%s = (sensitive value)\n", name)
				default:
					fmt.Fprintf(a.stdout, "%s = %s\n", name, compacted(o.Value))
				}
			}
			if len(args) == 1 {
				return fmt.Errorf("the state has no output %q", args[0])
			}
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// completing offers a shell what the state here has, if it can be read.
func (f *engineFlags) completing(a *app, of func(*statefile.File) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		_, state, err := f.read(cmd.Context(), a)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all := slices.DeleteFunc(of(state), func(name string) bool { return !strings.HasPrefix(name, typed) })
		return all[:min(len(all), completionNames)], cobra.ShellCompDirectiveNoFileComp
	}
}

// addressesIn are those of a state's objects.
func addressesIn(state *statefile.File) (all []string) {
	_ = eachInstance(state, func(r addr.Resource, _ *statefile.Resource, _ *statefile.Instance) error {
		all = append(all, r.String())
		return nil
	}) // those up to one that is damaged
	return all
}

// read loads the state; none is an empty one.
func (f *engineFlags) read(ctx context.Context, a *app) (*engine.Engine, *statefile.File, error) {
	e, err := f.open(a)
	if err != nil {
		return nil, nil, err
	}
	state, err := e.Store.Read(ctx)
	if state == nil && err == nil {
		state = statefile.New()
	}
	return e, state, err
}

func newEngineState(a *app, f *engineFlags) *cobra.Command {
	cmd := newGroup("state", "Look at what the engine's state has, and change its addresses")
	list := &cobra.Command{Use: "list", Short: "List the addresses of what the state has",
		Example: "  holdfast engine state list", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, state, err := f.read(cmd.Context(), a)
			if err != nil {
				return engineError(err)
			}
			return eachInstance(state, func(r addr.Resource, _ *statefile.Resource, _ *statefile.Instance) error {
				_, err := fmt.Fprintln(a.stdout, r)
				return err
			})
		}}
	remove := &cobra.Command{Use: "rm ADDRESS", Short: "Forget an object without deleting it",
		Example: "  holdfast engine state rm local_file.a", Args: cobra.ExactArgs(1),
		ValidArgsFunction: f.completing(a, addressesIn),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd.Context(), a, "rm", func(state *statefile.File) error {
				r, _, _, err := found(state, args[0])
				for _, in := range state.Instances(r) { // what is deposed would be deleted next otherwise
					state.Remove(r, in.Deposed)
				}
				return err
			})
		}}
	move := &cobra.Command{Use: "mv FROM TO", Short: "Give an object another address",
		Example: "  holdfast engine state mv local_file.a local_file.b", Args: cobra.ExactArgs(2),
		ValidArgsFunction: f.completing(a, addressesIn),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd.Context(), a, "mv", func(state *statefile.File) error {
				return moveInstance(state, args[0], args[1])
			})
		}}
	cmd.AddCommand(list, remove, move, newEngineRestore(a, f))
	return cmd
}

func eachInstance(state *statefile.File,
	do func(addr.Resource, *statefile.Resource, *statefile.Instance) error) error {
	for i := range state.Resources {
		r := &state.Resources[i]
		base, err := r.Address()
		if err != nil {
			return err
		}
		for j := range r.Instances {
			if err := do(base.WithKey(r.Instances[j].IndexKey), r, &r.Instances[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

func found(state *statefile.File, text string) (addr.Resource, *statefile.Instance, *statefile.Resource, error) {
	r, err := addr.Parse(text)
	if err != nil {
		return r, nil, nil, usageError{err}
	}
	block, in := state.Find(r, "")
	if in == nil {
		return r, nil, nil, fmt.Errorf("the state has no %s", r)
	}
	return r, in, block, nil
}

func moveInstance(state *statefile.File, from, to string) error {
	a, in, block, err := found(state, from)
	if err != nil {
		return err
	}
	b, err := addr.Parse(to)
	if err != nil {
		return usageError{err}
	}
	if _, taken := state.Find(b, ""); taken != nil {
		return fmt.Errorf("the state has a %s already", b)
	}
	if a.Type != b.Type || a.Data != b.Data {
		return usagef("%s can't become %s: it is of another type", a, b)
	}
	copied, source := *in, block.Provider
	state.Remove(a, "")
	state.Set(b, source, copied)
	return nil
}

// change locks the state and writes it with a change.
func (f *engineFlags) change(ctx context.Context, a *app, operation string,
	do func(*statefile.File) error) (err error) {
	e, err := f.open(a)
	if err != nil {
		return engineError(err)
	}
	release, err := e.Lock(ctx, "state")
	if err != nil {
		return engineError(err)
	}
	defer func() {
		if unlocked := release(context.WithoutCancel(ctx)); err == nil {
			err = engineError(unlocked)
		}
	}()
	state, err := e.Read(ctx)
	if err != nil {
		return engineError(err)
	}
	if state == nil {
		return fmt.Errorf("there is no state")
	}
	if err := e.Snapshot(ctx, operation, state); err != nil {
		return engineError(err)
	}
	if err := do(state); err != nil {
		return err
	}
	state.Serial++
	return engineError(e.Store.Write(ctx, state))
}
