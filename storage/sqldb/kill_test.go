package sqldb_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// The children's variables, each of which names the folder to work on.
const (
	childShreds  = "HOLDFAST_SQLDB_SHREDS"
	childRewraps = "HOLDFAST_SQLDB_REWRAPS"
)

// doomed is the organization that children destroy.
func doomed() uuid.UUID { return uuid.MustParse("d00d5bed-0000-4000-8000-000000000001") }

// optionsIn returns those of the database that stands for a folder, which has its name where it is a server's.
func optionsIn(dir string) sqldb.Options {
	if name, err := os.ReadFile(filepath.Join(dir, "name")); err == nil {
		return onServer(mysqltest.Database{Address: mysqltest.FromEnvironment(), Name: string(name)})
	}
	if url, err := os.ReadFile(filepath.Join(dir, "url")); err == nil {
		return sqldb.Options{Postgres: &pgdb.Options{URL: string(url), Log: slog.New(slog.DiscardHandler)}}
	}
	return sqldb.Options{Path: filepath.Join(dir, "runs.db")}
}

func killedAsChild() {
	for variable, work := range map[string]func(*sqldb.DB, string, *killtest.Moments) error{
		childShreds: shredAsChild, childRewraps: rewrapAsChild,
	} {
		dir := os.Getenv(variable)
		killtest.Child(variable, func(dir string) (*sqldb.DB, error) {
			return sqldb.Open(context.Background(), optionsIn(dir))
		}, func(db *sqldb.DB, seed uint64) {
			moments := killtest.NewMoments(seed)
			if err := work(db, dir, moments); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			moments.End()
		})
	}
}

func shredAsChild(db *sqldb.DB, _ string, moments *killtest.Moments) error {
	for removed := 1; removed > 0; {
		var err error
		if removed, err = db.Shred(context.Background(), doomed(), 3); err != nil {
			return err
		}
		moments.Pass(fmt.Sprint("rows are gone: ", removed))
	}
	return nil
}

// rewrapAsChild makes new master keys, without end, and has each wrap all data keys.
func rewrapAsChild(db *sqldb.DB, dir string, moments *killtest.Moments) error {
	sealer := seal.New(sealtest.MasterIn(dir), sealtest.Told(sqldb.NewKeys(db), moments.Pass))
	for {
		if err := seal.AddMaster(sealtest.MasterFile(dir)); err != nil {
			return err
		}
		moments.Pass("there is a new master key")
		if err := rewrap(context.Background(), db, dir, sealer); err != nil {
			return err
		}
	}
}

func rewrap(ctx context.Context, db *sqldb.DB, dir string, sealer *seal.Sealer) error {
	sealer.Turn(sealtest.MasterIn(dir))
	orgs, err := sqldb.NewKeys(db).Owners(ctx)
	for _, org := range orgs {
		if err == nil {
			_, err = sealer.Rewrap(ctx, org)
		}
	}
	return err
}

// eachFolder runs a test on a folder that stands for a database of each kind that survives a process.
func eachFolder(t *testing.T, test func(t *testing.T, dir string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, t.TempDir()) })
	t.Run("mysql", func(t *testing.T) {
		dir, d := t.TempDir(), database(t)
		if err := os.WriteFile(filepath.Join(dir, "name"), []byte(d.Name), 0o600); err != nil {
			t.Fatal(err)
		}
		test(t, dir)
	})
	t.Run("postgres", func(t *testing.T) {
		suite.Deep(t)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "url"), []byte(pgtest.New(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		test(t, dir)
	})
}

// in has a function work with a folder's database.
func in(t *testing.T, dir string, work func(db *sqldb.DB)) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), optionsIn(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	work(db)
}

// kill kills children at the first moments of their work one after the other, and at some that nobody has chosen,
// and checks after each.
func kill(t *testing.T, variable, dir string, chosen int, check func(db *sqldb.DB)) {
	t.Helper()
	random := rand.New(rand.NewPCG(killtest.Seed(t), 0))
	for n := range chosen {
		killtest.At(t, variable, dir, n+1)
		in(t, dir, check)
	}
	for range 3 {
		while := time.Duration(random.IntN(20_000)) * time.Microsecond
		killtest.Around(t, variable, dir, 1+random.IntN(5*chosen), while)
		in(t, dir, check)
	}
}

// TestShredKilled kills whoever destroys what an organization has, piece by piece: the next one goes on, and the other
// organization has all that it had, all the time.
func TestShredKilled(t *testing.T) {
	suite.Deep(t)
	eachFolder(t, func(t *testing.T, dir string) {
		stays := uuid.New()
		var before, all []string
		in(t, dir, func(db *sqldb.DB) {
			plant(t, db, doomed(), 4)
			plant(t, db, stays, 4)
			before, all = told(t, db, stays), told(t, db, doomed())
		})
		if len(all) < 80 {
			t.Fatalf("there are %d rows only: the test shows nothing", len(all))
		}
		kill(t, childShreds, dir, 2, func(db *sqldb.DB) {
			if after := told(t, db, stays); !slices.Equal(before, after) {
				t.Fatalf("the other organization has %d rows, had %d", len(after), len(before))
			}
			for _, row := range told(t, db, doomed()) {
				if _, there := slices.BinarySearch(all, row); !there {
					t.Fatalf("a row has become another one: %q", row)
				}
			}
		})
		in(t, dir, func(db *sqldb.DB) {
			for n := 1; n > 0; {
				var err error
				if n, err = db.Shred(t.Context(), doomed(), 50); err != nil {
					t.Fatal(err)
				}
			}
			if rows := told(t, db, doomed()); len(rows) > 0 {
				t.Errorf("%d rows are left, such as %q", len(rows), rows[0])
			}
			if after := told(t, db, stays); !slices.Equal(before, after) {
				t.Errorf("the other organization has %d rows, had %d", len(after), len(before))
			}
		})
	})
}

// TestRewrapKilled kills whoever has new master keys wrap the data keys: what they have sealed opens each time, and in
// the end by the newest master key alone.
func TestRewrapKilled(t *testing.T) {
	suite.Deep(t)
	eachFolder(t, func(t *testing.T, dir string) {
		const kind, name = seal.Kind("thing"), "name"
		sealtest.MakeMaster(t, dir)
		sealed := map[uuid.UUID][]byte{{1}: nil, {2}: nil}
		in(t, dir, func(db *sqldb.DB) {
			sealer := seal.New(sealtest.MasterIn(dir), sqldb.NewKeys(db))
			for org := range sealed {
				var err error
				if sealed[org], err = sealer.Seal(t.Context(), org, kind, name, org[:]); err != nil {
					t.Fatal(err)
				}
			}
		})
		check := func(db *sqldb.DB) {
			sealer := seal.New(sealtest.MasterIn(dir), sqldb.NewKeys(db))
			for org := range sealed {
				if plain, err := sealer.Open(t.Context(), org, kind, name, sealed[org]); err != nil || !bytes.Equal(plain, org[:]) {
					t.Fatalf("%v: %q, %v", org, plain, err)
				}
			}
		}
		kill(t, childRewraps, dir, 5, check)
		in(t, dir, func(db *sqldb.DB) {
			if err := rewrap(t.Context(), db, dir, seal.New(sealtest.MasterIn(dir), sqldb.NewKeys(db))); err != nil {
				t.Fatal(err)
			}
		})
		sealtest.KeepNewest(t, dir)
		in(t, dir, check)
	})
}
