package resourceindex

import (
	"embed"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/storage/schema"
)

// A file from before words had their organizations is one that somebody unknown has read:
// whoever fills the index makes it again.
func TestMigrateFullTextIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resources.db")
	c, err := dial(t.Context(), databaseFile(path))
	if err != nil {
		t.Fatal(err)
	}
	s := schema.Schema{Steps: first(t, migrations, "00001_resources.sql", "00002_reader.sql"),
		Dialect: goose.DialectSQLite3, Of: "resource index"}
	if err := s.Migrate(t.Context(), c.writer, discard()); err != nil {
		t.Fatal(err)
	}
	_, err = c.writer.ExecContext(t.Context(), `INSERT INTO orgs (org, cursor) VALUES (?, 'c');
		INSERT INTO search (rowid, org, text) VALUES (1, 'o1', 'vm'); UPDATE position SET complete = 1, reader = 'rules'`,
		uuid.NewString())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	x := openAt(t, path)
	defer x.Close()
	p, err := x.Position(t.Context())
	if err != nil || p.Reader != "" || p == (resources.Position{}) {
		t.Errorf("%+v, %v: a position like this is one to go on from", p, err)
	}
}

// first has some of the steps.
func first(t *testing.T, steps embed.FS, names ...string) fs.FS {
	t.Helper()
	some := fstest.MapFS{}
	for _, name := range names {
		raw, err := steps.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		some["migrations/"+name] = &fstest.MapFile{Data: raw}
	}
	return some
}
