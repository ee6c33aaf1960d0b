package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/dual"
)

// onDual runs work on the dual store that the settings name. Opening it tries once to make
// up for what a side is owed.
func (a *app) onDual(cmd *cobra.Command, work func(context.Context, *dual.Store) error) (err error) {
	settings, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if kind := settings.Storage.Type; kind != configs.Dual {
		return fmt.Errorf("storage.type (STORAGE_TYPE) is %s; only a dual store has two sides", kind)
	}
	if err := requireFolder(settings.Storage.Path); err != nil {
		return err
	}
	opened, err := a.open(cmd.Context(), settings, storage.OpenBoth)
	if err != nil {
		return err
	}
	defer closeStore(opened, &err)
	store, ok := opened.(*dual.Store)
	if !ok {
		return errors.New("the store has no sides")
	}
	return work(cmd.Context(), store)
}
