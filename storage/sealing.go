package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/readmap"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// MakeFolder makes the folder of all data, where a server keeps something there. Beside what is in a database that is
// the master key, and what it has acknowledged lately.
func MakeFolder(settings configs.Settings) error {
	s := settings.Seal
	hasKey := configs.OnServer(settings.Runs.Storage) && s.MasterKeyFile == "" && s.MasterKeys.Reveal() == ""
	if !UsesFolder(settings) && !configs.OnServer(settings.State.Storage) && !hasKey {
		return nil
	}
	return folder.Make(settings.Storage.Path)
}

// Sealing is a store of states on a disk, all of which are sealed.
type Sealing interface {
	// CheckMaster returns why these master keys can't take the place of those that have wrapped the data keys.
	CheckMaster(ctx context.Context, master *seal.Master) error
	// Turn has these master keys wrap and unwrap from now on.
	Turn(master *seal.Master)
	// Rewrap wraps data keys with the newest of these master keys, and returns how many that were.
	Rewrap(ctx context.Context, master *seal.Master) (changed int, err error)
	// UnopenedKeys says which organizations have data keys that can't be opened, and why.
	UnopenedKeys(ctx context.Context) (map[uuid.UUID]error, error)
}

// SealingOf returns what seals a store's states; false for one that has none on a disk.
func SealingOf(states state.Store) (Sealing, bool) {
	if above, ok := states.(*readmap.Store); ok {
		states = above.Below()
	}
	s, ok := states.(Sealing)
	return s, ok
}

// Keyring is all whose data keys are wrapped with the master keys.
type Keyring struct {
	States Sealing      // nil for none
	Runs   *sqldb.DB    // nil for none
	Sealer *seal.Sealer // of Runs
}

// read reads the master keys, and refuses those of another server: whoever has put its file in the place of the right
// one is told, and the right one opens everything still.
func (k Keyring) read(ctx context.Context, from seal.Source) (*seal.Master, error) {
	master, err := from.Read(ctx)
	if err != nil || k.States == nil {
		return master, err
	}
	return master, k.States.CheckMaster(ctx, master)
}

// Forget has the master key file's keys forget an organization, and what is open use them as the file has them then.
// Where nothing is kept there need be no file.
func (k Keyring) Forget(ctx context.Context, settings configs.Settings, org uuid.UUID) (done seal.Forgot, err error) {
	from, err := MasterSource(settings)
	if err != nil {
		return done, err
	}
	_, err = os.Stat(from.Path)
	if errors.Is(err, fs.ErrNotExist) && from.Text == "" && k.States == nil && k.Sealer == nil {
		return done, nil
	}
	if _, err := k.read(ctx, from); err != nil {
		return done, err
	}
	if done, err = from.Forget(ctx, org); err != nil {
		return done, err
	}
	master, err := k.read(ctx, from) // somebody else may have changed the file before
	if err != nil {
		return done, err
	}
	if k.States != nil {
		k.States.Turn(master)
	}
	if k.Sealer != nil {
		k.Sealer.Turn(master)
	}
	return done, nil
}

// Rotated says what a rotation has done.
type Rotated struct {
	Rewrapped int // data keys
}

// Rotate makes a new master key in the master key file, unless only what is there is to be used, and has it wrap all
// data keys. The older ones stay in the file. It may be called again at any time: what is wrapped already stays so.
func (k Keyring) Rotate(ctx context.Context, settings configs.Settings, fresh bool) (done Rotated, err error) {
	from, err := MasterSource(settings)
	if err != nil {
		return done, err
	}
	if _, err := k.read(ctx, from); err != nil {
		return done, err
	}
	if err := from.Change(ctx, fresh); err != nil {
		return done, fmt.Errorf("make a new master key: %w", err)
	}
	master, err := k.read(ctx, from)
	if err != nil {
		return done, err
	}
	if k.States != nil {
		done.Rewrapped, err = k.States.Rewrap(ctx, master)
	}
	if k.Runs == nil {
		return done, err
	}
	sealer := k.Sealer
	if sealer == nil {
		sealer = seal.New(master, sqldb.NewKeys(k.Runs))
	}
	sealer.Turn(master)
	orgs, failed := sqldb.NewKeys(k.Runs).Owners(ctx)
	err = errors.Join(err, failed)
	for _, org := range orgs {
		n, failed := sealer.Rewrap(ctx, org)
		done.Rewrapped += n
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("organization %v: %w", org, failed))
		}
	}
	return done, err
}
