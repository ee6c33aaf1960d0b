package server

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/storage"
)

// catalogue is the index of resources with who fills it and who serves it.
type catalogue struct {
	index   resources.Index
	indexer *resources.Indexer
	service *resources.Service
	rules   *resources.Rules
}

// openCatalogue starts to index what the stores have, in the background.
func (p *parts) openCatalogue(ctx context.Context) (*catalogue, error) {
	rules, err := readRules(p.settings.Resources.IdentityFile)
	if err != nil {
		return nil, err
	}
	index, err := storage.OpenIndex(ctx)
	if err != nil {
		return nil, err
	}
	c := &catalogue{index: index, rules: rules}
	c.indexer = resources.NewIndexer(resources.Sources{
		Index: index, States: p.states, Uploads: p.uploads, Rules: rules, Memory: p.memory, Log: p.log, Now: time.Now,
	})
	c.service = resources.NewService(resources.Deps{
		Index: index, Indexer: c.indexer, States: p.service, Events: p.states, Gate: p.gate,
		Uploads: p.uploads, Memory: p.memory,
	})
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
