package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/plan"
)

// engineFlags are those of the engine's commands.
type engineFlags struct {
	dir, state, out           string
	mirrors, vars, files      []string
	targets, replaces         []string
	refreshOnly, noRefresh    bool
	detailed, asJSON, approve bool
	parallelism               int
	lockTimeout               time.Duration
	webhook                   string
	webhookOpen               bool
	policies                  []string
	unkept                    bool // no snapshots are made
	logLevel, logFormat       string
}

func newEngineCommand(a *app) *cobra.Command {
	cmd := newGroup("engine", "Plan and apply configurations with Holdfast's own engine")
	cmd.Long = `Plan and apply configurations of Terraform and OpenTofu with an engine that is part of this
program. It drives the providers that they use, and writes states that they take over. What of the language
it has, and where it differs, is in docs/engine.md.`
	f := &engineFlags{}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.dir, "dir", ".", "the root module's folder")
	flags.StringVar(&f.state, "state", "", "the state's file, for the local backend")
	flags.DurationVar(&f.lockTimeout, "lock-timeout", 30*time.Second, "how long to wait for a lock of the state")
	flags.StringSliceVar(&f.mirrors, "plugin-dir", nil,
		"a folder with providers: HOST/NAMESPACE/NAME/VERSION/OS_ARCH; several can be given")
	f.logFlags(a, cmd)
	cmd.AddCommand(newEngineInit(a, f), newEngineValidate(a, f), newEnginePlan(a, f), newEngineApply(a, f, false),
		newEngineApply(a, f, true), newEngineShow(a), newEngineRefresh(a, f), newEngineOutput(a, f), newEngineUnlock(a, f),
		newEngineDrift(a, f),
		newEngineState(a, f), newEngineImport(a, f), newEngineWorkspace(a, f), newEngineDebug(a, f), newEngineClient(a, f))
	logCommands(cmd)
	return cmd
}

// inputFlags adds the flags of commands that evaluate the configuration.
func (f *engineFlags) inputFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.vars, "var", nil, "NAME=VALUE of a variable; several can be given")
	cmd.Flags().StringArrayVar(&f.files, "var-file", nil, "a file with values of variables; several can be given")
}

// planFlags adds the flags of commands that plan.
func (f *engineFlags) planFlags(cmd *cobra.Command) {
	f.inputFlags(cmd)
	cmd.Flags().StringArrayVar(&f.targets, "target", nil, "plan only this resource or module, and what it depends on")
	cmd.Flags().StringArrayVar(&f.replaces, "replace", nil, "replace this resource's object")
	f.hookFlags(cmd)
	cmd.Flags().BoolVar(&f.noRefresh, "no-refresh", false, "trust the state instead of reading the objects")
}

// open loads the configuration.
func (f *engineFlags) open(a *app) (*engine.Engine, error) {
	return engine.New(engine.Options{Dir: f.dir, StatePath: f.absoluteState(), Mirrors: f.folders(a),
		Modules: f.modules(a), Snapshots: f.snapshots(), Hooks: f.hooks(a), LockTimeout: f.lockTimeout,
		Inputs: config.Inputs{Environ: a.environ, Files: f.files, Vars: f.vars}})
}

func (f *engineFlags) absoluteState() string {
	if f.state == "" {
		return ""
	}
	path, err := filepath.Abs(f.state)
	if err != nil {
		return f.state
	}
	return path
}

// folders are the mirrors that the flags and HOLDFAST_ENGINE_PROVIDERS name.
func (f *engineFlags) folders(a *app) []string {
	mirrors := f.mirrors
	for _, folder := range filepath.SplitList(a.getenv("HOLDFAST_ENGINE_PROVIDERS")) {
		if folder != "" {
			mirrors = append(mirrors, folder)
		}
	}
	return append(mirrors, filepath.Join(f.dir, "terraform.d", "plugins"))
}

// options are what the flags say of planning.
func (f *engineFlags) options() (plan.Options, error) {
	o := plan.Options{RefreshOnly: f.refreshOnly, NoRefresh: f.noRefresh}
	for _, list := range []struct {
		texts []string
		into  *[]addr.Resource
	}{{f.targets, &o.Targets}, {f.replaces, &o.Replace}} {
		for _, text := range list.texts {
			r, err := addr.Parse(text)
			if err != nil {
				return o, usageError{err}
			}
			*list.into = append(*list.into, r)
		}
	}
	return o, nil
}

// engineError is an error of the engine's as people are shown it.
func engineError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ERROR: %w", err)
}

func newEngineInit(a *app, f *engineFlags) *cobra.Command {
	var upgrade bool
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Find the providers that a configuration needs and lock their versions",
		Example: "  holdfast engine init --plugin-dir /usr/share/providers",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			packages, err := engine.Install(cmd.Context(), f.dir, f.folders(a),
				engine.Installing{Upgrade: upgrade, Modules: f.modules(a)})
			if err != nil {
				return engineError(err)
			}
			for _, p := range packages {
				fmt.Fprintf(a.stdout, "%s %s\n", p.Provider, p.Version)
			}
			_, err = fmt.Fprintln(a.stdout, "Ready to plan.")
			return err
		},
	}
	cmd.Flags().BoolVar(&upgrade, "upgrade", false, "choose versions anew instead of keeping those that are locked")
	return cmd
}

func newEngineValidate(a *app, f *engineFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "validate",
		Short:   "Check that a configuration can be read, and has the variables and local values that it refers to",
		Example: "  holdfast engine validate --dir network",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			root, err := config.LoadWith(f.dir, f.modules(a))
			if err == nil {
				err = plan.CheckReferences(root)
			}
			if err != nil {
				return engineError(err)
			}
			_, err = fmt.Fprintln(a.stdout, "The configuration can be read.")
			return err
		},
	}
}

func newEnginePlan(a *app, f *engineFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what an apply would do",
		Long: `Show what an apply would do. Nothing is changed, and the state isn't locked. With
--detailed-exitcode, 2 says that there is something to do. With --out, the plan is kept in a file that only
its owner can read, since it has sensitive values: apply takes it, and does it only if planning again gives
the same.`,
		Example: "  holdfast engine plan --var size=3\n  holdfast engine plan --out network.plan\n  " +
			"holdfast engine plan --json | jq .resource_changes",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, p, err := f.plan(cmd.Context(), a, false)
			if err != nil {
				return engineError(err)
			}
			if err := f.save(p); err != nil {
				return err
			}
			if err := f.show(a, p); err != nil {
				return err
			}
			if f.detailed && !p.Empty() {
				return exitCode(2)
			}
			return nil
		},
	}
	f.planFlags(cmd)
	cmd.Flags().BoolVar(&f.refreshOnly, "refresh-only", false, "only show what was changed outside")
	cmd.Flags().BoolVar(&f.detailed, "detailed-exitcode", false, "exit with 2 if there is something to do")
	cmd.Flags().StringVar(&f.out, "out", "", "keep the plan in this file")
	addJSONFlag(cmd, &f.asJSON)
	return cmd
}

func (f *engineFlags) plan(ctx context.Context, a *app, destroy bool) (*engine.Engine, *plan.Plan, error) {
	e, err := f.open(a)
	if err != nil {
		return nil, nil, err
	}
	o, err := f.options()
	if err != nil {
		return nil, nil, err
	}
	o.Destroy = destroy
	p, err := e.Plan(ctx, o)
	return e, p, err
}

func (f *engineFlags) show(a *app, p *plan.Plan) error {
	if f.asJSON {
		text, err := p.JSON()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%s\n", text)
		return err
	}
	colours := plan.Colours{}
	if a.columns > 0 && a.getenv("NO_COLOR") == "" {
		colours = plan.Terminal()
	}
	return p.Show(a.stdout, colours)
}

func newEngineUnlock(a *app, f *engineFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "force-unlock ID",
		Short:   "Remove a state's lock whose holder is gone for good",
		Example: "  holdfast engine force-unlock k3v7x2m5q4w6e8r1t9y0",
		Args:    cobra.ExactArgs(1),
		// Nothing is offered: the ID is what was read, so that no other lock is removed.
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := f.open(a)
			if err != nil {
				return engineError(err)
			}
			return engineError(e.Store.ForceUnlock(cmd.Context(), strings.TrimSpace(args[0])))
		},
	}
}
