package storage_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// kept is how an engine keeps states, for a test that damages them.
type kept struct {
	settings func(*testing.T) configs.Settings
	open     func(configs.Settings) (*sql.DB, error)
	// damage has a state's name and a version's number; destroy takes an organization's data keys.
	damage, destroy string
}

func engines() map[string]kept {
	return map[string]kept{
		"sqlite": {
			settings: func(t *testing.T) configs.Settings { return inFolder(t) },
			open: func(s configs.Settings) (*sql.DB, error) {
				return sql.Open("sqlite", filepath.Join(s.Storage.Path, "state.db"))
			},
			damage: `UPDATE bodies SET bytes = zeroblob(length(bytes)) WHERE id IN
				(SELECT v.id FROM versions v JOIN states s ON s.id = v.state WHERE s.name = ? AND v.number = ?)`,
			destroy: `DELETE FROM data_keys WHERE org = ?`,
		},
		"mysql": {
			settings: func(t *testing.T) configs.Settings { return inDatabase(ends(t)) },
			open:     func(s configs.Settings) (*sql.DB, error) { return mysqltest.FromEnvironment().Open(s.Database.Name) },
			damage: `UPDATE state_bodies b JOIN state_heads s ON s.id = b.state SET b.bytes = REPEAT('x', LENGTH(b.bytes))
				WHERE s.name = ? AND b.number = ?`,
			destroy: `DELETE FROM state_data_keys WHERE org = ?`,
		},
		"postgres": {
			settings: func(t *testing.T) configs.Settings { return inDatabase(endsOn(t, configs.Postgres)) },
			open:     func(s configs.Settings) (*sql.DB, error) { return sql.Open("pgx", s.Database.URL.Reveal()) },
			damage: `UPDATE state_bodies b SET bytes = convert_to(repeat('x', length(b.bytes)), 'UTF8') FROM state_heads s
				WHERE s.id = b.state AND s.name = convert_to($1, 'UTF8') AND b.number = $2`,
			destroy: `DELETE FROM state_data_keys WHERE org = convert_to($1, 'UTF8')`,
		},
	}
}

// TestRewindPassesOver: what can't be read stays as it is and is named, and all else goes back.
func TestRewindPassesOver(t *testing.T) {
	for name, engine := range engines() {
		t.Run(name, func(t *testing.T) {
			checkPassedOver(t, engine.settings(t), engine)
		})
	}
}

func checkPassedOver(t *testing.T, settings configs.Settings, engine kept) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	here, forgotten, destroyed := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}
	owner := func(org uuid.UUID) auth.Principal {
		return auth.Principal{Org: org, KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
	}
	within := func(do func(states *state.Service)) {
		t.Helper()
		store := openStates(t, settings)
		do(state.NewService(store, state.DefaultPolicies{}, func() time.Time { return now }, quiet()))
		must(t, store.Close())
	}
	within(func(states *state.Service) {
		put := func(org uuid.UUID, name state.Name, serial int) {
			t.Helper()
			_, err := states.Put(t.Context(), owner(org), name, state.Write{Body: fmt.Appendf(nil,
				`{"version":4,"serial":%d,"lineage":"%s","terraform_version":"1.9.0","outputs":{},"resources":[]}`, serial, name)})
			must(t, err)
		}
		for _, org := range []uuid.UUID{here, forgotten, destroyed} {
			put(org, "removed", 1)
			put(org, "written", 1)
		}
		put(here, "damaged", 1)
		put(here, "removed-2", 1)
		now = now.Add(2 * time.Hour)
		for _, org := range []uuid.UUID{here, forgotten, destroyed} {
			must(t, states.Delete(t.Context(), owner(org), "removed", ""))
			put(org, "written", 2)
			put(org, "made", 1)
		}
		put(here, "damaged", 2)
		put(here, "removed-2", 2)
		must(t, states.Delete(t.Context(), owner(here), "removed-2", ""))
	})
	db, err := engine.open(settings)
	must(t, err)
	exec := func(statement string, args ...any) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), statement, args...)
		must(t, err)
	}
	exec(engine.damage, "damaged", 1)
	exec(engine.damage, "removed-2", 1)
	exec(engine.destroy, destroyed.String())
	must(t, db.Close())
	said, err := seal.Source{Path: settings.Seal.MasterKeyFile}.Forget(t.Context(), forgotten)
	must(t, err)
	if said.Keys == 0 {
		t.Fatal("no master key has forgotten the organization")
	}

	done, err := storage.Rewind(context.Background(), settings, now.Add(-time.Hour), quiet())
	must(t, err)
	var unread []string
	for _, one := range done.Unread {
		unread = append(unread, fmt.Sprint(one.Ref.Org[0], " ", one.Ref.Name, " ", one.Why))
	}
	want := []string{"1 damaged state_corrupt", "1 removed-2 state_corrupt", "2 made seal_key_missing",
		"2 removed seal_key_missing", "2 written seal_key_missing", "3 made seal_key_missing", "3 removed seal_key_missing",
		"3 written seal_key_missing"}
	if !slices.Equal(unread, want) || done.Changed != 3 || len(done.Left) > 0 {
		t.Errorf("%d changed, %v left, unread %q, want %q", done.Changed, done.Left, unread, want)
	}
	within(func(states *state.Service) {
		for name, want := range map[state.Name]uint64{"damaged": 2, "removed": 1, "written": 3} {
			got, err := states.Get(t.Context(), owner(here), name)
			must(t, err)
			if got.Version.Number != want {
				t.Errorf("%s is at version %d, want %d", name, got.Version.Number, want)
			}
		}
		for _, name := range []state.Name{"made", "removed-2"} {
			if _, err := states.Get(t.Context(), owner(here), name); !fault.Is(err, fault.StateNotFound) {
				t.Errorf("%s is there: %v", name, err)
			}
		}
	})
}
