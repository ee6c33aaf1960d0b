package doctor_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/backup"
	"github.com/holdfast/holdfast/storage/doctor"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlite"
	"github.com/holdfast/holdfast/workspace"
)

const versions = 12

var ( // of this test's organization
	org  = uuid.MustParse("0b0e6a64-6a2a-4c05-a4b1-0f6b1f3f6a01")
	ref  = state.Ref{Org: org, Name: "prod/network"}
	mute = slog.New(slog.DiscardHandler)
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// store is a folder with something of everything.
type store struct {
	t        *testing.T
	settings configs.Settings
	bodies   [][]byte
}

func newStore(t *testing.T) *store {
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o700))
	settings, err := configs.Load(configs.Sources{Environ: []string{"STORAGE_PATH=" + dir, "STORAGE_TYPE=csv"}})
	must(t, err)
	s := &store{t: t, settings: settings}
	must(t, seal.CreateMasterFile(settings.MasterKeyPath()))
	s.states()
	s.runs()
	uploads, err := storage.OpenCSV(t.Context(), settings, mute)
	must(t, err)
	for n := range 20 {
		_, err := uploads.Append(t.Context(), inventory.Batch{ID: fmt.Sprint(n), Org: org,
			Resources: []inventory.Resource{{Provider: "aws", Category: "compute", ResourceType: "vm",
				ResourceName: strings.Repeat("n", 200), Attributes: []byte(`{"size":"large"}`)}}})
		must(t, err)
	}
	must(t, uploads.Close())
	return s
}

// states has a history of versions that have much in common, which are kept as deltas.
func (s *store) states() {
	states, err := storage.OpenStates(s.t.Context(), s.settings, mute)
	must(s.t, err)
	random := rand.New(rand.NewPCG(1, 1))
	common := make([]byte, 40<<10)
	for i := range common {
		common[i] = "0123456789abcdef"[random.IntN(16)]
	}
	for n := range versions {
		body := fmt.Appendf(nil, `{"version":4,"serial":%d,"lineage":"l","terraform_version":"1.9.0","outputs":{},"x":"%s"}`,
			n, append(common[:len(common)-n], fmt.Sprint(n)...))
		_, err := states.Update(s.t.Context(), ref, body, func(state.Head) (state.Change, error) {
			return state.Change{Version: &state.Version{Number: uint64(n + 1), Serial: uint64(n), Lineage: "l",
				Size:   int64(len(body)),
				Digest: sha256.Sum256(body), CreatedAt: time.Now()},
				Events: []audit.Event{{Action: audit.StateWrite, Version: uint64(n + 1)}}}, nil
		})
		must(s.t, err)
		s.bodies = append(s.bodies, body)
	}
	must(s.t, states.Close())
}

func (s *store) runs() {
	master, err := seal.ReadMasterFile(s.settings.MasterKeyPath())
	must(s.t, err)
	db, err := sqldb.Open(s.t.Context(), sqldb.Options{Path: filepath.Join(s.settings.Storage.Path, "runs.db"), Log: mute})
	must(s.t, err)
	sealer := seal.New(master, sqldb.NewKeys(db))
	s.sealed(db, sealer)
	blobs := sqldb.NewBlobs(db, sealer, time.Now)
	_, err = blobs.PutBytes(s.t.Context(), org, "file", bytes.Repeat([]byte("resource"), 20_000))
	must(s.t, err)
	must(s.t, db.Close())
}

// sealed has a variable, a log of two pieces and a plan, as services keep them.
func (s *store) sealed(db *sqldb.DB, sealer *seal.Sealer) {
	run := runs.Ref{Org: org, ID: "01"}
	key := workspace.Key{Kind: workspace.TerraformVariable, Name: "password"}
	log := runs.LogRef{Ref: run, Stream: "plan", Attempt: 1}
	plan := runs.FileRef{Ref: run, Kind: runs.FilePlan, Attempt: 1}
	one := func(kind seal.Kind, name string) []byte {
		bytes, err := sealer.Seal(s.t.Context(), org, kind, name, []byte("0123456789"))
		must(s.t, err)
		return bytes
	}
	var pieces [][]byte
	must(s.t, sealer.SealPieces(s.t.Context(), org, seal.Kind(plan.Kind), plan.SealedAs(), strings.NewReader("plan"),
		func(_ int, sealed []byte) error {
			pieces = append(pieces, bytes.Clone(sealed))
			return nil
		}))
	variable := one(workspace.SealedVariable, key.SealedAs("net"))
	texts := [][]byte{one(runs.SealedLog, log.SealedAs(0)), one(runs.SealedLog, log.SealedAs(10))}
	must(s.t, db.Write(s.t.Context(), org, func(tx sqldb.Tx) error {
		var errs []error
		exec := func(query string, args ...any) {
			_, err := tx.Exec(query, append([]any{org.String()}, args...)...)
			errs = append(errs, err)
		}
		exec("INSERT INTO variables VALUES (?, 'net', ?, ?, 0, 1, 10, ?, 0, '{}')", string(key.Kind), key.Name, variable)
		exec("INSERT INTO run_logs VALUES (?, '01', 'plan', 1, 20)")
		for i, text := range texts {
			exec("INSERT INTO run_log_pieces VALUES (?, '01', 'plan', 1, ?, 10, ?)", i*10, text)
		}
		exec("INSERT INTO run_files VALUES (?, '01', 'plan', 1, 4, ?, 1)", fmt.Sprintf("%x", sha256.Sum256([]byte("plan"))))
		exec("INSERT INTO run_file_pieces VALUES (?, '01', 'plan', 1, 0, ?)", pieces[0])
		return errors.Join(errs...)
	}))
}

// TestSealed: variables, logs and plans are kept encrypted as well as configurations, and are opened too.
func TestSealed(t *testing.T) {
	s := newStore(t)
	for query, want := range map[string]string{
		"UPDATE variables SET name = 'other'":                         "the variable other of \"net\"",
		"UPDATE variables SET sealed = zeroblob(90)":                  "the variable password of \"net\"",
		"UPDATE run_log_pieces SET sealed = zeroblob(90) WHERE start": "the log plan/1 of the run 01",
		"DELETE FROM run_log_pieces WHERE start = 10":                 "the log plan/1 of the run 01",
		"DELETE FROM run_log_pieces":                                  "the log plan/1 of the run 01",
		"UPDATE run_file_pieces SET sealed = zeroblob(90)":            "the file plan/1 of the run 01",
		"DELETE FROM run_file_pieces":                                 "the file plan/1 of the run 01",
		"UPDATE run_files SET digest = 'ab'":                          "the file plan/1 of the run 01",
		"UPDATE data_keys SET wrapped = zeroblob(64)":                 "the first data key of",
	} {
		good := s.files()["runs.db"]
		s.execRuns(query)
		if said := fmt.Sprint(s.examined().Findings); !strings.Contains(said, want) {
			t.Errorf("after %s is said:\n%s", query, said)
		}
		s.put("runs.db", good)
	}
	if r := s.examined(); len(r.Findings) > 0 {
		t.Errorf("found %+v", r.Findings)
	}
}

func (s *store) execRuns(query string) {
	s.t.Helper()
	db, err := sqldb.Open(s.t.Context(), sqldb.Options{Path: filepath.Join(s.settings.Storage.Path, "runs.db"), Log: mute})
	must(s.t, err)
	must(s.t, db.Write(s.t.Context(), org, func(tx sqldb.Tx) error {
		_, err := tx.Exec(query)
		return err
	}))
	must(s.t, db.Close())
}

// put puts a database as it was.
func (s *store) put(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.settings.Storage.Path, name)
	for _, rest := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + rest)
	}
	must(s.t, os.WriteFile(path, []byte(content), 0o600))
}

// examined is what a doctor finds.
func (s *store) examined() doctor.Report {
	s.t.Helper()
	var r doctor.Report
	moment, err := backup.Folder{Dir: s.settings.Storage.Path, Unreadable: r.Unreadable}.Fix(s.t.Context(),
		time.Now())
	must(s.t, err)
	tell := func(what string) {
		if !strings.HasPrefix(what, "copying") {
			wantClosed(s.t, moment)
		}
	}
	must(s.t, doctor.Check(s.t.Context(), moment, s.settings, s.t.TempDir(), &r, mute, tell))
	must(s.t, moment.Close())
	return r
}

// wantClosed: nothing is kept of a moment that was copied.
func wantClosed(t *testing.T, moment *backup.Moment) {
	t.Helper()
	for _, f := range moment.Files {
		if !strings.HasSuffix(f.Name, ".csv") {
			continue
		}
		if _, err := f.Content.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s is held while the copy is read: %v", f.Name, err)
		}
	}
}

// wrong is whether a version is returned that is not what was written, or none at all.
func (s *store) wrong() (unread int) {
	s.t.Helper()
	states, err := storage.OpenStates(s.t.Context(), s.settings, mute)
	if err != nil {
		return versions
	}
	defer states.Close()
	for n, want := range s.bodies {
		got, err := states.Version(context.Background(), ref, uint64(n+1))
		if err != nil {
			unread++
		} else if !bytes.Equal(got.Body, want) {
			s.t.Errorf("version %d is returned with other bytes", n+1)
		}
	}
	return unread
}

// TestSound: in what is as it should be nothing is found, all is looked at, and nothing changes.
func TestSound(t *testing.T) {
	s := newStore(t)
	before := s.files()
	r := s.examined()
	if len(r.Findings) > 0 {
		t.Errorf("found %+v", r.Findings)
	}
	if c := r.Checked; c.Versions != versions || c.Blobs != 5 || c.Segments == 0 || c.Files < 4 || c.Entries != versions {
		t.Errorf("looked at %+v", c)
	}
	for name, text := range s.files() {
		if before[name] != text {
			t.Errorf("%s was changed", name)
		}
	}
}

func (s *store) files() map[string]string {
	all := map[string]string{}
	for _, name := range []string{"state.db", "runs.db", "uploads.db", org.String() + ".csv", "master.key"} {
		text, err := os.ReadFile(filepath.Join(s.settings.Storage.Path, name))
		must(s.t, err)
		all[name] = string(text)
	}
	return all
}

// TestFlippedBits: where nothing is found, everything is returned that was written; and never anything else.
func TestFlippedBits(t *testing.T) {
	suite.Deep(t)
	s := newStore(t)
	random := rand.New(rand.NewPCG(3, 4))
	found, unread := 0, 0
	flip := func(name string, at int, good []byte) {
		path := filepath.Join(s.settings.Storage.Path, name)
		bad := bytes.Clone(good)
		bad[at] ^= 1 << random.IntN(8)
		must(t, os.WriteFile(path, bad, 0o600))
		r := s.examined()
		must(t, os.WriteFile(path, bad, 0o600))
		lost := s.wrong()
		if lost > 0 {
			unread++
		}
		if lost > 0 && len(r.Findings) == 0 {
			t.Errorf("bit of byte %d of %s: %d versions can't be read, and nothing was found", at, name, lost)
		}
		found += min(1, len(r.Findings))
		for _, rest := range []string{"-wal", "-shm"} {
			_ = os.Remove(path + rest)
		}
		must(t, os.WriteFile(path, good, 0o600))
	}
	good := s.files()
	for range 60 {
		flip("state.db", random.IntN(len(good["state.db"])), []byte(good["state.db"]))
	}
	if unread == 0 || found < unread {
		t.Errorf("%d of 60 made versions unreadable, %d were found", unread, found)
	}
	// Each byte of a file of uploads has a checksum, and so has each of what is sealed.
	csv := org.String() + ".csv"
	for range 5 {
		before := found
		flip(csv, bytes.IndexByte([]byte(good[csv]), '\n')+1+random.IntN(1000), []byte(good[csv]))
		if found == before {
			t.Error("a bit of an upload was flipped, and nothing was found")
		}
	}
	sealed := []byte(good["runs.db"])
	for range 5 {
		before, at := found, random.IntN(len(sealed))
		for bytes.Count(sealed[at:min(at+64, len(sealed))], []byte{0}) > 8 { // what is sealed looks random
			at = random.IntN(len(sealed))
		}
		flip("runs.db", at, sealed)
		if found == before {
			t.Errorf("bit of byte %d of runs.db: nothing was found", at)
		}
	}
}

// TestContradictions: what rows say of each other is compared, and what follows from others is repaired.
func TestContradictions(t *testing.T) {
	s := newStore(t)
	for query, want := range map[string]string{
		"DELETE FROM bodies WHERE id = 2":                    "version 2 of " + org.String() + " prod/network has",
		"UPDATE states SET newest = 99":                      "a newest version that is not there",
		"UPDATE usage SET bytes = bytes + 1 WHERE bytes > 0": "is counted wrong",
		"UPDATE bodies SET (encoding, bytes) = (SELECT encoding, bytes FROM bodies WHERE id = 3) WHERE id = 4": "version 4 of the " +
			"state prod/network",
		"UPDATE data_keys SET wrapped = zeroblob(length(wrapped))": "of the organization " + org.String() + " are encrypted",
		"UPDATE events SET note = 'nothing' WHERE sequence = 3":    "the audit log of " + org.String() + " is not as it was written: entry 3",
		"DELETE FROM events WHERE sequence = 4":                    "1 entries of the audit log are missing",
		"DELETE FROM events WHERE sequence = 12":                   "the chain has come to entry 12",
		"DELETE FROM chains":                                       "in a chain whose head is not in the store any more",
		"DELETE FROM chains; UPDATE events SET place = 0, hash = NULL": "the audit log of " + org.String() +
			" is not as it was written: entry 1 is in no chain",
		"UPDATE versions SET purged = 1 WHERE number = 3":           "was purged, and its bytes are there",
		"UPDATE versions SET digest = zeroblob(32) WHERE number= 5": "version 5 of the state prod/network",
	} {
		good := s.files()["state.db"]
		s.exec(query)
		var said strings.Builder
		for _, f := range s.examined().Findings {
			fmt.Fprintln(&said, f.What)
			if f.Do == "" {
				t.Errorf("nothing to do about %s", f.What)
			}
		}
		if !strings.Contains(said.String(), want) {
			t.Errorf("%s: found %s", query, said.String())
		}
		if strings.Contains(want, "counted") {
			must(t, storage.CountUsage(t.Context(), s.settings, mute))
			if left := s.examined().Findings; len(left) > 0 {
				t.Errorf("after the repair: %+v", left)
			}
		}
		must(t, os.WriteFile(filepath.Join(s.settings.Storage.Path, "state.db"), []byte(good), 0o600))
	}
}

// TestBeingRemoved: a state that is being removed for good is no fault.
func TestBeingRemoved(t *testing.T) {
	s := newStore(t)
	s.exec("UPDATE states SET owner = org, org = '', name = id, newest = NULL")
	if r := s.examined(); len(r.Findings) > 0 || r.Checked.Versions != 0 {
		t.Errorf("found %+v", r)
	}
}

// TestPrunedLog: an audit log from which retention has removed the beginning is no fault.
func TestPrunedLog(t *testing.T) {
	s := newStore(t)
	states, err := storage.OpenStates(t.Context(), s.settings, mute)
	must(t, err)
	n, err := states.PruneEvents(t.Context(), org, time.Now().Add(time.Hour), 4, audit.Event{At: time.Now()})
	must(t, errors.Join(err, states.Close()))
	if r := s.examined(); n != 4 || len(r.Findings) > 0 {
		t.Errorf("found %+v", r)
	}
	s.exec("DELETE FROM events WHERE sequence = 5")
	if r := s.examined(); len(r.Findings) != 2 {
		t.Errorf("found %+v", r)
	}
}

func (s *store) exec(query string) {
	s.t.Helper()
	file, migrate := sqlite.File(s.settings.Storage.Path)
	db, err := sqldb.Open(s.t.Context(), sqldb.Options{File: &sqldb.File{File: file, Migrate: migrate}, Log: mute})
	must(s.t, err)
	must(s.t, db.Write(s.t.Context(), uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec(query)
		return err
	}))
	must(s.t, db.Close())
}
