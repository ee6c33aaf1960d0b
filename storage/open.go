// Package storage opens the store that the settings ask for. Each engine is a package of
// its own below this one; this switch is the only place that knows them all.
package storage

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/readmap"
	"github.com/holdfast/holdfast/storage/sqlite"
	"github.com/holdfast/holdfast/storage/states"
)

// OpenStates opens the state store: the engine, and above a durable one the in-memory
// map that serves reads. A database server that is not up yet is waited for, as long as
// database.startup_wait says. The caller closes it.
func OpenStates(ctx context.Context, settings configs.Settings, log *slog.Logger) (state.Store, error) {
	switch settings.State.Storage {
	case configs.Memory:
		log.WarnContext(ctx, "states are kept in memory only: they are gone when this process ends",
			"setting", "state.storage = memory")
		return memory.New(settings.State.MemoryBytes), nil
	case configs.SQLite:
		store, err := openSQLite(ctx, settings, log)
		if err != nil {
			return nil, err
		}
		return readmap.New(store, settings.State.CacheBytes), nil
	case configs.MySQL, configs.Postgres:
		acks := filepath.Join(settings.Storage.Path, "acknowledged.jsonl")
		store, err := openServerStates(ctx, settings, acks, log)
		if err != nil {
			return nil, err // a nil *states.Store would be no nil state.Store
		}
		return readmap.NewShared(store, settings.State.CacheBytes), nil
	default:
		return nil, fmt.Errorf("state.storage: there is no engine %q", settings.State.Storage)
	}
}

// ClockOf returns the time that decisions about states go by: where several nodes write them, that of their
// database.
func ClockOf(states state.Store) func() time.Time {
	if shared, ok := states.(interface{ Time() time.Time }); ok {
		return shared.Time
	}
	return time.Now
}

// openServerStates opens the states of a database. acks is where this node notes what it has acknowledged; empty for
// nowhere.
func openServerStates(ctx context.Context, settings configs.Settings, acks string,
	log *slog.Logger) (*states.Store, error) {
	master, err := masterOf(ctx, settings)
	if err != nil {
		return nil, err
	}
	o := statesOptions(settings.Database, log)
	o.AckFile, o.Master = acks, master
	return states.Open(ctx, o)
}

// statesOptions are for the states of the database of [database].
func statesOptions(d configs.Database, log *slog.Logger) states.Options {
	server := onServer(d, log)
	return states.Options{MySQL: server.MySQL, Postgres: server.Postgres, StartupWait: d.StartupWait, Log: log}
}

func openSQLite(ctx context.Context, settings configs.Settings, log *slog.Logger) (*sqlite.Store, error) {
	master, err := masterOf(ctx, settings)
	if err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, sqlite.Options{Dir: settings.Storage.Path, Log: log, Now: time.Now, Master: master})
}
