package handlers

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/state"
)

// maxLockInfoBytes is far above what clients send, about 300 bytes.
const maxLockInfoBytes = 64 << 10

// lock answers 200: 201 would be an error to clients.
func (s states) lock(ctx context.Context, r *request, name state.Name) (answer, error) {
	info, err := state.ParseLockInfo(r.body())
	if err != nil {
		return nil, err
	}
	head, err := s.service.Lock(ctx, r.caller, name, info)
	if err != nil {
		return nil, err
	}
	return exactly{body: info.Raw, header: func(header http.Header) {
		setVersion(header, head.Version)
		warnQuota(header, s.quota, r.caller.Org)
	}}, nil
}

// unlock answers 200: 204 would be an error to clients.
func (s states) unlock(ctx context.Context, r *request, name state.Name) (answer, error) {
	info := r.unlocked(r.body())
	err := r.err()
	switch {
	case err != nil:
	case info.ID == "":
		_, err = s.service.ForceUnlock(ctx, r.caller, name, state.Forcing{})
	default:
		err = s.service.Unlock(ctx, r.caller, name, info)
	}
	return done(), err
}

// holder shows who holds the lock: the holder's LockInfo, or {} when nobody does. It is
// not 404, which on these routes means "there is no state".
func (s states) holder(ctx context.Context, r *request, name state.Name) (answer, error) {
	lock, err := s.service.Holder(ctx, r.caller, name)
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return tell(api.LockInfo{}), nil
	}
	return exactly{body: lock.Info.Raw}, nil
}
