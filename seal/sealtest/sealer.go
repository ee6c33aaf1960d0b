package sealtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
)

// NewMaster returns a master key that nobody has kept.
func NewMaster() (master *seal.Master, err error) {
	dir, err := os.MkdirTemp("", "sealtest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "master.key")
	if err := seal.CreateMasterFile(path); err != nil {
		return nil, err
	}
	return seal.ReadMasterFile(path)
}

// servesSealers has two sealers, as of two processes, share the keys.
func servesSealers(ctx context.Context, keys seal.Keys) error {
	master, err := NewMaster()
	if err != nil {
		return err
	}
	org, one, other := uuid.New(), seal.New(master, keys), seal.New(master, keys)
	for round := range 3 {
		plain := fmt.Sprint("round ", round)
		sealed, err := one.Seal(ctx, org, "variable", "a", []byte(plain))
		if err != nil {
			return err
		}
		if got, err := other.Open(ctx, org, "variable", "a", sealed); err != nil || string(got) != plain {
			return fmt.Errorf("the other sealer opened %q, %w", got, err)
		}
		if err := other.Rotate(ctx, org); err != nil {
			return err
		}
		one, other = other, one
	}
	return nil
}
