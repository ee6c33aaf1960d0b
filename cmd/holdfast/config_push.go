package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

// pushFlags are what the command line of push says.
type pushFlags struct {
	message               string
	prune, dryRun, asJSON bool
}

func newConfigPushCommand(a *app) *cobra.Command {
	var flags pushFlags
	cmd := a.remote(&cobra.Command{
		Use:   "push NAME FOLDER",
		Short: "Make a folder the workspace's newest configuration",
		Long: `Compare a folder with the workspace's newest configuration by checksums, send what the server has
not, and make a snapshot of it. Files that are there and not in the folder stay, with a warning:
pull them, or remove them with --prune. If somebody else pushes meanwhile, nothing is changed.

` + ignoreHelp,
		Example: `  holdfast config push prod/network ./infra
  holdfast config push prod/network ./infra --prune --message "drop the old subnet"
  holdfast config push prod/network . --dry-run`,
		Args: ofState(cobra.ExactArgs(2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return a.pushConfig(ctx, c, args[0], args[1], flags)
	})
	cmd.Flags().StringVarP(&flags.message, "message", "m", "", "what changes, for people")
	cmd.Flags().BoolVar(&flags.prune, "prune", false, "leave out files that are not in the folder")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "only say what would change")
	addJSONFlag(cmd, &flags.asJSON)
	return cmd
}

// pushedConfig is what a push did, as JSON shows it.
type pushedConfig struct {
	Snapshot *api.Snapshot `json:"snapshot"` // null for a dry run
	Uploaded []string      `json:"uploaded"`
	Skipped  int           `json:"skipped"`
	Only     []string      `json:"only_there"`
}

func (a *app) pushConfig(ctx context.Context, c *client.Client, name, folder string, flags pushFlags) error {
	changes, err := a.compareFolder(ctx, c, name, folder, "")
	if err != nil {
		return err
	}
	said := pushedConfig{Uploaded: []string{}, Skipped: changes.count(unchanged), Only: []string{}}
	order := api.SnapshotOrder{Files: []api.SnapshotFile{}, Message: flags.message, Parent: &changes.there.Snapshot.Number}
	for _, f := range changes.files {
		a.sayChange(f, flags)
		switch {
		case f.how == onlyThere && flags.prune:
			continue
		case f.how == onlyThere:
			said.Only = append(said.Only, f.path)
			order.Files = append(order.Files, f.before)
			continue
		case f.how != unchanged:
			said.Uploaded = append(said.Uploaded, f.path)
		}
		order.Files = append(order.Files, f.after)
	}
	for _, link := range changes.links {
		fmt.Fprintf(a.stderr, "⚠ %s is passed over: it is no regular file, or a link that leads out of the folder or in a circle\n", printable.Text(link))
	}
	if !flags.dryRun {
		if err := a.upload(ctx, c, name, changes); err != nil {
			return err
		}
		made, err := c.PushSnapshot(ctx, name, order)
		if err != nil {
			return err
		}
		said.Snapshot = &made
	}
	if flags.asJSON {
		return showJSON(a.stdout, said)
	}
	return a.sayPushed(name, said)
}

// sayChange shows a file that differs, for people.
func (a *app) sayChange(f fileChange, flags pushFlags) {
	path := printable.Text(f.path)
	switch {
	case flags.asJSON:
	case f.how == added:
		fmt.Fprintf(a.stderr, "%s new (uploading)\n", path)
	case f.how == modified:
		fmt.Fprintf(a.stderr, "%s modified (uploading)\n", path)
	case f.how == onlyThere && flags.prune:
		fmt.Fprintf(a.stderr, "%s removed\n", path)
	case f.how == onlyThere:
		fmt.Fprintf(a.stderr, "⚠ %s exists at the server but not locally\n", path)
	}
}

func (a *app) sayPushed(name string, said pushedConfig) error {
	text := fmt.Sprintf("Uploaded %s, skipped %d", counted(int64(len(said.Uploaded)), "file"), said.Skipped)
	if len(said.Only) > 0 {
		text += ", " + counted(int64(len(said.Only)), "server-only file")
	}
	if said.Snapshot == nil {
		_, err := fmt.Fprintln(a.stdout, "It would be: "+text+".")
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "%s. %s has configuration %d now.\n", text, name, said.Snapshot.Number)
	if len(said.Only) > 0 {
		fmt.Fprintf(a.stderr, "`holdfast config pull %s` brings what is only at the server; --prune removes it there.\n",
			name)
	}
	return err
}

// uploads is how many files are sent at once.
const uploads = 4

// upload sends what the server has not.
func (a *app) upload(ctx context.Context, c *client.Client, name string, changes *folderChanges) error {
	paths, sizes := map[string]string{}, map[string]int64{} // by SHA-256
	for _, f := range changes.files {
		if f.how == added || f.how == modified {
			paths[f.after.SHA256], sizes[f.after.SHA256] = f.path, f.after.Size
		}
	}
	var sums []string
	for sum := range paths {
		sums = append(sums, sum)
	}
	slices.Sort(sums)
	missing, err := c.MissingContents(ctx, name, sums)
	if err != nil || len(missing) == 0 {
		return err
	}
	var total int64
	for _, sum := range missing {
		total += sizes[sum]
	}
	shown := a.startTransfer("sending", total)
	defer shown.end()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	for _, sum := range missing {
		group.Go(func() error {
			err := a.uploadFile(ctx, c, name, filepath.Join(changes.folder, filepath.FromSlash(paths[sum])), sum)
			shown.count.Add(sizes[sum])
			return err
		})
	}
	return group.Wait()
}

func (a *app) uploadFile(ctx context.Context, c *client.Client, name, file, sum string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	err = c.PutContent(ctx, name, sum, f)
	if client.IsCode(err, "digest_mismatch") {
		return fmt.Errorf("%s was changed while it was sent: push again", file)
	}
	return err
}
