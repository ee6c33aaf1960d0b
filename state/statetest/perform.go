package statetest

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statemodel"
)

// newService returns the service whose calls reach the store.
func newService(store state.Store) *state.Service {
	return state.NewService(store, state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
}

// perform makes the call. The error is for the test's message: outcome has its code.
func perform(ctx context.Context, s *state.Service, p auth.Principal, name state.Name,
	o statemodel.Op) (statemodel.Outcome, error) {
	var out statemodel.Outcome
	var err error
	switch o.Kind {
	case "get":
		var got state.Loaded
		got, err = s.Get(ctx, p, name)
		out = statemodel.Outcome{Number: got.Number, Body: string(got.Body)}
	case "put":
		var v state.Version
		v, err = s.Put(ctx, p, name, state.Write{Body: []byte(o.Body), LockID: o.ID, Release: o.Release})
		out = statemodel.Outcome{Number: v.Number}
	case "delete":
		err = s.Delete(ctx, p, name, o.ID)
	case "undelete":
		var v state.Version
		v, err = s.Undelete(ctx, p, name)
		out = statemodel.Outcome{Number: v.Number}
	case "lock":
		var head state.Head
		head, err = s.Lock(ctx, p, name, state.LockInfo{ID: o.ID, Who: o.Who, Raw: lockRaw(o.ID, o.Who)})
		out = statemodel.Outcome{Holder: holder(head.Lock)}
	case "unlock":
		err = s.Unlock(ctx, p, name, state.LockInfo{ID: o.ID})
	case "force":
		_, err = s.ForceUnlock(ctx, p, name, state.Forcing{})
	case "holder":
		var lock *state.Lock
		lock, err = s.Holder(ctx, p, name)
		out = statemodel.Outcome{Holder: holder(lock)}
	}
	if err != nil {
		out = refusal(err)
	}
	return out, err
}

func refusal(err error) statemodel.Outcome {
	out := statemodel.Outcome{Code: fault.From(err).Code}
	if held, ok := errors.AsType[*state.HeldError](err); ok {
		out.Holder = held.Holder.ID
	}
	return out
}

func holder(l *state.Lock) string {
	if l == nil {
		return ""
	}
	return l.Info.ID
}
