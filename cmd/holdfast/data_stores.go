package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage"
)

// operatorHelp goes into the help of every command that works on the store itself.
const operatorHelp = `It works on the store that the settings name (holdfast.cfg, the environment), not on
a server: stop the server first where CSV files are part of it, or the command is refused.`

// opener opens one of the stores that the settings describe.
type opener func(context.Context, configs.Settings, *slog.Logger) (inventory.Store, error)

// open opens a store for a command, whose log is for a person.
func (a *app) open(ctx context.Context, settings configs.Settings, open opener) (inventory.Store, error) {
	settings.Log.Format = configs.FormatText
	settings.Log.Level = max(settings.Log.Level, slog.LevelWarn)
	return open(ctx, settings, newLogger(a.stderr, settings.Log))
}

// openToRead opens what reads come from: in a dual store, the CSV files. They must be
// there already: a mistyped folder is not an empty store.
func (a *app) openToRead(ctx context.Context, settings configs.Settings) (inventory.Store, error) {
	switch settings.Storage.Type {
	case configs.MySQL, configs.Postgres:
		return a.open(ctx, settings, storage.OpenDatabase)
	case configs.Memory:
		return nil, errNoUploads()
	}
	if err := requireFolder(settings.Storage.Path); err != nil {
		return nil, err
	}
	return a.open(ctx, settings, storage.OpenCSV)
}

// openToWrite opens the store that a server would, and waits for its database: a command
// that began before the database is there would fail at its first question.
func (a *app) openToWrite(ctx context.Context, settings configs.Settings) (inventory.Store, error) {
	switch settings.Storage.Type {
	case configs.Memory:
		return nil, errNoUploads()
	case configs.MySQL, configs.Postgres:
		return a.open(ctx, settings, storage.OpenDatabase)
	case configs.Dual:
		return a.open(ctx, settings, storage.OpenBoth)
	}
	return a.open(ctx, settings, storage.OpenCSV)
}

func errNoUploads() error {
	return errors.New("these settings keep no uploads: storage.type (STORAGE_TYPE) is memory; set it to csv, mysql, " +
		"postgres or dual")
}

func requireFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return noStore(path, err)
		}
		return fmt.Errorf("storage.path (STORAGE_PATH) is %s: %w", path, err)
	}
	return nil
}

// closeStore adds the error of a store's Close to that of the command.
func closeStore(store inventory.Store, err *error) { *err = errors.Join(*err, store.Close()) }

const orgFlag = "org"

// orgsOf returns the organization that --org names, else all that the store has.
func orgsOf(cmd *cobra.Command, store recordSource) iter.Seq2[uuid.UUID, error] {
	text := ""
	if flag := cmd.Flags().Lookup(orgFlag); flag != nil { // not all commands have it
		text = flag.Value.String()
	}
	if text == "" {
		return store.Organizations(cmd.Context())
	}
	return func(yield func(uuid.UUID, error) bool) { yield(parseOrg(text)) }
}

// parseOrg reads the value of --org.
func parseOrg(text string) (uuid.UUID, error) {
	org, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, usagef("--org: %.50q is not an organization's UUID; `holdfast org list` shows them", text)
	}
	return org, nil
}

// interrupted says how to go on, if a signal ended the command.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted; run the same command again to continue: %w", err)
	}
	return err
}
