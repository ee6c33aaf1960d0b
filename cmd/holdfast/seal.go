package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/server"
	"github.com/holdfast/holdfast/storage"
)

func newSealCommand(a *app) *cobra.Command {
	group := newGroup("seal", "Renew the key that encrypts what is kept, and have it forget organizations")
	group.AddCommand(newSealRotateCommand(a), newSealForgetCommand(a))
	return group
}

func newSealRotateCommand(a *app) *cobra.Command {
	var rewrap bool
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Make a new master key, and have it wrap the keys of all organizations",
		Long: `Make a new master key in the master key file, and wrap the data keys of all organizations with it: those of
states, variables, configurations, plans and logs. A server that runs does it while it serves. What is encrypted
stays as it is.

The older keys stay in the file, below the new one: backups from before need them. When no backup does any more,
take their lines out while the server is stopped.

With --rewrap it makes no new key, and wraps with the first one of the file: to go on where it was interrupted,
and for nodes that share a database, each of which has the file. Add the new key to all of their files first, and
start them again.`,
		Example: `  holdfast seal rotate
  holdfast seal rotate --rewrap`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.sealRotate(cmd, rewrap) },
	}
	cmd.Flags().BoolVar(&rewrap, "rewrap", false, "make no new key, and wrap with the first one of the file")
	addConfigFlag(cmd)
	return cmd
}

// withSealing opens the store of states, which no server has.
func (a *app) withSealing(ctx context.Context, settings configs.Settings, do func(storage.Sealing) error) (err error) {
	states, err := storage.OpenStates(ctx, settings, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, states.Close()) }()
	s, ok := storage.SealingOf(states)
	if !ok {
		return errors.New("states are kept in memory only: no key encrypts them")
	}
	return do(s)
}

func (a *app) sealRotate(cmd *cobra.Command, rewrap bool) error {
	settings, err := a.storeSettings(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	said := ""
	if running := runningServer(ctx, server.OperatorSocket(settings)); running != nil {
		path := server.OperatorRotate
		if rewrap {
			path += "?rewrap=1"
		}
		said, err = running.line(ctx, path)
	} else {
		said, err = a.rotateHere(ctx, settings, rewrap)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s data keys are wrapped with the newest master key of %s. Copy that file again.\n", said,
		settings.MasterKeyPath())
	return err
}

// rotateHere does it where no server runs.
func (a *app) rotateHere(ctx context.Context, settings configs.Settings, rewrap bool) (said string, err error) {
	if _, err := storage.ReadMaster(ctx, settings); err != nil {
		return "", err
	}
	db, err := storage.OpenRuns(ctx, settings, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return "", err
	}
	if db != nil {
		defer func() { err = errors.Join(err, db.Close()) }()
	}
	err = a.withSealing(ctx, settings, func(s storage.Sealing) error {
		done, err := storage.Keyring{States: s, Runs: db}.Rotate(ctx, settings, !rewrap)
		said = fmt.Sprint(done.Rewrapped)
		return err
	})
	return said, err
}

// line posts something, and returns the first line of the answer.
func (s *runningStore) line(ctx context.Context, path string) (string, error) {
	answer, err := s.send(ctx, path)
	if err != nil {
		return "", err
	}
	defer answer.Close()
	lines := bufio.NewScanner(answer)
	lines.Scan()
	return lines.Text(), lines.Err()
}
