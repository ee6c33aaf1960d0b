package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newConfigCommand(a *app) *cobra.Command {
	cmd := newGroup("config", "Push the configuration that a workspace's runs use, and look at it")
	cmd.Long = `A configuration is a folder of files, such as *.tf. Each push makes an immutable snapshot of it;
runs use the newest one, and a run keeps the one that it began with.`
	cmd.AddCommand(newConfigPushCommand(a), newConfigPullCommand(a), newConfigDiffCommand(a), newConfigListCommand(a))
	return cmd
}

// ignoreHelp says which files are passed over.
const ignoreHelp = `Passed over are .terraform, .git, states, plans, links that lead out of the folder, and what
.terraformignore or .holdfastignore in the folder name, in the manner of .gitignore.`

func newConfigListCommand(a *app) *cobra.Command {
	var asJSON bool
	var limit int
	cmd := a.remote(&cobra.Command{
		Use:     "list NAME",
		Short:   "List the configurations that a workspace has had",
		Long:    "List a workspace's snapshots, the newest first. Old ones that no run needs are removed.",
		Example: "  holdfast config list prod/network\n  holdfast config list prod/network --json | jq -r .id",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if err := checkLimit(limit); err != nil {
			return err
		}
		return showList(ctx, a, c.Snapshots(args[0], limit), limit, asJSON, a.snapshotColumns())
	})
	addLimitFlag(cmd, &limit, 20)
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) snapshotColumns() []column[api.Snapshot] {
	return []column[api.Snapshot]{
		{"NUMBER", firm, func(s api.Snapshot) string { return strconv.FormatInt(s.Number, 10) }},
		{"ID", firm, func(s api.Snapshot) string { return a.shortDigest(s.ID) }},
		{"FILES", firm, func(s api.Snapshot) string { return strconv.Itoa(s.Files) }},
		{"SIZE", wide, func(s api.Snapshot) string { return showSize(s.Bytes) }},
		{"PUSHED", firm, func(s api.Snapshot) string { return a.tableTime(s.CreatedAt) }},
		{"BY", always, func(s api.Snapshot) string { return actorOf(s.CreatedBy) }},
		{"MESSAGE", filled, func(s api.Snapshot) string { return s.Message }},
	}
}

func newConfigDiffCommand(a *app) *cobra.Command {
	var from, to string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "diff NAME [FOLDER]",
		Short: "Show what differs between two configurations, line by line",
		Long: `Show how a snapshot differs from the one before it, or from another one: --from and --to are
numbers or IDs as "holdfast config list" shows them. With a FOLDER, show how that differs from
the newest snapshot, or from --from: what a push would change.

` + ignoreHelp,
		Example: "  holdfast config diff prod/network\n  holdfast config diff prod/network --from 3 --to 7\n  holdfast " +
			"config diff prod/network ./infra",
		Args: ofState(cobra.RangeArgs(1, 2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) == 2 {
			if to != "" {
				return usagef("--to is the folder here: leave one of them out")
			}
			return a.diffFolder(ctx, c, args[0], args[1], from, asJSON)
		}
		if asJSON {
			said, err := c.SnapshotDiff(ctx, args[0], from, to)
			if err != nil {
				return err
			}
			return showJSON(a.stdout, said)
		}
		text, err := c.OpenSnapshotDiff(ctx, args[0], from, to)
		if err != nil {
			return err
		}
		defer text.Close()
		_, err = io.Copy(a.stdout, text)
		return err
	})
	cmd.Flags().StringVar(&from, "from", "", "the older snapshot (default: the one before, or the newest for a folder)")
	cmd.Flags().StringVar(&to, "to", "", "the newer snapshot (default: the newest)")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// diffFolder compares a folder with a snapshot.
func (a *app) diffFolder(ctx context.Context, c *client.Client, name, folder, which string, asJSON bool) error {
	changes, err := a.compareFolder(ctx, c, name, folder, which)
	if err != nil {
		return err
	}
	said := api.SnapshotDiff{From: changes.there.Snapshot.Number, Files: []api.FileDifference{}}
	for _, f := range changes.files {
		if f.how == unchanged {
			continue
		}
		said.Files = append(said.Files,
			api.FileDifference{Path: f.path, How: howOf(f.how), Before: f.before.SHA256, After: f.after.SHA256})
		if asJSON {
			continue
		}
		if err := a.diffFile(ctx, c, name, changes, f); err != nil {
			return err
		}
	}
	if asJSON {
		return showJSON(a.stdout, said)
	}
	return nil
}

// howOf is how the server says it.
func howOf(how change) string {
	switch how {
	case added:
		return "added"
	case onlyThere:
		return "removed"
	default:
		return "modified"
	}
}

func (a *app) diffFile(ctx context.Context, c *client.Client, name string, changes *folderChanges,
	f fileChange) (err error) {
	var before, after []byte
	if f.how != added {
		content, err := c.OpenFile(ctx, name, changes.there.Snapshot.ID, f.path)
		if err != nil {
			return err
		}
		defer content.Close()
		if before, err = io.ReadAll(content); err != nil {
			return err
		}
	}
	if f.how != onlyThere {
		if after, err = os.ReadFile(filepath.Join(changes.folder, filepath.FromSlash(f.path))); err != nil {
			return err
		}
	}
	_, err = a.stdout.Write(unifiedDiff(f, before, after))
	return err
}
