package state_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// tight is a service in which an organization may have a little, on a disk with free bytes.
type tight struct {
	*state.Service
	keeper *quota.Keeper
	store  state.Store
	free   int64
}

func newTight(limit int64) *tight {
	s := &tight{store: memory.New(1 << 30), free: 1 << 40}
	now := time.Now()
	s.keeper = quota.New(quota.Options{
		Sources:   []quota.Source{{Kind: quota.States, Store: s.store}},
		Limit:     func(uuid.UUID) int64 { return limit },
		Free:      func() (int64, error) { return s.free, nil },
		Reserve:   1 << 20,
		Overdraft: 20_000,
		Now:       func() time.Time { now = now.Add(time.Second); return now },
		Log:       slog.New(slog.DiscardHandler),
	})
	s.Service = state.NewService(s.store, state.DefaultPolicies{}, time.Now,
		slog.New(slog.DiscardHandler)).WithQuota(s.keeper)
	return s
}

func filled(serial, size int) []byte {
	return fmt.Appendf(nil, `{"version":4,"serial":%d,"lineage":"a","resources":[],"x":"%s"}`, serial,
		strings.Repeat("x", size))
}

func lockOf(id string) state.LockInfo {
	return state.LockInfo{ID: id, Who: "ann", Raw: []byte(`{"ID":"` + id + `"}`)}
}

func owner() auth.Principal {
	return auth.Principal{Org: uuid.New(), KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
}

// wantCode holds an operation to its fault; empty for none.
func wantCode(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if code == "" && err != nil || code != "" && !fault.Is(err, code) {
		t.Fatalf("%s: %v; want %q", what, err, code)
	}
}

// TestQuota takes an organization over its quota under a lock, and back by purges: all that
// can be done on the way, and what can't.
func TestQuota(t *testing.T) {
	s, ctx, ann, other := newTight(30_000), t.Context(), owner(), owner()
	put := func(name state.Name, serial, size int, lockID string) error {
		_, err := s.Put(ctx, ann, name, state.Write{Body: filled(serial, size), LockID: lockID})
		return err
	}
	_, err := s.Lock(ctx, ann, "held", lockOf("held"))
	wantCode(t, "LOCK", err, "")
	_, err = s.Lock(ctx, ann, "also", lockOf("also"))
	wantCode(t, "another LOCK", err, "")
	wantCode(t, "a write without a lock", put("free", 1, 20_000, ""), "")
	wantCode(t, "one too many", put("free", 2, 20_000, ""), fault.QuotaExceeded)
	wantCode(t, "a replay", put("free", 1, 20_000, ""), "")
	wantCode(t, "a holder's write", put("held", 1, 15_000, "held"), "")
	wantCode(t, "its replay", put("held", 1, 15_000, "held"), "")
	wantCode(t, "the next one", put("held", 2, 10_000, "held"), "")
	wantCode(t, "beyond what holders may", put("held", 3, 15_000, "held"), fault.QuotaExceeded)
	wantCode(t, "beyond it with another lock", put("also", 1, 15_000, "also"), fault.QuotaExceeded)
	_, err = s.Lock(ctx, ann, "third", lockOf("third"))
	wantCode(t, "LOCK", err, fault.QuotaExceeded)
	_, err = s.Lock(ctx, ann, "held", lockOf("held"))
	wantCode(t, "a replay of LOCK", err, "")
	_, err = s.AddCandidate(ctx, ann, "held", filled(9, 10), "")
	wantCode(t, "a candidate", err, fault.QuotaExceeded)
	_, err = s.Rollback(ctx, ann, "free", 1, "again", "")
	wantCode(t, "a rollback without a lock", err, fault.QuotaExceeded)
	_, err = s.Rollback(ctx, ann, "held", 1, "back", "held")
	wantCode(t, "a rollback beyond what holders may", err, fault.QuotaExceeded)
	_, err = s.Put(ctx, other, "free", state.Write{Body: filled(1, 20_000)})
	wantCode(t, "another organization's write", err, "")

	wantCode(t, "UNLOCK", s.Unlock(ctx, ann, "held", lockOf("held")), "")
	_, err = s.ForceUnlock(ctx, ann, "also", state.Forcing{})
	wantCode(t, "a forced UNLOCK", err, "")
	wantCode(t, "DELETE", s.Delete(ctx, ann, "free", ""), "")
	for _, purged := range []struct {
		name    state.Name
		version uint64
	}{{"held", 1}, {"free", 1}} {
		wantCode(t, "a purge", s.Purge(ctx, ann, purged.name, purged.version, "room"), "")
	}
	wantCode(t, "a write after purges", put("free", 3, 10_000, ""), "")
	_, err = s.Lock(ctx, ann, "third", lockOf("third"))
	wantCode(t, "LOCK after purges", err, "")
	if n, m := s.keeper.Refused(quota.Quota), s.keeper.Spared(); n != 7 || m != 2 {
		t.Errorf("refused %d, spared %d", n, m)
	}
	standing, err := s.keeper.Standing(ctx, ann.Org)
	if used, _ := s.store.Usage(ctx, ann.Org); err != nil || standing.Used != used || standing.Limit != 30_000 {
		t.Errorf("standing %+v, %v; usage %d", standing, err, used)
	}
}

// guarding keeps back what looks like an accident.
type guarding struct{}

func (guarding) Policy(uuid.UUID, string) state.Policy {
	policy := state.DefaultPolicy()
	policy.Guards = state.GuardsHold
	return policy
}

// Beyond the quota, what is there already is answered as ever when it is sent again: a
// candidate, and a write that was kept back.
func TestQuotaOfWhatIsThere(t *testing.T) {
	s, ctx, ann := newTight(40_000), t.Context(), owner()
	s.Service = state.NewService(s.store, guarding{}, time.Now, slog.New(slog.DiscardHandler)).WithQuota(s.keeper)
	put := func(name state.Name, body []byte) error {
		_, err := s.Put(ctx, ann, name, state.Write{Body: body})
		return err
	}
	full := []byte(`{"version":4,"serial":1,"lineage":"a","resources":[{"mode":"managed","type":"a","name":"b","instances":[{}]}]}`)
	wantCode(t, "a write", put("app", full), "")
	wantCode(t, "one that empties it", put("app", filled(2, 5000)), fault.WriteHeld)
	kept, err := s.AddCandidate(ctx, ann, "app", filled(3, 5500), "")
	wantCode(t, "a candidate", err, "")
	_, err = s.Lock(ctx, ann, "large", lockOf("held"))
	wantCode(t, "LOCK", err, "")
	_, err = s.Put(ctx, ann, "large", state.Write{Body: filled(1, 30_000), LockID: "held"})
	wantCode(t, "a holder's write beyond the quota", err, "")
	wantCode(t, "another one that empties it", put("app", filled(4, 6000)), fault.QuotaExceeded)
	wantCode(t, "what was kept back, again", put("app", filled(2, 5000)), fault.WriteHeld)
	again, err := s.AddCandidate(ctx, ann, "app", filled(3, 5500), "")
	if wantCode(t, "the candidate, again", err, ""); again.ID != kept.ID {
		t.Errorf("candidate %s, after %s", again.ID, kept.ID)
	}
	wantCode(t, "a discard", s.Discard(ctx, ann, "app", kept.ID, ""), "")
	_, err = s.AddCandidate(ctx, ann, "app", filled(3, 5500), "")
	wantCode(t, "the candidate that was discarded", err, fault.QuotaExceeded)
}

// TestReserve: with little more than the reserve left, what has begun ends, and room can be
// made; nothing else.
func TestReserve(t *testing.T) {
	s, ctx, ann := newTight(quota.None), t.Context(), owner()
	put := func(name state.Name, serial int, lockID string) error {
		_, err := s.Put(ctx, ann, name, state.Write{Body: filled(serial, 5000), LockID: lockID})
		return err
	}
	_, err := s.Lock(ctx, ann, "held", lockOf("held"))
	wantCode(t, "LOCK", err, "")
	wantCode(t, "a write", put("free", 1, ""), "")
	kept, err := s.AddCandidate(ctx, ann, "free", filled(7, 5000), "")
	wantCode(t, "a candidate", err, "")
	s.free = 1<<20 - 1
	wantCode(t, "a write without a lock", put("free", 2, ""), fault.StoreFull)
	_, err = s.AddCandidate(ctx, ann, "held", filled(9, 10), "")
	wantCode(t, "a candidate in the reserve", err, fault.StoreFull)
	_, err = s.Lock(ctx, ann, "other", lockOf("other"))
	wantCode(t, "LOCK in the reserve", err, fault.StoreFull)
	wantCode(t, "a replay", put("free", 1, ""), "")
	wantCode(t, "a holder's write", put("held", 1, "held"), "")
	wantCode(t, "UNLOCK", s.Unlock(ctx, ann, "held", lockOf("held")), "")
	wantCode(t, "a discard", s.Discard(ctx, ann, "free", kept.ID, ""), "")
	wantCode(t, "a purge", s.Purge(ctx, ann, "free", 1, "room"), "")
	wantCode(t, "DELETE", s.Delete(ctx, ann, "free", ""), "")
	_, err = s.Undelete(ctx, ann, "free")
	wantCode(t, "undelete", err, "")
	s.free = 1 << 30
	wantCode(t, "a write with room", put("free", 2, ""), "")
	if n := s.keeper.Refused(quota.Reserve); n != 3 {
		t.Errorf("refused %d", n)
	}
}

// TestLongLockInfos: what versions and events repeat of a LockInfo is short.
func TestLongLockInfos(t *testing.T) {
	s, ctx, ann := newTight(quota.None), t.Context(), owner()
	info := lockOf("held")
	info.Who, info.Operation = strings.Repeat("é", 30_000), strings.Repeat("x", 30_000)
	_, err := s.Lock(ctx, ann, "a", info)
	wantCode(t, "LOCK", err, "")
	v, err := s.Put(ctx, ann, "a", state.Write{Body: filled(1, 10), LockID: "held", Release: true})
	wantCode(t, "a write", err, "")
	if v.Author.Who != strings.Repeat("é", 127) || len(v.Author.Operation) != 255 {
		t.Errorf("the author is %.300q", v.Author.Who)
	}
	events, err := s.store.Feed(ctx, 0, 9)
	if err != nil || len(events) != 3 {
		t.Fatal(events, err)
	}
	for _, event := range events {
		if len(event.Note) > 255 {
			t.Errorf("%s has a note of %d bytes", event.Action, len(event.Note))
		}
	}
}

// TestLockInfosCount: an organization can't fill the disk with locks.
func TestLockInfosCount(t *testing.T) {
	s, ctx, ann := newTight(1_000_000), t.Context(), owner()
	locked := 0
	for i := range 1000 {
		info := lockOf(fmt.Sprint(i))
		info.Raw = bytes.Repeat([]byte(" "), 60_000)
		if _, err := s.Lock(ctx, ann, state.Name(fmt.Sprint("state-", i)), info); err != nil {
			wantCode(t, "LOCK", err, fault.QuotaExceeded)
			break
		}
		locked++
	}
	if locked < 5 || locked > 9 {
		t.Errorf("locks with 60 KB each were granted %d times in 1 MB", locked)
	}
}
