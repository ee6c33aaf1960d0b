package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/server"
	"github.com/holdfast/holdfast/storage"
)

func newSealCommand(a *app) *cobra.Command {
	group := newGroup("seal", "Encrypt the states that are kept, and renew the key that does")
	group.AddCommand(newSealStatusCommand(a), newSealEnableCommand(a), newSealRotateCommand(a),
		newSealForgetCommand(a))
	return group
}

func newSealStatusCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the states that are kept are encrypted",
		Long: `Say whether the states that are kept are encrypted: "sealed" where all of them are. A server that runs is asked.
The exit code is 0 where all are, and 1 otherwise.`,
		Example: `  holdfast seal status`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.sealStatus(cmd) },
	}
	addConfigFlag(cmd)
	return cmd
}

func newSealEnableCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "enable",
		Short: "Encrypt the states of a store that keeps them unencrypted",
		Long: `Encrypt all states, versions and candidates of a store that keeps them unencrypted, under the master key
(seal.master_key_file). New stores are encrypted from their beginning.

A server that runs goes on serving, and writes encrypted from the first moment on; without one the command does
it by itself. It may be interrupted: what is encrypted stays so, a server goes on with the rest at its next
start, and so does this command. In the end the store's files have no unencrypted rest any more. Backups from
before do.

There is no way back, and without the master key file nobody can read the states any more: keep a copy of it
apart from copies of the data.`,
		Example: `  holdfast seal enable
  holdfast seal enable --config /etc/holdfast/holdfast.cfg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.sealEnable(cmd) },
	}
	addConfigFlag(cmd)
	return cmd
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

// errUnsealed is of states that are not sealed.
var errUnsealed = errors.New("states are kept unencrypted: `holdfast seal enable` encrypts them")

func (a *app) sealStatus(cmd *cobra.Command) error {
	settings, err := a.storeSettings(cmd)
	if err != nil {
		return err
	}
	said := ""
	if running := runningServer(cmd.Context(), server.OperatorSocket(settings)); running != nil {
		said, err = running.line(cmd.Context(), server.OperatorSealStatus)
	} else {
		said, err = a.sealModeOf(cmd.Context(), settings)
	}
	if err != nil {
		return err
	}
	if said != server.SealedAll {
		return errUnsealed
	}
	_, err = fmt.Fprintln(a.stdout, said)
	return err
}

func (a *app) sealModeOf(ctx context.Context, settings configs.Settings) (said string, err error) {
	err = a.withSealing(ctx, settings, func(s storage.Sealing) error {
		if s.SealMode() == storage.Sealed {
			said = server.SealedAll
		}
		return nil
	})
	return said, err
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
		return errors.New("states are kept in memory only: there is nothing to encrypt")
	}
	return do(s)
}

func (a *app) sealEnable(cmd *cobra.Command) error {
	settings, err := a.storeSettings(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if running := runningServer(ctx, server.OperatorSocket(settings)); running != nil {
		err = running.seal(ctx, a.sealProgress())
	} else {
		master, failed := a.ensureMaster(cmd)
		if failed != nil {
			return failed
		}
		fmt.Fprint(a.stderr, master.words(""))
		tell := a.sealProgress()
		err = a.withSealing(ctx, settings, func(s storage.Sealing) error {
			return s.Seal(ctx, func(p storage.SealProgress) { tell(p.Done, p.Total) })
		})
	}
	if err != nil {
		return interrupted(ctx, err)
	}
	_, err = fmt.Fprintln(a.stdout, "All states are encrypted.")
	return err
}

// sealProgress returns what tells how far it has come.
func (a *app) sealProgress() func(done, total int64) {
	shown := int64(-1)
	return func(done, total int64) {
		if percent := 100 * done / max(total, 1); percent != shown {
			shown = percent
			fmt.Fprintf(a.stderr, "encrypted %d of %s\n", done, counted(total, "version"))
		}
	}
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

// seal has the server seal its states, and returns when all are.
func (s *runningStore) seal(ctx context.Context, tell func(done, total int64)) error {
	answer, err := s.send(ctx, server.OperatorSeal)
	if err != nil {
		return err
	}
	defer answer.Close()
	for lines := bufio.NewScanner(answer); lines.Scan(); {
		line := lines.Text()
		if line == server.SealedAll {
			return nil
		}
		if why, failed := strings.CutPrefix(line, server.SealFailed); failed {
			return errors.New(why)
		}
		var done, total int64
		if _, err := fmt.Sscan(line, &done, &total); err == nil {
			tell(done, total)
		}
	}
	return errors.New("the server ended before all states were encrypted; it goes on when it starts again")
}
