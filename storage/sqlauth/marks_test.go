package sqlauth_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/sqlauth"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// onServer opens the database of a server, with a master key or none.
func onServer(t *testing.T, d mysqltest.Database, master *seal.Master) *sqlauth.Store {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: 4, Log: slog.New(slog.DiscardHandler),
	}})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return sqlauth.New(db, master)
}

// TestForgedRevisions: who may write the database and has no master key makes no auth.cfg that is believed,
// neither a new one nor another text, writer or number for one that was marked; and nothing that he has written
// keeps the operator from putting his own in its place.
func TestForgedRevisions(t *testing.T) {
	d, master := mysqltest.New(t), seal.NewMaster()
	s, foreign := onServer(t, d, master), onServer(t, d, seal.NewMaster())
	add(t, s, 0, "# one\n", true)
	add(t, s, 1, "# two\n", true)
	if r, err := s.Newest(t.Context()); err != nil || r.Text != "# two\n" {
		t.Fatalf("%+v, %v", r, err)
	}
	added, err := onServer(t, d, nil).Add(t.Context(), 2, "# three\n", "test")
	if added || !errors.Is(err, authfile.ErrNoMaster) {
		t.Errorf("without the master key: %v, %v", added, err)
	}
	for what, forge := range map[string]string{
		"a new one":         "INSERT INTO auth_revisions SELECT number + 1, at, size, digest, made_by FROM auth_revisions WHERE number = 2",
		"another writer":    "UPDATE auth_revisions SET made_by = 'other' WHERE number = 2",
		"an old one's mark": "UPDATE auth_marks a JOIN auth_marks b ON b.what = 'revision 1' SET a.mark = b.mark WHERE a.what = 'revision 2'",
		"no mark":           "DELETE FROM auth_marks",
	} {
		t.Run(what, func(t *testing.T) {
			d, master := mysqltest.New(t), seal.NewMaster()
			s := onServer(t, d, master)
			add(t, s, 0, "# one\n", true)
			add(t, s, 1, "# two\n", true)
			d.Exec(t, forge)
			r, err := s.Newest(t.Context())
			if !errors.Is(err, authfile.ErrUnproven) || r.Number == 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			must(t, authfile.Replace(t.Context(), s, "db", "test", "# mine\n", func(authfile.Revision) error { return nil }))
			if r, err := s.Newest(t.Context()); err != nil || r.Text != "# mine\n" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	if _, err := foreign.Newest(t.Context()); !errors.Is(err, authfile.ErrUnproven) {
		t.Errorf("another master key: %v", err)
	}
}

// TestForgedCopies: who may write the database alone says for no node that it has taken a revision, or destroyed
// what was ordered.
func TestForgedCopies(t *testing.T) {
	d := mysqltest.New(t)
	s := onServer(t, d, seal.NewMaster())
	order := copies.Order(uuid.New(), time.Now())
	c := copies.Copy{Node: uuid.NewString(), Name: "a:1", Revision: 7, Digest: "aa", At: time.Now(), Shredded: order}
	must(t, s.Post(t.Context(), c))
	all, err := s.Copies(t.Context())
	if err != nil || !copies.Shredded(all, order) || all[0].Unproven {
		t.Fatalf("%+v, %v", all, err)
	}
	d.Exec(t, "UPDATE auth_copies SET revision = 8")
	all, err = s.Copies(t.Context())
	if err != nil || len(all) != 1 || !all[0].Unproven || copies.Shredded(all, order) {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestStoppedNode: a node that stopped in the middle of telling what it has, of an edit, or of anything else of
// the store's own keeps others neither from telling theirs nor from editing.
func TestStoppedNode(t *testing.T) {
	d := mysqltest.New(t)
	s := onServer(t, d, nil)
	mine := copies.Copy{Node: uuid.NewString(), Name: "mine", Revision: 1, At: time.Now()}
	other := copies.Copy{Node: uuid.NewString(), Name: "other", Revision: 1, At: time.Now()}
	must(t, s.Post(t.Context(), mine))
	must(t, s.Post(t.Context(), other))
	add(t, s, 0, "# one\n", true)
	raw, err := d.Open(d.Name)
	must(t, err)
	defer raw.Close()
	stopped, err := raw.Begin()
	must(t, err)
	defer func() { _ = stopped.Rollback() }()
	for _, statement := range []string{
		"INSERT INTO organizations (org, bytes) VALUES ('" + uuid.Nil.String() + "', 0) ON DUPLICATE KEY UPDATE bytes = 0",
		"UPDATE auth_copies SET seen = seen + 1 WHERE node = '" + other.Node + "'",
	} {
		_, err := stopped.Exec(statement)
		must(t, err)
	}
	mine.Revision = 2
	must(t, s.Post(t.Context(), mine))
	add(t, s, 1, "# two\n", true)
}
