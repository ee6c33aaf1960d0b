package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

// infraName is what the group of these commands is called, and the whole program where its file has
// this name.
const infraName = "infra"

func newInfraCommand(a *app) *cobra.Command {
	group := newGroup(infraName, "Sync a folder with a project, and plan and apply it on the server")
	group.AddCommand(newInfraPlanCommand(a), newInfraApplyCommand(a), newInfraPullCommand(a))
	return group
}

// infraHelp goes into the help of each of them.
const infraHelp = `

The project is what --project-id says, else ` + envProject + ` in the environment, else the file
` + projectFileName + ` in the folder, which remembers the first --project-id. It is a workspace's name or ID.

A project's files are those of the tools' languages (*.tf, *.tofu and their JSON forms), and others
once the project has them. What .terraformignore and .holdfastignore name is passed over.`

// infraFlags are what the command lines of all these commands say.
type infraFlags struct {
	project, folder string
	yes, asJSON     bool
}

// infraWork is one of these commands at work.
type infraWork struct {
	a       *app
	client  *client.Client
	flags   infraFlags
	project string
	named   project // and who says that it is this one
	program string  // what people call the group by
}

// ofInfra makes cmd one that is about a project.
func (a *app) ofInfra(cmd *cobra.Command, do func(ctx context.Context, w *infraWork) error) *cobra.Command {
	var f infraFlags
	var self *cobra.Command
	cmd.Args = cobra.NoArgs
	cmd.Long += infraHelp
	self = a.remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		named, err := a.projectOf(f.folder, f.project)
		if err != nil {
			return err
		}
		return do(ctx, &infraWork{a: a, client: c, flags: f, project: named.id, named: named,
			program: self.Parent().CommandPath()})
	})
	cmd.Flags().StringVar(&f.project, "project-id", "", "name or ID of the project (default: "+envProject+", else "+
		projectFileName+")")
	_ = cmd.RegisterFlagCompletionFunc("project-id", // it fails for a flag that is not there
		func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return a.asking(workspaceNames)(cmd, typed), cobra.ShellCompDirectiveNoFileComp
		})
	cmd.Flags().StringVar(&f.folder, "dir", ".", "the folder with the project's files")
	addYesFlag(cmd, &f.yes)
	addJSONFlag(cmd, &f.asJSON)
	return self
}

// show writes what people see; nothing with --json.
func (w *infraWork) show(text string) {
	if !w.flags.asJSON {
		fmt.Fprint(w.a.stdout, text)
	}
}

// tell writes what people should know beside that.
func (w *infraWork) tell(text string) {
	if !w.flags.asJSON {
		fmt.Fprint(w.a.stderr, text)
	}
}

// paintBeside is app.paint for stderr.
func (w *infraWork) paintBeside(code, text string) string {
	if !isTerminal(w.a.stderr) {
		return text
	}
	return w.a.paint(code, text)
}

// openFolder opens the folder; no name that a server says leads out of it.
func (w *infraWork) openFolder() (*os.Root, error) { return os.OpenRoot(w.flags.folder) }

// isNamedInfra reports whether the program was called by the name of these commands.
func isNamedInfra(program string) bool {
	name := filepath.Base(program)
	return name == infraName || name == infraName+".exe"
}

// exitAwaiting is that of an apply that waits for somebody's approval.
const exitAwaiting exitCode = 3

// errNothingHere says that there is no file on either side.
var errNothingHere = errors.New("there is nothing to run: neither the folder nor the project has a file of a " +
	"configuration")
