package storage

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// The roles of marks.
const (
	markSource = "source"
	markTarget = "target"
)

// Mark says at one end of a move what became of it. A target has one until all of it is there, a source
// as soon as it must not be served any more.
type Mark struct {
	Role  string `json:"role"`
	Other string `json:"other"` // the other end, for people
	Done  bool   `json:"done"`
	// Fresh says of a target that it was seen empty while nobody could serve it: all that is in it was
	// brought by the move, which may therefore take it away again.
	Fresh bool      `json:"fresh,omitempty"`
	At    time.Time `json:"at"`
}

// marks are those of one place: at most one of each role.
type marks interface {
	// all returns them, and whether there is anything that could have some, as of one moment: where it was taken away,
	// that there are none any more is no end of a move.
	all(ctx context.Context) (all []Mark, there bool, err error)
	// held reports whether who moves something away from here keeps servers out of it by more than a mark.
	held() bool
	// set adds a mark, or replaces the one of its role, and gives it a time.
	set(ctx context.Context, m Mark) error
	drop(ctx context.Context, role string) error
}

func find(all []Mark, role string) (Mark, bool) {
	i := slices.IndexFunc(all, func(m Mark) bool { return m.Role == role })
	if i < 0 {
		return Mark{}, false
	}
	return all[i], true
}

// shown is a time for people.
func shown(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// folderMarks are in a file of a folder.
type folderMarks string

// MovesName is the name of the file that says of a folder that it was moved, or is being moved.
const MovesName = "moves.json"

func (f folderMarks) path() string { return filepath.Join(string(f), MovesName) }

// all is of a folder, which nobody takes away.
func (f folderMarks) all(context.Context) (all []Mark, there bool, err error) {
	text, err := os.ReadFile(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, true, err
}

func (f folderMarks) held() bool { return true }

func (f folderMarks) set(ctx context.Context, m Mark) error {
	m.At = time.Now().UTC()
	return f.change(ctx, m.Role, &m)
}

func (f folderMarks) drop(ctx context.Context, role string) error { return f.change(ctx, role, nil) }

func (f folderMarks) change(ctx context.Context, role string, to *Mark) error {
	all, _, err := f.all(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m Mark) bool { return m.Role == role })
	if to != nil {
		all = append(all, *to)
	}
	if len(all) == 0 {
		if err := os.Remove(f.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return durable.Write(f.path(), string(text)+"\n")
}

// databaseMarks are in a table, which the first of them makes.
type databaseMarks struct{ db *sqldb.DB }

const markTable = "moves"

// markColumns are those of the table of marks.
func markColumns(d sqldb.Dialect) string {
	if d == sqldb.Postgres {
		return `(role TEXT COLLATE "C" NOT NULL PRIMARY KEY, mark BYTEA NOT NULL)`
	}
	return `(role VARBINARY(16) NOT NULL PRIMARY KEY, mark MEDIUMBLOB NOT NULL) ENGINE = InnoDB`
}

func isNoTable(err error) bool { return mysqldb.IsNoTable(err) || pgdb.IsNoTable(err) }

// all is of a table, which a load that is begun anew takes away with all others.
func (d databaseMarks) all(ctx context.Context) (all []Mark, there bool, err error) {
	var texts []string
	err = d.db.Ask(ctx, uuid.Nil, func(q sqldb.Querier) (err error) {
		texts, err = readTexts(q, "SELECT mark FROM moves ORDER BY role")
		there = !isNoTable(err)
		if !there {
			return nil
		}
		return err
	})
	for _, text := range texts {
		var m Mark
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return nil, there, err
		}
		all = append(all, m)
	}
	return all, there, err
}

func (d databaseMarks) held() bool { return false }

func (d databaseMarks) set(ctx context.Context, m Mark) error {
	m.At = time.Now().UTC()
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	// The table is made by a statement that ends a transaction, and so in one of its own.
	err = d.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("CREATE TABLE IF NOT EXISTS " + markTable + " " + markColumns(tx.Dialect()))
		return err
	})
	if err != nil {
		return err
	}
	return d.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec(tx.Dialect().Upsert("moves", []string{"role"}, []string{"mark"}), m.Role, text)
		return err
	})
}

func (d databaseMarks) drop(ctx context.Context, role string) error {
	if all, _, err := d.all(ctx); err != nil || len(all) == 0 {
		return err
	}
	return d.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM moves WHERE role = ?", role)
		return err
	})
}
