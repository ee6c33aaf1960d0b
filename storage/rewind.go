package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// rewinder is whom the history of states names for what Rewind does.
const rewinder = "restore"

// Rewound is what Rewind has done.
type Rewound struct {
	Changed int
	// Left are the states that are as they were before: no version of the time is kept any more.
	Left []state.Ref
	// Unread are as they were before, too: what is kept of them can't be read, or takes no rollback.
	Unread []Unread
}

// Unread is a state that can't be read or rolled back, and why: the fault's code says whether it is damaged, or
// encrypted with a key that is not there, or what keeps it from a rollback.
type Unread struct {
	Ref state.Ref
	Why fault.Code
}

// rewindable is an engine that knows what its states were.
type rewindable interface {
	state.Store
	Rewinds(context.Context, time.Time) ([]stateengine.Rewind, error)
}

// Rewind brings each state of a folder or a database back to the version that it had at a time, as far as versions are
// kept: by a rollback, so that the later ones stay in the history, and can be gone back to. A state that was not there
// yet is deleted, and one that was deleted since is there again; either can be undone. One whose versions of then
// were removed since, by retention or a purge, is left alone, and so is one that can't be read, or rolled back: one
// of an organization whose keys are destroyed, say, or one without a serial. The folder or database is nobody else's.
func Rewind(ctx context.Context, settings configs.Settings, at time.Time, log *slog.Logger) (done Rewound, err error) {
	store, err := openRewindable(ctx, settings, log)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	all, err := store.Rewinds(ctx, at)
	if err != nil {
		return done, err
	}
	// Nobody's guards or locks keep anybody from the past.
	states := state.NewService(store, state.DefaultPolicies{}, ClockOf(store), log)
	for _, one := range all {
		if one.Version == 0 && !one.Made {
			done.Left = append(done.Left, one.Ref)
			continue
		}
		err := rewind(ctx, store, states, one, at)
		switch {
		case isItsOwn(err):
			done.Unread = append(done.Unread, Unread{one.Ref, fault.From(err).Code})
		case err != nil:
			return done, fmt.Errorf("the state %s of %s: %w", one.Ref.Name, one.Ref.Org, err)
		default:
			done.Changed++
		}
	}
	return done, nil
}

// isItsOwn reports whether an error is of what a state has, whatever becomes of others: something of it can't be read,
// or its bytes can't become a version once more.
func isItsOwn(err error) bool {
	switch fault.From(err).Code {
	case fault.StateCorrupt, fault.SealCorrupt, fault.SealKeyMissing, fault.StateUnsupported, fault.StateInvalid,
		fault.BytesPurged:
		return true
	}
	return false
}

func openRewindable(ctx context.Context, settings configs.Settings, log *slog.Logger) (rewindable, error) {
	if !configs.OnServer(settings.State.Storage) {
		return openSQLite(ctx, settings, log)
	}
	return openServerStates(ctx, settings, "", log)
}

// rewind changes nothing of a state that can't be read, or rolled back.
func rewind(ctx context.Context, store state.Store, states *state.Service, r stateengine.Rewind, at time.Time) error {
	who := auth.Principal{Org: r.Ref.Org, KeyID: rewinder, Grant: auth.Grant{Role: auth.Owner},
		Request: uuid.NewString()}
	if err := readable(ctx, store, r); err != nil {
		return err
	}
	if r.Version == 0 {
		return states.Delete(ctx, who, r.Ref.Name, r.LockID)
	}
	if r.Version == r.Newest {
		_, err := states.UndeleteHeld(ctx, who, r.Ref.Name, r.LockID)
		return err
	}
	// This brings back one that was deleted too, by the same change.
	_, err := states.Rollback(ctx, who, r.Ref.Name, r.Version, "restored as of "+shown(at), r.LockID)
	return err
}

// versionsAtOnce is how many versions are listed at once.
const versionsAtOnce = 1000

// readable finds out whether a state can be read. Nothing is written before, not even the key of an organization that
// has none; and of one that is to be there again it reads all that a rollback does.
func readable(ctx context.Context, store state.Store, r stateengine.Rewind) error {
	if _, err := store.Head(ctx, r.Ref); err != nil || !r.Deleted {
		return err
	}
	if _, err := store.Version(ctx, r.Ref, r.Version); err != nil || r.Version == r.Newest {
		return err
	}
	for before := uint64(0); ; {
		some, err := store.Versions(ctx, r.Ref, before, versionsAtOnce)
		if err != nil || len(some) == 0 {
			return err
		}
		before = some[len(some)-1].Number
	}
}
