package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newConfigPullCommand(a *app) *cobra.Command {
	var which string
	var yes, asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "pull NAME FOLDER",
		Short: "Bring a workspace's configuration into a folder",
		Long: `Compare a folder with a snapshot by checksums, and write the files that differ or are missing. It
asks before it writes over files; elsewhere than on a terminal that needs --yes. Files that are
only in the folder stay.

` + ignoreHelp,
		Example: "  holdfast config pull prod/network ./infra\n  holdfast config pull prod/network ./before " +
			"--snapshot 3 --yes",
		Args: ofState(cobra.ExactArgs(2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return a.pullConfig(ctx, c, args[0], args[1], which, yes, asJSON)
	})
	cmd.Flags().StringVar(&which, "snapshot", "", "number or ID of the snapshot (default: the newest)")
	addYesFlag(cmd, &yes)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// pulledConfig is what a pull did, as JSON shows it.
type pulledConfig struct {
	Snapshot api.Snapshot `json:"snapshot"`
	Written  []string     `json:"written"`
	Skipped  int          `json:"skipped"`
}

func (a *app) pullConfig(ctx context.Context, c *client.Client, name, folder, which string, yes, asJSON bool) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if _, err := c.Snapshot(ctx, name,
		which); err != nil { // a folder may be compared with nothing, but not brought from it
		return err
	}
	changes, err := a.compareFolder(ctx, c, name, folder, which)
	if err != nil {
		return err
	}
	if n := changes.count(modified); n > 0 {
		if err := a.confirm(ctx, yes, fmt.Sprintf("Write over %s in %s?", counted(int64(n), "file"), folder)); err != nil {
			return err
		}
	}
	said := pulledConfig{Snapshot: changes.there.Snapshot, Written: []string{}, Skipped: changes.count(unchanged)}
	root, err := os.OpenRoot(folder) // what the server says leads nowhere else
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range changes.files {
		if f.how != modified && f.how != onlyThere {
			continue
		}
		if err := a.pullFile(ctx, c, name, changes.there.Snapshot.ID, root, f.before); err != nil {
			return err
		}
		said.Written = append(said.Written, f.path)
		if !asJSON {
			fmt.Fprintf(a.stderr, "%s\n", printable.Text(f.path))
		}
	}
	if asJSON {
		return showJSON(a.stdout, said)
	}
	_, err = fmt.Fprintf(a.stdout, "Wrote %s, skipped %d: %s has configuration %d of %s.\n",
		counted(int64(len(said.Written)), "file"), said.Skipped, folder, said.Snapshot.Number, name)
	return err
}

// pullFile writes a file beside its place first, so that it is there whole or as it was.
func (a *app) pullFile(ctx context.Context, c *client.Client, name, snapshot string, root *os.Root,
	f api.SnapshotFile) error {
	content, err := c.OpenFile(ctx, name, snapshot, f.Path)
	if err != nil {
		return err
	}
	defer content.Close()
	if dir := path.Dir(f.Path); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o644)
	if f.Executable {
		mode = 0o755
	}
	temporary := f.Path + ".holdfast-pull"
	to, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Chmod(temporary, mode)
	}
	if err == nil {
		err = root.Rename(temporary, f.Path)
	}
	if err != nil {
		_ = root.Remove(temporary) // err is the one to report
	}
	return err
}
