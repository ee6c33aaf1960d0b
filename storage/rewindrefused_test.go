package storage_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

// TestRewindRefused: a state that no rollback is possible of keeps no other from going back, stays as it is, deleted
// too, and is named. One has no serial that could be raised; of another, which its client has encrypted, the bytes of
// then were purged from a version that had them too.
func TestRewindRefused(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { checkRewindRefused(t, inFolder(t)) })
	t.Run("mysql", func(t *testing.T) { checkRewindRefused(t, inDatabase(ends(t))) })
	t.Run("postgres", func(t *testing.T) { checkRewindRefused(t, inDatabase(endsOn(t, configs.Postgres))) })
}

func checkRewindRefused(t *testing.T, settings configs.Settings) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	who := auth.Principal{Org: uuid.UUID{1}, KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
	within := func(do func(states *state.Service)) {
		t.Helper()
		store := openStates(t, settings)
		do(state.NewService(store, state.DefaultPolicies{}, func() time.Time { return now }, quiet()))
		must(t, store.Close())
	}
	within(func(states *state.Service) {
		put := func(name state.Name, body string) {
			t.Helper()
			_, err := states.Put(t.Context(), who, name, state.Write{Body: []byte(body)})
			must(t, err)
		}
		plain := func(n int) string { return fmt.Sprintf(`{"version":4,"lineage":"l","n":%d}`, n) }
		encrypted := func(n int) string {
			return fmt.Sprintf(`{"serial":%d,"lineage":"l","encrypted_data":"%d"}`, n, n)
		}
		put("a-bare", plain(1))
		put("b-bare-deleted", plain(1))
		put("c-leaked", encrypted(1))
		put("z-good", `{"version":4,"serial":1,"lineage":"l","resources":[]}`)
		now = now.Add(2 * time.Hour)
		put("a-bare", plain(2))
		put("b-bare-deleted", plain(2))
		must(t, states.Delete(t.Context(), who, "b-bare-deleted", ""))
		put("c-leaked", encrypted(2))
		_, err := states.Rollback(t.Context(), who, "c-leaked", 1, "", "")
		must(t, err)
		must(t, states.Purge(t.Context(), who, "c-leaked", 3, "a leak"))
		put("z-good", `{"version":4,"serial":2,"lineage":"l","resources":[]}`)
	})

	done, err := storage.Rewind(t.Context(), settings, now.Add(-time.Hour), quiet())
	must(t, err)
	var unread []string
	for _, one := range done.Unread {
		unread = append(unread, fmt.Sprint(one.Ref.Name, " ", one.Why))
	}
	want := []string{"a-bare state_format_unsupported", "b-bare-deleted state_format_unsupported", "c-leaked bytes_purged"}
	if !slices.Equal(unread, want) || done.Changed != 1 || len(done.Left) > 0 {
		t.Errorf("%d changed, %v left, refused %q, want %q", done.Changed, done.Left, unread, want)
	}
	within(func(states *state.Service) {
		for name, want := range map[state.Name]uint64{"a-bare": 2, "z-good": 3} {
			got, err := states.Get(t.Context(), who, name)
			must(t, err)
			if got.Version.Number != want {
				t.Errorf("%s is at version %d, want %d", name, got.Version.Number, want)
			}
		}
		if _, err := states.Get(t.Context(), who, "b-bare-deleted"); !fault.Is(err, fault.StateNotFound) {
			t.Errorf("what stays deleted: %v", err)
		}
	})
}
