package storage_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/moving"
)

// measured is all that workspaces and runs have.
func measured(t *testing.T, s configs.Settings) []moving.Extent {
	t.Helper()
	db, err := storage.OpenRuns(t.Context(), s, quiet())
	must(t, err)
	shapes, err := db.Shapes(t.Context())
	must(t, err)
	all, err := moving.Measure(t.Context(), moving.Side{Database: db, Shapes: shapes}, true, func(string, int, int) {})
	must(t, err)
	must(t, db.Close())
	return all
}

// TestMoveToTheOtherServer: a move goes to the server that the settings name.
func TestMoveToTheOtherServer(t *testing.T) {
	t.Parallel()
	s := endsOn(t, configs.Postgres)
	for want, with := range map[string]struct {
		settings configs.Settings
		to       string
	}{
		"take it away":              {s, configs.MySQL},
		"no database of PostgreSQL": {inFolder(t), configs.Postgres},
		"there is no move":          {s, configs.SQLite},
	} {
		m, err := storage.OpenMove(t.Context(), with.settings, configs.SQLite, with.to, false, quiet())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v does not say %s", m, err, want)
		}
	}
}

// TestBackupOfADatabase backs up a database of each server, and loads it into another one of its kind alone.
func TestBackupOfADatabase(t *testing.T) {
	t.Parallel()
	for engine, s := range eachEnds(t) {
		w := newWorld(t, s)
		carry(t, s, configs.SQLite, engine)
		from, to := inDatabase(s), inDatabase(endsOn(t, engine))
		to.Seal = from.Seal
		uploads := fillUploads(t, from, w)
		want, measures := listen(t, from, w), measured(t, from)
		moment, err := storage.OpenDump(t.Context(), from, quiet())
		must(t, err)
		must(t, storage.CheckSchemas(t.Context(), moment, true, true))
		var text bytes.Buffer
		must(t, errors.Join(moment.Write(t.Context(), &text), moment.Close()))
		other := endsOn(t, map[string]string{configs.MySQL: configs.Postgres, configs.Postgres: configs.MySQL}[engine])
		err = storage.LoadDump(t.Context(), other, bytes.NewReader(text.Bytes()), quiet())
		if err == nil || !strings.Contains(err.Error(), "holdfast migrate --from "+engine+" --to sqlite") {
			t.Errorf("what %s had is loaded into another server: %v", engine, err)
		}
		gone, end := context.WithCancel(t.Context())
		half := &ending{bytes.NewReader(text.Bytes()), text.Len() / 2, end}
		if err := storage.LoadDump(gone, to, half, quiet()); err == nil {
			t.Errorf("%s: what was broken off is loaded", engine)
		}
		must(t, storage.LoadDump(t.Context(), to, bytes.NewReader(text.Bytes()), quiet())) // nothing was left
		wantSame(t, want, listen(t, to, w))
		if got := measured(t, to); !slices.Equal(measures, got) {
			t.Errorf("%s: there was\n%v, and now is\n%v", engine, measures, got)
		}
		goOn(t, to, w)
		for i, got := range fillUploads(t, to, w) {
			if len(got) != 4 || !slices.Equal(uploads[i], got[:2]) {
				t.Errorf("%s: there were the uploads\n%q, and now are\n%q", engine, uploads[i], got)
			}
		}
		if engine == configs.Postgres {
			if diff := cmp.Diff(made(t, from), made(t, to)); diff != "" {
				t.Errorf("tables are not made as servers make them (-servers +load):\n%s", diff)
			}
		}
	}
}

// fillUploads adds two uploads of each organization to those that are in the database, and returns all of
// them by organization.
func fillUploads(t *testing.T, s configs.Settings, w world) (all [2][]string) {
	t.Helper()
	store, err := storage.OpenDatabase(t.Context(), s, quiet())
	must(t, err)
	defer store.Close()
	for i := range 4 {
		_, err := store.Append(t.Context(), inventory.Batch{ID: uuid.NewString(), Org: w.orgs[i%2], Request: "r",
			Resources: []inventory.Resource{{Provider: "aws", Category: "compute", ResourceType: "vm_instance",
				ResourceName: "naïve\t\\N", Attributes: []byte(`{"b":[1e30,-0.0,"\u0041"],"a":null}`)}}})
		must(t, err)
	}
	for i, org := range w.orgs {
		for r, err := range store.Records(t.Context(), org, inventory.Query{}) {
			must(t, err)
			all[i] = append(all[i], fmt.Sprintf("%+v", r.Record))
		}
	}
	return all
}

// made is how all tables of a database of PostgreSQL's are made.
func made(t *testing.T, s configs.Settings) (all []string) {
	t.Helper()
	db, err := sql.Open("pgx", s.Database.URL.Reveal())
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `
		SELECT concat_ws(' ', table_name, column_name, ordinal_position, data_type, character_maximum_length, collation_name,
			is_nullable, column_default, is_identity, identity_generation, generation_expression)
		FROM information_schema.columns WHERE table_schema = current_schema()
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
		UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
			WHERE connamespace = CAST(current_schema() AS regnamespace)
		ORDER BY 1`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var one string
		must(t, rows.Scan(&one))
		all = append(all, one)
	}
	must(t, rows.Err())
	return all
}

// ending ends somebody's context in its middle.
type ending struct {
	*bytes.Reader
	at  int
	end func()
}

// Read implements io.Reader.
func (e *ending) Read(into []byte) (int, error) {
	if e.Len() < e.at {
		e.end()
	}
	return e.Reader.Read(into)
}

// TestLoadAtOfADatabase brings the states of a database of each server back to a time while it is loaded, or loads
// nothing.
func TestLoadAtOfADatabase(t *testing.T) {
	t.Parallel()
	for engine, s := range eachEnds(t) {
		from, to := inDatabase(s), inDatabase(endsOn(t, engine))
		to.Seal = from.Seal
		ref := state.Ref{Org: uuid.New(), Name: "app"}
		at := time.Now().Add(-time.Hour)
		put := func(serial int, when time.Time) {
			store := openStates(t, from)
			states := state.NewService(store, state.DefaultPolicies{}, func() time.Time { return when }, quiet())
			who := auth.Principal{Org: ref.Org, KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
			_, err := states.Put(t.Context(), who, ref.Name, state.Write{Body: fmt.Appendf(nil, `{"version":4,"serial":%d,`+
				`"lineage":"x","terraform_version":"1.9.0","outputs":{},"resources":[]}`, serial)})
			must(t, errors.Join(err, store.Close()))
		}
		put(1, at.Add(-time.Minute))
		put(2, at.Add(time.Minute))
		moment, err := storage.OpenDump(t.Context(), from, quiet())
		must(t, err)
		var text bytes.Buffer
		must(t, errors.Join(moment.Write(t.Context(), &text), moment.Close()))
		keyless := to
		keyless.Seal.MasterKeyFile = "/nowhere/master.key"
		if _, err := storage.LoadDumpAt(t.Context(), keyless, bytes.NewReader(text.Bytes()), at, quiet()); err == nil {
			t.Errorf("%s: states go back without their key", engine)
		}
		done, err := storage.LoadDumpAt(t.Context(), to, bytes.NewReader(text.Bytes()), at, quiet()) // nothing was left
		must(t, err)
		if done.Changed != 1 || len(done.Left)+len(done.Unread) > 0 {
			t.Errorf("%s: %+v", engine, done)
		}
		must(t, storage.AwaitMove(t.Context(), to, quiet())) // no mark is left
		store := openStates(t, to)
		head, err := store.Head(t.Context(), ref)
		must(t, errors.Join(err, store.Close()))
		if head.Version.Number != 3 {
			t.Errorf("%s: the newest version is %d", engine, head.Version.Number)
		}
	}
}
