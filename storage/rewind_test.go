package storage_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

// TestRewind brings states back to a time: written since, made since, deleted since, locked, and not touched.
// Those whose versions of then were removed since it leaves as they are. So it does in a folder and in a database.
func TestRewind(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { checkRewind(t, inFolder(t)) })
	t.Run("mysql", func(t *testing.T) { checkRewind(t, inDatabase(ends(t))) })
	t.Run("postgres", func(t *testing.T) { checkRewind(t, inDatabase(endsOn(t, configs.Postgres))) })
}

func checkRewind(t *testing.T, settings configs.Settings) {
	log, now := slog.New(slog.DiscardHandler), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	who := auth.Principal{Org: uuid.New(), KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
	other := who
	other.Org = uuid.New()
	var store state.Store
	var states *state.Service
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	within := func(do func()) {
		t.Helper()
		var err error
		store, err = storage.OpenStates(t.Context(), settings, log)
		check(err)
		states = state.NewService(store, state.DefaultPolicies{}, func() time.Time { return now }, log)
		do()
		check(store.Close())
	}
	putOf := func(who auth.Principal, name state.Name, serial int, word string) {
		t.Helper()
		_, err := states.Put(t.Context(), who, name, state.Write{Body: fmt.Appendf(nil,
			`{"version":4,"serial":%d,"lineage":"%s",
			"terraform_version":"1.9.0","outputs":{"w":{"value":%q,"type":"string"}},"resources":[]}`, serial, name, word)})
		check(err)
	}
	put := func(name state.Name, serial int, word string) {
		t.Helper()
		putOf(who, name, serial, word)
	}
	lock, err := state.ParseLockInfo([]byte(`{"ID":"9db590f1-b6fe-c5f2-2678-8804f089deba","Who":"ada"}`))
	check(err)
	within(func() {
		put("same", 1, "same")
		put("written", 1, "old")
		put("deleted", 1, "deleted")
		put("locked", 1, "old")
		for _, name := range []state.Name{"pruned", "purged", "gone"} {
			put(name, 1, "old")
		}
		putOf(other, "written", 1, "other's old")
		put("held", 1, "held")
		put("then", 1, "older")
		put("then", 2, "old")
		now = now.Add(2 * time.Hour)
		putOf(other, "written", 2, "other's new")
		put("written", 2, "new")
		put("made", 1, "made")
		check(states.Delete(t.Context(), who, "deleted", ""))
		put("locked", 2, "new")
		_, err := states.Lock(t.Context(), who, "locked", lock)
		check(err)
		_, err = states.Lock(t.Context(), who, "held", lock)
		check(err)
		check(states.Delete(t.Context(), who, "held", lock.ID))
		put("then", 3, "new")
		check(states.Purge(t.Context(), who, "then", 2, "a leak"))
		for _, name := range []state.Name{"pruned", "purged", "gone"} {
			put(name, 2, "new")
		}
		check(states.Purge(t.Context(), who, "purged", 1, "a leak"))
		check(states.Delete(t.Context(), who, "gone", ""))
		for _, name := range []state.Name{"pruned", "gone"} {
			ref := state.Ref{Org: who.Org, Name: name}
			_, err := store.Prune(t.Context(), ref, state.Pruning{Below: 2, Limit: 9}, audit.Event{})
			check(err)
		}
	})
	done, err := storage.Rewind(t.Context(), settings, now.Add(-time.Hour), log)
	check(err)
	left := []state.Ref{{Org: who.Org, Name: "gone"}, {Org: who.Org, Name: "pruned"}, {Org: who.Org, Name: "purged"},
		{Org: who.Org, Name: "then"}}
	if done.Changed != 6 || !slices.Equal(done.Left, left) {
		t.Errorf("%+v, want 6 changed and %v left", done, left)
	}
	within(func() {
		for name, want := range map[state.Name]uint64{"same": 1, "written": 3, "deleted": 1, "locked": 3,
			"held": 1, "pruned": 2, "purged": 2, "then": 3} {
			got, err := states.Get(t.Context(), who, name)
			check(err)
			if got.Version.Number != want {
				t.Errorf("%s is at version %d, want %d", name, got.Version.Number, want)
			}
		}
		got, err := states.Get(t.Context(), other, "written")
		check(err)
		if !strings.Contains(string(got.Body), `"other's old"`) {
			t.Errorf("the other organization has %s", got.Body)
		}
		if _, err := states.Get(t.Context(), who, "made"); !fault.Is(err, fault.StateNotFound) {
			t.Errorf("what was made since: %v", err)
		}
	})
}
