// Package storage opens the store that the settings ask for. Each engine is a package of
// its own below this one; this switch is the only place that knows them all.
package storage

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/readmap"
	"github.com/holdfast/holdfast/storage/sqlite"
)

// OpenStates opens the state store: the engine, and above a durable one the in-memory
// map that serves reads. The caller closes it.
func OpenStates(ctx context.Context, settings configs.Settings, log *slog.Logger) (state.Store, error) {
	switch settings.State.Storage {
	case configs.Memory:
		log.WarnContext(ctx, "states are kept in memory only: they are gone when this process ends",
			"setting", "state.storage = memory")
		return memory.New(settings.State.MemoryBytes), nil
	case configs.SQLite:
		store, err := sqlite.Open(ctx, sqlite.Options{Dir: settings.Storage.Path, Log: log, Now: time.Now})
		if err != nil {
			return nil, err
		}
		return readmap.New(store, settings.State.CacheBytes), nil
	default:
		return nil, fmt.Errorf("state.storage: there is no engine %q", settings.State.Storage)
	}
}
