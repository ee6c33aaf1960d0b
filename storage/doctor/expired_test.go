package doctor_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/backup"
)

// TestExpired: uploads of which old records are gone are sound, are in a backup, and what is wrong with them is found.
// That holds where a crash came just before the file without them was put in its place.
func TestExpired(t *testing.T) {
	s := newStore(t)
	uploads, err := storage.OpenCSV(t.Context(), s.settings, mute)
	must(t, err)
	var all []inventory.Record
	for r, err := range uploads.Records(t.Context(), org, inventory.Query{}) {
		must(t, err)
		all = append(all, r.Record)
	}
	path := filepath.Join(s.settings.Storage.Path, org.String()+".csv")
	before, err := os.ReadFile(path)
	must(t, err)
	if removed, err := uploads.Expire(t.Context(), org, all[7].Timestamp, 1); removed != 7 || err != nil {
		t.Fatal(removed, err)
	}
	must(t, uploads.Close())
	wantSound := func() {
		t.Helper()
		if r := s.examined(); len(r.Findings) > 0 || r.Checked.Segments == 0 {
			t.Errorf("found %+v", r)
		}
		wantRestored(t, s.settings, all[7:])
	}
	wantSound()
	must(t, os.Rename(path, path+".kept"))
	must(t, os.WriteFile(path, before, 0o600))
	wantSound()
	after, err := os.ReadFile(path + ".kept")
	must(t, err)
	after[len(after)-100]++
	must(t, os.Remove(path+".kept"))
	must(t, os.WriteFile(path, after, 0o600))
	if r := s.examined(); len(r.Findings) != 1 || r.Findings[0].Where != org.String()+".csv" {
		t.Errorf("found %+v", r.Findings)
	}
}

// wantRestored copies a moment of the folder, and opens the uploads in it.
func wantRestored(t *testing.T, settings configs.Settings, want []inventory.Record) {
	t.Helper()
	moment, err := backup.Folder{Dir: settings.Storage.Path}.Fix(t.Context(), time.Now())
	must(t, err)
	settings.Storage.Path = t.TempDir()
	for _, f := range moment.Files {
		text, err := io.ReadAll(f.Content)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(settings.Storage.Path, f.Name), text[:f.Size], 0o600))
	}
	must(t, moment.Close())
	uploads, err := storage.OpenCSV(t.Context(), settings, mute)
	must(t, err)
	var got []inventory.Record
	for r, err := range uploads.Records(t.Context(), org, inventory.Query{}) {
		must(t, err)
		got = append(got, r.Record)
	}
	must(t, uploads.Close())
	if !slices.EqualFunc(want, got, func(a, b inventory.Record) bool { return a.Timestamp.Equal(b.Timestamp) }) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
}
