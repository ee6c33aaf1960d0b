package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/internal/durable"
)

// engineClientCommand is the command under which the engine is spoken to as runs speak to their tools.
const engineClientCommand = "as-client"

// engineClient is how runs call this program as their tool.
func engineClient() []string { return []string{"engine", engineClientCommand} }

// newEngineClient returns the engine as a tool of runs: with the arguments of Terraform and OpenTofu that runs
// use, and with their lines of JSON. People have the other commands.
func newEngineClient(a *app, f *engineFlags) *cobra.Command {
	return &cobra.Command{
		Use:                engineClientCommand,
		Short:              "Be the tool of a run",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.dir, f.unkept = ".", true
			c := &engineClientCall{app: a, flags: f, stream: &engineStream{w: a.stdout}}
			return c.run(cmd.Context(), args)
		},
	}
}

// engineClientCall is one call of the engine as a tool.
type engineClientCall struct {
	app    *app
	flags  *engineFlags
	stream *engineStream

	json, destroy, detailed, refresh bool
	lockFile                         string
}

func (c *engineClientCall) run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usagef("a tool is told what to do")
	}
	do, known := map[string]func(context.Context, []string) error{"init": c.init, "plan": c.plan, "show": c.show,
		"apply": c.apply, "output": c.output}[args[0]]
	if !known {
		return usagef("the engine has no %.40q for runs", args[0])
	}
	rest, err := c.parse(args)
	if err != nil {
		return usageError{err}
	}
	err = do(ctx, rest)
	var code exitCode
	if err == nil || errors.As(err, &code) || !c.json {
		return err
	}
	c.stream.failure(err)
	return exitCode(1)
}

// parse reads the flags, as the clients write them.
func (c *engineClientCall) parse(args []string) ([]string, error) {
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.SetOutput(io.Discard)
	list := func(name string, into *[]string) {
		set.Func(name, "", func(text string) error {
			*into = append(*into, text)
			return nil
		})
	}
	set.BoolVar(&c.json, "json", false, "")
	set.Bool("input", true, "")
	set.Bool("lock", true, "")
	set.BoolVar(&c.destroy, "destroy", false, "")
	set.BoolVar(&c.detailed, "detailed-exitcode", false, "")
	set.BoolVar(&c.refresh, "refresh", true, "")
	set.BoolVar(&c.flags.refreshOnly, "refresh-only", false, "")
	set.StringVar(&c.flags.out, "out", "", "")
	set.StringVar(&c.lockFile, "lockfile", "", "")
	set.IntVar(&c.flags.parallelism, "parallelism", apply.DefaultParallelism, "")
	list("target", &c.flags.targets)
	list("replace", &c.flags.replaces)
	err := set.Parse(args[1:])
	c.flags.noRefresh = !c.refresh
	return set.Args(), err
}

func (c *engineClientCall) init(ctx context.Context, _ []string) error {
	packages, err := engine.Install(ctx, c.flags.dir, c.flags.folders(c.app),
		engine.Installing{Frozen: c.lockFile == "readonly", Modules: c.flags.modules(c.app)})
	if err != nil {
		return engineError(err)
	}
	fmt.Fprint(c.app.stdout, "Initializing provider plugins...\n")
	for _, p := range packages {
		fmt.Fprintf(c.app.stdout, "- Using previously-installed %s v%s\n", p.Provider, p.Version)
	}
	_, err = fmt.Fprintln(c.app.stdout, "Holdfast has been successfully initialized!")
	return err
}

func (c *engineClientCall) plan(ctx context.Context, _ []string) error {
	c.stream.version()
	_, p, err := c.flags.plan(ctx, c.app, c.destroy)
	if err != nil {
		return engineError(err)
	}
	if c.flags.out != "" {
		file, err := engine.Save(p, version)
		if err != nil {
			return err
		}
		if err := durable.Write(c.flags.out, string(file)); err != nil {
			return err
		}
	}
	c.stream.planned(p)
	if c.detailed && !p.Empty() {
		return exitCode(2)
	}
	return nil
}

// show prints a saved plan, whose JSON is asked for under -json: the lines of a stream aren't meant.
func (c *engineClientCall) show(_ context.Context, args []string) error {
	c.json = false
	if len(args) != 1 {
		return usagef("show has one plan")
	}
	saved, err := readSaved(args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.app.stdout, "%s\n", saved.Plan)
	return err
}

func (c *engineClientCall) apply(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return usagef("apply has one plan")
	}
	c.stream.version()
	saved, err := readSaved(args[0])
	if err != nil {
		return err
	}
	e, err := c.flags.open(c.app)
	if err != nil {
		return engineError(err)
	}
	p, err := e.Replan(ctx, saved)
	if err != nil {
		return engineError(err)
	}
	result, err := c.app.runPlan(ctx, e, p, apply.Options{Parallelism: c.flags.parallelism, Continue: true,
		Events: c.stream.event})
	if err != nil {
		return engineError(err)
	}
	c.stream.applied(p, result)
	return nil
}

func (c *engineClientCall) output(ctx context.Context, _ []string) error {
	c.json = false
	_, state, err := c.flags.read(ctx, c.app)
	if err != nil {
		return engineError(err)
	}
	outputs := map[string]streamOutput{}
	for name, o := range state.Outputs {
		outputs[name] = streamOutput{Sensitive: o.Sensitive, Type: o.Type, Value: o.Value}
	}
	return json.NewEncoder(c.app.stdout).Encode(outputs)
}
