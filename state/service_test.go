package state_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

func newService(log *slog.Logger) *state.Service {
	return state.NewService(memory.New(1<<20), state.DefaultPolicies{}, func() time.Time { return time.Unix(0, 0) }, log)
}

// Whoever forces a lock open is named in the log, with whose it was; a holder who lets go
// is not.
func TestForcedReleaseIsLogged(t *testing.T) {
	mine := state.LockInfo{ID: "a-1", Who: "ada@engine", Created: "2026-11-21T02:53:01Z"}
	forced := state.LockInfo{ID: "a-1", Created: "0001-01-01T00:00:00Z"}
	tests := map[string]struct {
		release func(*state.Service, auth.Principal) error
		logged  bool
	}{
		"Terraform's force-unlock": {func(s *state.Service, p auth.Principal) error {
			_, err := s.ForceUnlock(t.Context(), p, "x", state.Forcing{})
			return err
		}, true},
		"OpenTofu's force-unlock": {func(s *state.Service,
			p auth.Principal) error {
			return s.Unlock(t.Context(), p, "x", forced)
		}, true},
		"the holder's UNLOCK": {func(s *state.Service,
			p auth.Principal) error {
			return s.Unlock(t.Context(), p, "x", mine)
		}, false},
	}
	for name, test := range tests {
		var lines bytes.Buffer
		service := newService(slog.New(slog.NewTextHandler(&lines, nil)))
		p := auth.Principal{Org: uuid.New(), KeyID: "k-2", Grant: auth.Grant{Role: auth.Owner}}
		if _, err := service.Lock(t.Context(), p, "x", mine); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second is a replay, which forces nothing
			if err := test.release(service, p); err != nil {
				t.Fatal(err)
			}
		}
		forcedLines := strings.Count(lines.String(), "lock forced open")
		if test.logged != (forcedLines == 1) || test.logged && !strings.Contains(lines.String(), "holder=ada@engine") {
			t.Errorf("%s: the log has\n%s", name, &lines)
		}
	}
}

// The zero principal, which a route without authentication would pass, may do nothing.
func TestNobodyMayNothing(t *testing.T) {
	service, ctx, nobody := newService(slog.New(slog.DiscardHandler)), t.Context(), auth.Principal{}
	for name, call := range map[string]func() error{
		"Get":         func() error { _, err := service.Get(ctx, nobody, "x"); return err },
		"Put":         func() error { _, err := service.Put(ctx, nobody, "x", state.Write{Body: []byte("{}")}); return err },
		"Delete":      func() error { return service.Delete(ctx, nobody, "x", "") },
		"Lock":        func() error { _, err := service.Lock(ctx, nobody, "x", state.LockInfo{ID: "a"}); return err },
		"Unlock":      func() error { return service.Unlock(ctx, nobody, "x", state.LockInfo{ID: "a"}) },
		"ForceUnlock": func() error { _, err := service.ForceUnlock(ctx, nobody, "x", state.Forcing{}); return err },
		"Holder":      func() error { _, err := service.Holder(ctx, nobody, "x"); return err },
	} {
		if err := call(); !fault.Is(err, fault.CredentialsNeeded) {
			t.Errorf("%s: %v; want %s", name, err, fault.CredentialsNeeded)
		}
	}
}

// lossy has lost the bytes of version 1.
type lossy struct{ state.Store }

func (s lossy) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	snapshot, err := s.Store.Current(ctx, ref)
	if snapshot.Number == 1 {
		return state.Snapshot{}, fault.New(fault.StateCorrupt, "lost")
	}
	return snapshot, err
}

// A replay is not told that its bytes are there when they can't be read: they are written
// again.
func TestReplayRestoresLostBytes(t *testing.T) {
	service := state.NewService(lossy{memory.New(1 << 20)}, state.DefaultPolicies{}, time.Now,
		slog.New(slog.DiscardHandler))
	p, body := auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}, []byte(`{"serial":1}`)
	for want := uint64(1); want <= 2; want++ {
		version, err := service.Put(t.Context(), p, "x", state.Write{Body: body})
		if err != nil || version.Number != want {
			t.Fatalf("version %d, %v; want %d", version.Number, err, want)
		}
	}
	got, err := service.Get(t.Context(), p, "x")
	if err != nil || !bytes.Equal(got.Body, body) {
		t.Errorf("%q, %v; want the bytes that were sent again", got.Body, err)
	}
}
