package sqlite

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// recorder is a Store as the suite of its writer uses it.
type recorder struct{ *Store }

func writersEngine() sqlitetest.Engine {
	return sqlitetest.Engine{Database: databaseName, Open: func(dir string) (sqlitetest.Store, error) {
		s, err := Open(context.Background(), Options{Dir: dir, Master: sealtest.Master()})
		return recorder{s}, err
	}}
}

// Record implements sqlitetest.Store.
func (r recorder) Record(name string, bytes int) error {
	_, err := put(r.Store, state.Ref{Org: uuid.UUID{name[len(name)-1]}, Name: state.Name(name)}, noise(bytes))
	return err
}

// Recorded implements sqlitetest.Store.
func (r recorder) Recorded() (names []string, err error) {
	found, err := r.All(context.Background(), state.Ref{}, 10_000)
	for _, one := range found {
		names = append(names, string(one.Ref.Name))
	}
	return names, err
}

// TestWhenThingsGoWrong runs the writer's suite.
func TestWhenThingsGoWrong(t *testing.T) { sqlitetest.Run(t, writersEngine()) }
