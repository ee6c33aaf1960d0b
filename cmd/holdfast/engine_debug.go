package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/debug"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/statefile"
	"github.com/holdfast/holdfast/internal/drawing"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/internal/graph"
)

func newEngineDebug(a *app, f *engineFlags) *cobra.Command {
	cmd := newGroup("debug", "Look into states and configurations")
	cmd.AddCommand(newDebugState(a), newDebugDiff(a), newDebugGraph(a, f), newDebugSnapshot(a, f), newDebugReplay(a, f))
	return cmd
}

// filesOnly completes names of files.
func filesOnly(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// readStateFile reads a state in version 4 from a file.
func readStateFile(path string) (*statefile.File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := statefile.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func newDebugState(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "state FILE",
		Short: "Say what a state has, and what of it can't be right",
		Long: `Say what a state of version 4 has, and what of it can't be right: addresses and IDs that are there twice,
dependencies that aren't there, attributes that can't be read. Exits with 1 if there is something.`,
		Example: "  holdfast engine debug state terraform.tfstate\n  holdfast state pull prod/network > s && " +
			"holdfast engine debug state s --format json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: filesOnly,
		RunE: func(_ *cobra.Command, args []string) error {
			state, err := readStateFile(args[0])
			if err != nil {
				return err
			}
			report := debug.Inspect(state)
			switch format {
			case "text":
				err = report.Text(a.stdout, args[0])
			case "json":
				err = json.NewEncoder(a.stdout).Encode(report)
			case "html":
				err = report.HTML(a.stdout, args[0])
			default:
				return usagef("--format is text, json or html")
			}
			if err == nil && !report.IsValid {
				err = exitCode(1)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or html")
	return cmd
}

func newDebugDiff(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "diff BEFORE AFTER",
		Short:             "Say which objects and attributes differ between two states",
		Long:              "Say which objects and attributes differ between two states. Values aren't shown: they may be secret.",
		Example:           "  holdfast engine debug diff terraform.tfstate.backup terraform.tfstate",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: filesOnly,
		RunE: func(_ *cobra.Command, args []string) error {
			before, err := readStateFile(args[0])
			if err != nil {
				return err
			}
			after, err := readStateFile(args[1])
			if err != nil {
				return err
			}
			difference := debug.Compare(before, after)
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(difference)
			}
			return difference.Text(a.stdout)
		},
	}
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newDebugGraph(a *app, f *engineFlags) *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw which resources of a configuration depend on which",
		Long: `Draw which resources of a configuration depend on which, through whatever is between. Circles are red.
dot, mermaid and svg need nothing else; where Graphviz is, it lays out svg, and png can be had.`,
		Example: "  holdfast engine debug graph --format svg --output graph.svg",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := config.LoadWith(f.dir, f.modules(a))
			if err != nil {
				return engineError(err)
			}
			return a.writeGraph(cmd, plan.Blocks(root), format, output)
		},
	}
	graphFlags(cmd, &format, &output)
	return cmd
}

// graphFlags say how a graph is drawn, and where to.
func graphFlags(cmd *cobra.Command, format, output *string) {
	cmd.Flags().StringVar(format, "format", "dot", "dot, mermaid, svg or png; by default what --output ends with")
	cmd.Flags().StringVarP(output, "output", "o", "", "the file to write")
}

// writeGraph draws a graph into a file, or to stdout.
func (a *app) writeGraph(cmd *cobra.Command, g *graph.Graph, format, output string) error {
	if output != "" && !cmd.Flags().Changed("format") {
		format = strings.TrimPrefix(filepath.Ext(output), ".")
	}
	var picture bytes.Buffer
	if err := draw(cmd.Context(), &picture, g, format); err != nil {
		return err
	}
	if output != "" {
		return durable.Write(output, picture.String())
	}
	_, err := a.stdout.Write(picture.Bytes())
	return err
}

// draw writes a picture of a graph. Graphviz is used where it is there.
func draw(ctx context.Context, w io.Writer, g *graph.Graph, format string) error {
	switch format {
	case "dot":
		return drawing.DOT(w, g)
	case "mermaid", "mmd":
		return drawing.Mermaid(w, g)
	case "svg", "png":
	default:
		return usagef("--format is dot, mermaid, svg or png")
	}
	program, err := exec.LookPath("dot")
	if err != nil && format == "png" {
		return fmt.Errorf("png needs Graphviz's dot, which isn't there; svg needs nothing")
	}
	if err != nil {
		return drawing.SVG(w, g)
	}
	var text, problems bytes.Buffer
	if err := drawing.DOT(&text, g); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "-T"+format)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &text, w, &problems
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("dot: %w: %.200s", err, problems.String())
	}
	return nil
}
