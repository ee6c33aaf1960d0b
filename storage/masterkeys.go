package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/keyservice"
	"github.com/holdfast/holdfast/seal"
)

// MasterSource is where the settings say that the master keys are. Nothing is read or asked yet.
func MasterSource(settings configs.Settings) (seal.Source, error) {
	s := settings.Seal
	from := seal.Source{Path: settings.MasterKeyPath(), Text: s.MasterKeys.Reveal()}
	if s.KeyService == "" {
		return from, nil
	}
	var err error
	from.Keeper, err = keyservice.New(keyservice.Options{Service: s.KeyService, Key: s.Key, Address: s.KeyAddress,
		Namespace: s.KeyNamespace, TokenFile: s.KeyTokenFile, CAFile: s.KeyCAFile, Getenv: os.Getenv})
	return from, err
}

// ReadMaster reads the master keys; the error is fs.ErrNotExist where the settings name none and there is no file.
func ReadMaster(ctx context.Context, settings configs.Settings) (*seal.Master, error) {
	from, err := MasterSource(settings)
	if err != nil {
		return nil, err
	}
	return from.Read(ctx)
}

// CreateMaster makes a master key file with a new key; the error is fs.ErrExist where there is one already.
func CreateMaster(ctx context.Context, settings configs.Settings) error {
	from, err := MasterSource(settings)
	if err != nil {
		return err
	}
	return from.Create(ctx)
}

// masterOf reads the master keys that states are sealed under.
func masterOf(ctx context.Context, settings configs.Settings) (*seal.Master, error) {
	master, err := ReadMaster(ctx, settings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(err, fault.SealKeyMissing, "states are encrypted, and the master key file %s is missing: bring "+
			"it back, or say in seal.master_key_file where it is; where nothing is kept yet, `holdfast init` makes it",
			settings.MasterKeyPath())
	}
	return master, err
}
