package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/enclave"
	"github.com/holdfast/holdfast/enclave/local"
	"github.com/holdfast/holdfast/enclave/managed"
	"github.com/holdfast/holdfast/enclave/reconcile"
	"github.com/holdfast/holdfast/internal/printable"
)

func newEnclaveCommand(a *app) *cobra.Command {
	group := newGroup("enclave", "Make what there is as a folder of enclaves and partitions says")
	group.Long = `Make what there is as a folder of enclaves says. Each partition is a workspace ENCLAVE/PARTITION; runs
are ordered by what partitions import from each other. What a config.yml may have is in docs/enclaves.md.`
	group.AddCommand(newEnclaveValidate(a), newEnclaveGraph(a), newEnclavePlan(a), newEnclaveApply(a),
		newEnclaveDestroy(a), newEnclaveStatus(a), newEnclaveDiff(a))
	return group
}

// enclaveFlags are what the command lines of enclave say.
type enclaveFlags struct {
	client         clientFlags
	set            string
	only           []string
	prune, rerun   bool
	adopt, approve bool
	wait           bool
	everything     bool
	quiet, asJSON  bool
	local          bool
	parallelism    int
	workspaces     string // folder, for --local
}

const enclaveHelp = `

Exactly one folder of enclaves is known by the name of its set: what another set has is left alone. DIR may also have
them below a folder "enclaves".`

// add adds the flags that all commands have which ask a server.
func (f *enclaveFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.set, "set", "default", "the set of folders that DIR is")
	cmd.Flags().StringSliceVar(&f.only, "enclave", nil, "only this enclave; may be repeated")
	cmd.Flags().BoolVar(&f.local, "local", false, "have the tools run on this machine, not on the server")
	cmd.Flags().StringVar(&f.workspaces, "workspaces", "",
		"the folder with what is kept here of partitions (default: ~/.holdfast/workspaces)")
}

// loadEnclaves reads a folder. What is wrong with it is shown as it is, without a word before.
func loadEnclaves(dir string) (*enclave.Tree, string, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", dir)
	}
	if err != nil {
		return nil, "", err
	}
	_, own := os.Stat(filepath.Join(dir, "config.yml"))
	if below, err := os.Stat(filepath.Join(dir, "enclaves")); own != nil && err == nil && below.IsDir() {
		dir = filepath.Join(dir, "enclaves")
	}
	tree, err := enclave.Load(os.DirFS(dir))
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		path.Path = filepath.Join(dir, path.Path)
	}
	if faults, ok := errors.AsType[enclave.Faults](err); ok {
		for i := range faults {
			faults[i].File = filepath.ToSlash(filepath.Join(dir, faults[i].File))
		}
		return nil, dir, &wrongFolderError{faults}
	}
	return tree, dir, err
}

// wrongFolderError says what is wrong with a folder, line by line.
type wrongFolderError struct{ faults enclave.Faults }

func (e *wrongFolderError) Error() string {
	return printable.Text(counted(int64(len(e.faults)), "fault")) + ":\n" + e.faults.Error()
}

// reconciler is that of a folder and a server.
func (a *app) reconciler(c *client.Client, dir string, f enclaveFlags) (*reconcile.Reconciler, error) {
	tree, dir, err := loadEnclaves(dir)
	if err != nil {
		return nil, err
	}
	if f.set == "" || len(f.set) > 100 {
		return nil, usagef("--set: it has 1 to 100 characters")
	}
	if _, err := tree.Only(f.only); err != nil && !f.everything {
		return nil, err
	}
	root, err := a.enclaveWorkspaces(f)
	if err != nil {
		return nil, err
	}
	r := &reconcile.Reconciler{Tree: tree, Dir: dir, Server: reconcile.Remote{Client: c},
		Managed: func(cloud enclave.Cloud) reconcile.Driver {
			if cloud == enclave.Local && root != "" {
				return managed.Local{Root: root}
			}
			return nil
		},
		Options: reconcile.Options{ID: uuid.NewString(), Set: f.set, Only: f.only, Prune: f.prune, All: f.rerun,
			Adopt: f.adopt, Approve: f.approve, Wait: f.wait, Width: f.parallelism}}
	r.Tell = a.enclaveTeller(f)
	if f.local {
		r.Here, err = a.runsHere(c, r, root, f)
	}
	return r, err
}

// runsHere runs the tools of partitions on this machine.
func (a *app) runsHere(c *client.Client, r *reconcile.Reconciler, root string,
	f enclaveFlags) (reconcile.Driver, error) {
	found, err := a.credentials(f.client)
	if err != nil {
		return nil, err
	}
	user := "nclav"
	if _, says := auth.OrgOfKey(found.key); !says {
		user = found.org.String()
	}
	return &local.Runner{Root: root, Dir: r.Dir, Address: found.addr, User: user, Key: found.key, Environ: a.environ,
		DeleteState: r.Server.DeleteState, RunRecords: reconcile.RemoteRecords{Client: c}, Reconcile: r.ID,
		Tell: func(path string, line []byte) {
			r.Tell(reconcile.Event{Path: path, Text: string(line), Log: true})
		}}, nil
}

// enclaveWorkspaces is the folder with what is kept here of partitions; empty where nothing is.
func (a *app) enclaveWorkspaces(f enclaveFlags) (string, error) {
	if f.workspaces != "" {
		return filepath.Abs(f.workspaces)
	}
	home := a.getenv("HOME")
	if home == "" && f.local {
		return "", usagef("HOME is not set: say with --workspaces where the folders of partitions are")
	}
	if home == "" {
		return "", nil
	}
	return filepath.Join(home, ".holdfast", "workspaces"), nil
}

func newEnclaveValidate(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate DIR",
		Short: "Say all that is wrong with a folder of enclaves",
		Long: `Say all that is wrong with a folder of enclaves, with file and line: fields that there are not, imports of
what nobody exports, inputs that refer to nothing, circles. No server is asked. The exit code is 1 if there is something.`,
		Example: "  holdfast enclave validate .\n  holdfast enclave validate enclaves --json | jq -r .file",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			tree, _, err := loadEnclaves(args[0])
			if wrong, ok := errors.AsType[*wrongFolderError](err); ok && asJSON {
				for _, f := range wrong.faults {
					if err := showJSON(a.stdout, f); err != nil {
						return err
					}
				}
				return exitCode(1)
			}
			if err != nil || asJSON {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s with %s: nothing is wrong.\n", counted(int64(len(tree.Enclaves)), "enclave"),
				counted(int64(len(tree.Partitions())), "partition"))
			return err
		},
	}
	addLinesFlag(cmd, &asJSON)
	return cmd
}

func foldersOnly(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func newEnclaveGraph(a *app) *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "graph DIR",
		Short: "Draw which partitions import from which",
		Long: `Draw which partitions import from which. dot, mermaid and svg need nothing else; where Graphviz is, it lays
out svg, and png can be had.`,
		Example: "  holdfast enclave graph . --format mermaid\n  holdfast enclave graph . --output graph.svg",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tree, _, err := loadEnclaves(args[0])
			if err != nil {
				return err
			}
			return a.writeGraph(cmd, tree.Graph(), format, output)
		},
	}
	graphFlags(cmd, &format, &output)
	return cmd
}

func newEnclavePlan(a *app) *cobra.Command {
	var f enclaveFlags
	cmd := a.remoteBy(&cobra.Command{
		Use:   "plan DIR",
		Short: "Say what an apply would do with each partition",
		Long: `Compare a folder of enclaves with the server, and say what "enclave apply" would do with each partition, and
why, in its order. Nothing is changed, and nothing is run. The exit code is 0 where nothing is to be done, 2 where
something is, else 1.` + enclaveHelp,
		Example:     "  holdfast enclave plan .\n  holdfast enclave plan . --prune --json",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{detailedExit: "plan"},
	}, &f.client, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := a.reconciler(c, args[0], f)
		if err != nil {
			return err
		}
		all, err := r.Plan(ctx)
		if err != nil {
			return err
		}
		if err := a.showReconcile(all, f.asJSON); err != nil {
			return err
		}
		if toDo(all) > 0 {
			return exitChanges
		}
		return nil
	})
	f.add(cmd)
	f.changes(cmd)
	a.tableFlags(cmd, &f.asJSON)
	return cmd
}

// changes adds the flags that say what an apply does.
func (f *enclaveFlags) changes(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.prune, "prune", false, "take away what the folder no longer has, in reverse order")
	cmd.Flags().BoolVar(&f.rerun, "all", false, "run partitions that have not changed, too")
	cmd.Flags().BoolVar(&f.adopt, "adopt", false, "take over workspaces of that name that this set does not have")
}

func newEnclaveStatus(a *app) *cobra.Command {
	var f enclaveFlags
	cmd := a.remoteBy(&cobra.Command{
		Use:   "status DIR",
		Short: "Say where each partition of a folder stands",
		Long: `Say of each partition whether it is there, whether it is as the folder says, and which of its declared
outputs it has. Nothing is changed, and nothing is run.` + enclaveHelp,
		Example: "  holdfast enclave status .\n  holdfast enclave status . --enclave product-a-dev --json",
		Args:    cobra.ExactArgs(1),
	}, &f.client, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := a.reconciler(c, args[0], f)
		if err != nil {
			return err
		}
		all, err := r.Status(ctx)
		if err != nil {
			return err
		}
		return a.showStatus(all, f.asJSON)
	})
	f.add(cmd)
	a.tableFlags(cmd, &f.asJSON)
	return cmd
}

func newEnclaveDiff(a *app) *cobra.Command {
	var f enclaveFlags
	cmd := a.remoteBy(&cobra.Command{
		Use:   "diff DIR",
		Short: "Show how a folder differs from what the server has of it",
		Long: `Show, line by line, how the files of each partition differ from its newest configuration at the server, and
which variables do. Values of sensitive variables are not shown.` + enclaveHelp,
		Example: "  holdfast enclave diff .",
		Args:    cobra.ExactArgs(1),
	}, &f.client, func(ctx context.Context, c *client.Client, args []string) error {
		return a.diffEnclaves(ctx, c, args[0], f)
	})
	f.add(cmd)
	return cmd
}

// diffEnclaves shows the files of each partition that differ, and then what else does.
func (a *app) diffEnclaves(ctx context.Context, c *client.Client, dir string, f enclaveFlags) error {
	r, err := a.reconciler(c, dir, f)
	if err != nil {
		return err
	}
	part, err := r.Tree.Only(f.only)
	if err != nil {
		return err
	}
	for _, p := range part.Partitions() {
		diff, err := r.Difference(ctx, p)
		if err != nil {
			return err
		}
		if len(diff.Files)+len(diff.Other) == 0 {
			continue
		}
		fmt.Fprintf(a.stdout, "# %s\n", p.Path())
		for _, why := range diff.Other {
			fmt.Fprintf(a.stdout, "# %s\n", printable.Text(why))
		}
		for _, file := range diff.Files {
			change := fileChange{path: strings.TrimPrefix(p.Path()+"/"+file.Path, "/"), how: modified}
			switch {
			case file.Before == nil:
				change.how = added
			case file.After == nil:
				change.how = onlyThere
			}
			if _, err := a.stdout.Write(unifiedDiff(change, file.Before, file.After)); err != nil {
				return err
			}
		}
	}
	return nil
}
