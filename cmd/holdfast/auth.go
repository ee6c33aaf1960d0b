package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/server"
	"github.com/holdfast/holdfast/storage/sqlauth"
)

// authHelp is what the commands about the database's auth.cfg have in common.
const authHelp = `With auth.source = database the text of auth.cfg is in the database of [database], one revision after
another: "holdfast org" and "holdfast key" edit the newest, and all nodes follow it within a second. It
has the bcrypt hashes of keys in it, as the file has.`

func newAuthCommand(a *app) *cobra.Command {
	cmd := newGroup("auth", "Bring auth.cfg into the database that nodes share, and back")
	cmd.AddCommand(newAuthPushCommand(a), newAuthPullCommand(a))
	return cmd
}

func newAuthPushCommand(a *app) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "push FILE",
		Short: "Make a file the newest auth.cfg of the database",
		Long: `Make a file the newest auth.cfg of the database, after it was read and found good. Where the database
has another one already, --replace puts the file in its place; - reads it from standard input.

` + authHelp + `

The command ends when all nodes have taken it that run.`,
		Example: `  holdfast auth push auth.cfg
  holdfast auth pull auth.cfg && $EDITOR auth.cfg && holdfast auth push --replace auth.cfg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.pushAuth(cmd, args[0], replace) },
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "put the file in the place of what is there")
	addConfigFlag(cmd)
	return cmd
}

func newAuthPullCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pull FILE",
		Short: "Write the database's newest auth.cfg to a file",
		Long: `Write the newest auth.cfg of the database to a file with mode 0600, in the place of one that is there;
to standard output with -.

` + authHelp,
		Example: `  holdfast auth pull auth.cfg
  holdfast auth pull -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.pullAuth(cmd, args[0]) },
	}
	addConfigFlag(cmd)
	return cmd
}

// sharedAuth opens the database's auth.cfg, whatever auth.source is: who moves to it has not said
// so in the settings yet.
func (a *app) sharedAuth(cmd *cobra.Command) (*sqlauth.Store, configs.Settings, error) {
	settings, err := a.settings(cmd)
	if err != nil {
		return nil, settings, err
	}
	shared, err := a.openAuth(cmd, settings)
	return shared, settings, err
}

func (a *app) pushAuth(cmd *cobra.Command, file string, replace bool) error {
	text, err := a.readAuthText(file)
	if err != nil {
		return err
	}
	if _, err := authfile.Parse(file, text); err != nil {
		return err
	}
	shared, settings, err := a.sharedAuth(cmd)
	if err != nil {
		return err
	}
	name := server.AuthDatabaseName(settings)
	err = authfile.Replace(cmd.Context(), shared, name, editor(), text, func(had authfile.Revision) error {
		if had.Number > 0 && !replace {
			return fmt.Errorf("there is another %s already, revision %d; `holdfast auth pull` writes it to a file, --replace "+
				"puts this one in its place", name, had.Number)
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.awaitNodes(cmd.Context(), shared)
	number, _, err := shared.Tip(cmd.Context())
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s is revision %d of %s.\n", file, number, name)
	if settings.Auth.Source != configs.AuthDatabase {
		fmt.Fprintln(a.stderr, "Nodes use it once they have auth.source = database (HOLDFAST_AUTH_SOURCE).")
	}
	return nil
}

// maxAuthText bounds what is read from standard input, in bytes; the database takes no more.
const maxAuthText = 64 << 20

func (a *app) readAuthText(file string) (string, error) {
	if file == "-" {
		text, err := io.ReadAll(io.LimitReader(a.stdin, maxAuthText+1))
		return string(text), err
	}
	doc, err := authfile.Load(file)
	if err != nil {
		return "", err
	}
	return doc.String(), nil
}

func (a *app) pullAuth(cmd *cobra.Command, file string) error {
	shared, settings, err := a.sharedAuth(cmd)
	if err != nil {
		return err
	}
	newest, err := shared.Newest(cmd.Context())
	if err == nil && newest.Number == 0 {
		err = authfile.ErrNoRevision
	}
	if err != nil {
		return err
	}
	if file == "-" {
		_, err := io.WriteString(a.stdout, newest.Text)
		return err
	}
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() || err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is no file that can be written", file), err)
	}
	if err := durable.Write(file, newest.Text); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s has revision %d of %s, written by %s.\n", file, newest.Number,
		server.AuthDatabaseName(settings), newest.By)
	return nil
}
