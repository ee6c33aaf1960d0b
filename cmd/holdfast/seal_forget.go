package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/server"
	"github.com/holdfast/holdfast/storage"
)

func newSealForgetCommand(a *app) *cobra.Command {
	var file string
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget ORG-ID",
		Short: "Have the master keys forget an organization, so that no backup of it can be opened",
		Long: `Have all keys of a master key file forget an organization that was removed with its data: its data keys, which every
backup has, can't be opened with the file any more. All others' can.

A server does this by itself when it destroys an organization's data (holdfast org remove --shred). The command is
for copies of the file, and for keys that the server can't change: those of the environment, or of a folder that
is read-only for it. For keys of the environment put them into a file, name that, and put the file's text into the
variable. Who still has a file from before can open backups from before.

Of an organization that is still in the auth file it forgets nothing.`,
		Example: `  holdfast seal forget 11111111-2222-3333-4444-555555555555 --master-key-file /media/safe/master.key
  holdfast seal forget 11111111-2222-3333-4444-555555555555 --master-key-file ./copy.key --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.sealForget(cmd, args[0], file, yes) },
	}
	cmd.Flags().StringVar(&file, "master-key-file", "", "the file (default: seal.master_key_file, while no server runs)")
	addYesFlag(cmd, &yes)
	addAuthFlags(cmd)
	return cmd
}

func (a *app) sealForget(cmd *cobra.Command, text, file string, yes bool) error {
	org, err := uuid.Parse(text)
	if err != nil {
		return usagef("%q is not the ID of an organization; `holdfast org list` shows those that were removed with their data",
			text)
	}
	settings, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if file != "" {
		settings.Seal.MasterKeyFile, settings.Seal.MasterKeys = file, configs.Secret{}
	} else if runningServer(cmd.Context(), server.OperatorSocket(settings)) != nil {
		return errors.New("a server runs, and has its master keys forget who is removed with `holdfast org remove --shred`; " +
			"--master-key-file names a copy")
	}
	if err := a.mayForget(cmd, org); err != nil {
		return err
	}
	from, err := storage.MasterSource(settings)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("With %s nobody will open anything any more that is sealed of %s, in backups too.", from, org)
	if err := a.confirmWith(cmd.Context(), yes, question, org.String()); err != nil {
		return err
	}
	forgot, err := from.Forget(cmd.Context(), org)
	if err != nil {
		return err
	}
	said := counted(int64(forgot), "key") + " of " + from.String() + " forgot " + org.String() + "."
	if forgot == 0 {
		said = "The keys of " + from.String() + " had forgotten " + org.String() + " already."
	}
	_, err = fmt.Fprintln(a.stdout, said)
	return err
}

// mayForget refuses to forget an organization that somebody can still get in for. A machine with a copy of the keys
// needs no auth file.
func (a *app) mayForget(cmd *cobra.Command, org uuid.UUID) error {
	doc, source, err := a.loadAuth(cmd)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if o, ok := doc.Find(org); ok {
		return fmt.Errorf("%s is in %s: what it has would be lost; `holdfast org remove --shred` destroys it", called(o), source)
	}
	return nil
}
