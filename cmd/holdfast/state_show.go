package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
	"github.com/holdfast/holdfast/state/document"
)

func newStateShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "show NAME",
		Short: "Show what is in a state",
		Long: "Show what describes a state's newest version, the addresses of its resources and the names\nof its " +
			"outputs. Values are not shown: `holdfast state outputs` and `pull` have them.",
		Example: `  holdfast state show prod/network
  holdfast state show prod/network --json | jq -r '.resources[]'`,
		Args: ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		found, err := existing(ctx, c, args[0])
		if err != nil {
			return err
		}
		in, err := readContents(ctx, c, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.stdout, map[string]any{
				"name": found.Name, "version": found.Version.Number, "serial": found.Version.Serial,
				"lineage":           found.Version.Lineage,
				"terraform_version": found.Version.TerraformVersion, "encrypted": found.Version.Encrypted,
				"size":   found.Version.Size,
				"digest": found.Version.Digest, "created_at": found.Version.CreatedAt, "by": writerOf(*found.Version),
				"locked_by": lockedBy(*found), "resources": in.resources, "outputs": in.outputs,
			})
		}
		return a.showState(found, in)
	})
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	return cmd
}

// contents are what is in a state, by name. They are nil where the server can't look.
type contents struct {
	resources, outputs []string
	closed             string // why it can't
}

// readContents asks for the view in which sensitive values are masked.
func readContents(ctx context.Context, c *client.Client, name string) (contents, error) {
	view, err := c.Get(ctx, name, client.Which{View: client.ViewRedacted})
	if refusal, ok := errors.AsType[*client.Error](err); ok && refusal.Status == http.StatusUnprocessableEntity {
		return contents{closed: printable.Text(refusal.Message)}, nil
	}
	if err != nil {
		return contents{}, err
	}
	defer view.Close()
	body, err := io.ReadAll(view)
	if err != nil {
		return contents{}, err
	}
	parsed, err := document.Parse(body)
	if err != nil {
		return contents{}, err
	}
	in := contents{resources: []string{}, outputs: []string{}}
	for i := range parsed.Instances {
		in.resources = append(in.resources, parsed.Instances[i].Place.String())
	}
	for i := range parsed.Outputs {
		in.outputs = append(in.outputs, parsed.Outputs[i].Name)
	}
	return in, nil
}

func (a *app) showState(s *api.State, in contents) error {
	facts := append([][2]string{{"name", s.Name}}, versionFacts(*s.Version)...)
	facts = append(facts, [2]string{"locked by", lockedBy(*s)}, [2]string{"outputs", strings.Join(in.outputs, ", ")})
	if err := a.showFacts(facts); err != nil {
		return err
	}
	if in.closed != "" {
		a.note("What is in it is not shown: %s", in.closed)
		return nil
	}
	if len(in.resources) > 0 {
		fmt.Fprintln(a.stdout)
	}
	for _, address := range in.resources {
		if _, err := fmt.Fprintln(a.stdout, printable.Text(address)); err != nil {
			return err
		}
	}
	return nil
}
