package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

// catalogue is the index of resources with who fills it and who serves it.
type catalogue struct {
	index   resources.Index
	indexer *resources.Indexer
	service *resources.Service
}

// openCatalogue starts to index what the stores have, in the background.
func openCatalogue(ctx context.Context, settings configs.Settings, store state.Store, uploads inventory.Store, states *state.Service, memory *budget.Budget, log *slog.Logger) (*catalogue, error) {
	rules, err := readRules(settings.Resources.IdentityFile)
	if err != nil {
		return nil, err
	}
	index, err := storage.OpenIndex(ctx, settings, log)
	if err != nil {
		return nil, err
	}
	c := &catalogue{index: index}
	c.indexer = resources.NewIndexer(resources.Sources{Index: index, States: store, Uploads: uploads, Rules: rules, Memory: memory, Log: log, Now: time.Now})
	c.service = resources.NewService(resources.Deps{Index: index, Indexer: c.indexer, States: states, Events: store, Gate: audit.NewGate(store, time.Now), Uploads: uploads, Memory: memory})
	c.indexer.Start()
	return c, nil
}

// Close stops the indexer, then closes the index.
func (c *catalogue) Close() error {
	_ = c.indexer.Close() // it has no errors
	return c.index.Close()
}

// readRules reads the operator's identity rules; an empty path is none of them.
func readRules(path string) (*resources.Rules, error) {
	if path == "" {
		return resources.DefaultRules()
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("resources.identity_file: %w", err)
	}
	rules, err := resources.ReadRules(file)
	if err != nil {
		return nil, fmt.Errorf("resources.identity_file %s: %w", path, err)
	}
	return rules, nil
}
