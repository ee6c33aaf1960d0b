package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/state/document"
)

func newStateShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "show NAME",
		Short: "Show what is in a state",
		Long:  "Show what describes a state's newest version, the addresses of its resources and the names\nof its outputs. Values are not shown: `holdfast state outputs` and `pull` have them.",
		Example: `  holdfast state show prod/network
  holdfast state show prod/network --json | jq -r '.resources[]'`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client, args []string) error {
		found, err := c.existing(ctx, args[0])
		if err != nil {
			return err
		}
		in, err := c.contents(ctx, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.stdout, map[string]any{
				"name": found.Name, "version": found.Version.Number, "serial": found.Version.Serial, "lineage": found.Version.Lineage,
				"terraform_version": found.Version.TerraformVersion, "encrypted": found.Version.Encrypted, "size": found.Version.Size,
				"digest": found.Version.Digest, "created_at": found.Version.CreatedAt, "by": found.Version.by(),
				"locked_by": found.lockedBy(), "resources": in.resources, "outputs": in.outputs,
			})
		}
		return a.showState(found, in)
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// contents are what is in a state, by name. They are nil where the server can't look.
type contents struct {
	resources, outputs []string
	closed             string // why it can't
}

// contents asks for the view in which sensitive values are masked.
func (c *client) contents(ctx context.Context, name string) (contents, error) {
	path, err := ofState(name)
	if err != nil {
		return contents{}, err
	}
	response, err := c.do(ctx, ask{path: path, query: url.Values{"view": {"redacted"}}})
	if r, ok := errors.AsType[*refusal](err); ok && r.status == http.StatusUnprocessableEntity {
		return contents{closed: r.message}, nil
	}
	if err != nil {
		return contents{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return contents{}, cutOff(err)
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

func (a *app) showState(s *stateFacts, in contents) error {
	facts := append([][2]string{{"name", s.Name}}, s.Version.facts()...)
	facts = append(facts, [2]string{"locked by", s.lockedBy()}, [2]string{"outputs", strings.Join(in.outputs, ", ")})
	if err := a.showFacts(facts); err != nil {
		return err
	}
	if in.closed != "" {
		fmt.Fprintf(a.stderr, "What is in it is not shown: %s\n", in.closed)
		return nil
	}
	if len(in.resources) > 0 {
		fmt.Fprintln(a.stdout)
	}
	for _, address := range in.resources {
		if _, err := fmt.Fprintln(a.stdout, printable(address)); err != nil {
			return err
		}
	}
	return nil
}

// facts are what people want to know of a version.
func (v versionFacts) facts() [][2]string {
	encrypted := ""
	if v.Encrypted {
		encrypted = "by the client"
	}
	return [][2]string{
		{"version", strconv.FormatUint(v.Number, 10)},
		{"serial", strconv.FormatUint(v.Serial, 10)},
		{"lineage", v.Lineage},
		{"terraform version", v.TerraformVersion},
		{"encrypted", encrypted},
		{"size", showSize(v.Size)},
		{"sha256", v.Digest},
		{"resources", v.resources()},
		{"created", showTime(v.CreatedAt)},
		{"by", v.by()},
		{"operation", v.Operation},
		{"address", v.Address},
		{"request", v.RequestID},
		{"notes", v.notes()},
	}
}
