package main

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/server"
	"github.com/holdfast/holdfast/storage"
)

func newSealForgetCommand(a *app) *cobra.Command {
	var file string
	var yes, unchecked bool
	cmd := &cobra.Command{
		Use:   "forget ORG-ID",
		Short: "Have the master keys forget an organization, so that no backup of it can be opened",
		Long: `Have all keys of a master key file forget an organization that was removed with its data: its data keys, which every
backup has, can't be opened with the file any more. All others' can.

A server does this by itself when it destroys an organization's data (holdfast org remove --shred). The command is
for copies of the file, and for one that the server can't change, as its folder is read-only for it: then start the
servers that have read it again. Who still has a file from before can open backups from before.

Keys of files from before 2026-11-27, and the 64 digits of HOLDFAST_SEAL_MASTER_KEYS, forget nobody: "holdfast seal
rotate" makes keys that can, and what backups from before have opens as long as the older ones are there.

It forgets an organization that the auth file says was removed with its data, or whose data the server has destroyed.
On a machine that has a copy of the keys only, --unchecked forgets whom you name.`,
		Example: `  holdfast seal forget 11111111-2222-3333-4444-555555555555 --master-key-file /media/safe/master.key
  holdfast seal forget 11111111-2222-3333-4444-555555555555 --master-key-file ./copy.key --unchecked`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.sealForget(cmd, args[0], file, yes, unchecked) },
	}
	cmd.Flags().StringVar(&file, "master-key-file", "", "the file (default: seal.master_key_file, while no server runs)")
	addYesFlag(cmd, &yes)
	cmd.Flags().BoolVar(&unchecked, "unchecked", false, "don't look whether the organization was removed with its data")
	addAuthFlags(cmd)
	return cmd
}

func (a *app) sealForget(cmd *cobra.Command, text, file string, yes, unchecked bool) error {
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
	if !unchecked {
		if err := a.mayForget(cmd, settings, org); err != nil {
			return err
		}
	}
	from, err := storage.MasterSource(settings)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("With %s nobody will open anything any more that its keys seal of %s, in backups too.", from, org)
	if err := a.confirmWith(cmd.Context(), yes, question, org.String()); err != nil {
		return err
	}
	done, err := from.Forget(cmd.Context(), org)
	if err != nil {
		return err
	}
	return a.tellForgotten(from.String(), org, done)
}

func (a *app) tellForgotten(from string, org uuid.UUID, done seal.Forgot) error {
	said := counted(int64(done.Keys), "key") + " of " + from + " forgot " + org.String() + ".\n"
	if done.Keys == 0 && done.Older == 0 {
		said = "The keys of " + from + " had forgotten " + org.String() + " already.\n"
	}
	if done.Older > 0 {
		said += counted(int64(done.Older), "key") + " of an older file can't forget anybody: what backups from before " +
			"`holdfast seal rotate` have\nopens as long as it is there.\n"
	}
	_, err := fmt.Fprint(a.stdout, said)
	return err
}

// mayForget refuses to forget an organization that was not removed with its data: it may be let in again.
func (a *app) mayForget(cmd *cobra.Command, settings configs.Settings, org uuid.UUID) error {
	doc, source, err := a.loadAuth(cmd)
	if err != nil {
		return fmt.Errorf("whether the organization was removed with its data can't be told: %w; --unchecked doesn't ask", err)
	}
	if o, ok := doc.Find(org); ok {
		return fmt.Errorf("%s is in %s: what it has would be lost; `holdfast org remove --shred` destroys it", called(o), source)
	}
	if _, ok := doc.Shredding(org); ok {
		return nil
	}
	done, err := server.ShredReceipts(settings).Knows(org)
	if err == nil && !done {
		err = fmt.Errorf("%s does not say that %s was removed with its data: `holdfast org add NAME --id` may let it in again; "+
			"--unchecked doesn't ask", source, org)
	}
	return err
}
