package storage_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage"
)

func settingsOf(kind, dir string) configs.Settings {
	// Nothing listens on the discard port: a database that is away.
	s := configs.Settings{
		Storage: configs.Storage{Type: kind, Path: dir},
		Database: configs.Database{Host: "127.0.0.1", Port: 9, User: "holdfast", Name: "holdfast", TLS: configs.TLSOff,
			StartupWait: 1},
	}
	if kind == configs.Postgres {
		s.Database.URL = addressOf(away)
	}
	return s
}

// addressOf is a setting that only the environment and files have.
func addressOf(url string) configs.Secret {
	loaded, err := configs.Load(configs.Sources{Environ: []string{"DATABASE_URL=" + url}})
	if err != nil {
		panic(err)
	}
	return loaded.Database.URL
}

const away = "postgres://holdfast:secret@127.0.0.1:9/holdfast?sslmode=disable"

func openUploads(t *testing.T, kind, dir string) (inventory.Store, error) {
	t.Helper()
	store, err := storage.OpenUploads(t.Context(), settingsOf(kind, dir), slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return store, err
}

func oneRecord() inventory.Batch {
	return inventory.Batch{ID: "a", Org: uuid.New(), Request: "r", Resources: []inventory.Resource{
		{Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: "web", Attributes: []byte(`{}`)},
	}}
}

// What each engine says of an upload while there is no database.
func TestOpenUploads(t *testing.T) {
	for _, test := range []struct {
		kind           string
		append, status fault.Code
	}{
		{configs.CSV, "", ""},
		{configs.Memory, fault.UploadsOff, fault.UploadsOff},
		{configs.Dual, "", fault.StoreDegraded},
	} {
		store, err := openUploads(t, test.kind, t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", test.kind, err)
			continue
		}
		if _, err := store.Append(t.Context(), oneRecord()); codeOf(err) != test.append {
			t.Errorf("%s: Append: %v", test.kind, err)
		}
		if err := store.Status(t.Context()); codeOf(err) != test.status {
			t.Errorf("%s: Status: %v", test.kind, err)
		}
	}
}

// The default of storage.path is relative.
func TestOpenUploadsInRelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, kind := range []string{configs.CSV, configs.Dual} {
		store, err := openUploads(t, kind, "./"+kind)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if _, err := store.Append(t.Context(), oneRecord()); err != nil {
			t.Errorf("%s: Append: %v", kind, err)
		}
	}
}

func codeOf(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}

// A server must not be kept from starting by a database that is not up yet: states don't
// need it.
func TestOpenUploadsWithoutItsDatabase(t *testing.T) {
	for _, kind := range []string{configs.MySQL, configs.Postgres} {
		store, err := openUploads(t, kind, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Append(t.Context(), oneRecord()); codeOf(err) != fault.StoreUnavailable {
			t.Errorf("%s: Append: %v; want %s", kind, err, fault.StoreUnavailable)
		}
		if err := store.Status(t.Context()); codeOf(err) != fault.StoreUnavailable {
			t.Errorf("%s: Status: %v; want %s", kind, err, fault.StoreUnavailable)
		}
	}
}

// TestDualNamesItsDatabase: what is behind is called by its engine.
func TestDualNamesItsDatabase(t *testing.T) {
	for url, want := range map[string]string{"": "mysql", away: "postgres"} {
		settings := settingsOf(configs.Dual, t.TempDir())
		if url != "" {
			settings.Database.URL = addressOf(url)
		}
		store, err := storage.OpenUploads(t.Context(), settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Append(t.Context(), oneRecord()); err != nil {
			t.Error(err)
		}
		if err := store.Status(t.Context()); !strings.Contains(fault.From(err).Message, want+" is behind by 1 requests") {
			t.Errorf("Status: %v, want one that names %s", err, want)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenUploadsRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := openUploads(t, configs.CSV, dir); err != nil {
		t.Fatal(err)
	}
	for what, attempt := range map[string][2]string{
		"a folder that is in use":       {configs.CSV, dir},
		"a folder of both that is":      {configs.Dual, dir},
		"an engine that does not exist": {"tape", t.TempDir()},
	} {
		if store, err := openUploads(t, attempt[0], attempt[1]); err == nil || store != nil {
			t.Errorf("%s: %v, %v", what, store, err)
		}
	}
}
