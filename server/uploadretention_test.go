package server

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage"
)

// TestUploadRetention goes from the auth file to the organization's own log: what was imported with timestamps of long
// ago is gone, of the organization that says so, and no search finds it.
func TestUploadRetention(t *testing.T) {
	dir, one, other := t.TempDir(), uuid.New(), uuid.New()
	path := filepath.Join(dir, "auth.cfg")
	text := fmt.Sprintf("[%s]\nupload_retention = 400d\n[%s]\nname = Keeps all\n", one, other)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := configs.Load(configs.Sources{Environ: []string{"STORAGE_PATH=" + filepath.Join(dir, "data"),
		"STORAGE_TYPE=csv"}})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	watcher, err := authfile.Watch(t.Context(), authfile.WatchConfig{Path: path, Use: func(*keyring.Keyring) {},
		Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watcher.Close() }()
	if err := errors.Join(os.Mkdir(settings.Storage.Path, 0o700),
		seal.CreateMasterFile(settings.MasterKeyPath())); err != nil {
		t.Fatal(err)
	}
	states, err := storage.OpenStates(t.Context(), settings, log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = states.Close() }()
	uploads, err := storage.OpenUploads(t.Context(), settings, log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = uploads.Close() }()
	for _, org := range []uuid.UUID{one, other} {
		for _, days := range []int{500, 402, 399, 1} {
			_, err := uploads.Append(t.Context(), inventory.Batch{ID: uuid.NewString(), Org: org,
				At: time.Now().UTC().AddDate(0, 0, -days), Resources: []inventory.Resource{
					{Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: fmt.Sprint("web-", days),
						Attributes: []byte(`{}`)}}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	rules, err := resources.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	index, err := storage.OpenIndex(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = index.Close() }()
	indexer := resources.NewIndexer(resources.Sources{Index: index, States: states, Uploads: uploads, Rules: rules,
		Log: log, Now: time.Now})
	if err := indexer.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	retention := uploadRetention(uploads, indexer, states, watcher, storage.ClockOf(states), log)
	if err := retention.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := retention.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for org, want := range map[uuid.UUID]int64{one: 2, other: 4} {
			groups, err := uploads.Summary(t.Context(), org)
			if err != nil || len(groups) != 1 || groups[0].Count != want {
				t.Errorf("%v, %v; want %d records", groups, err, want)
			}
			found, _, err := index.Search(t.Context(), org, resources.Scope{Uploads: true}, resources.Query{Limit: 9})
			if err != nil || int64(len(found)) != want {
				t.Errorf("%d resources are found, want %d (%v)", len(found), want, err)
			}
		}
		for org, want := range map[uuid.UUID]int{one: 1, other: 0} {
			page, err := states.Events(t.Context(), org, audit.Query{Limit: 9})
			events := page.Events
			if err != nil || len(events) != want {
				t.Fatalf("%d entries of the audit log, want %d (%v)", len(events), want, err)
			}
			if want > 0 && (events[0].Action != audit.UploadExpire || events[0].Note[:21] != "2 records from before") {
				t.Errorf("on record is %+v", events[0])
			}
		}
	}
}
