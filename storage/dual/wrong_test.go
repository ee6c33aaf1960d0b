package dual

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// recorder is a Store as the suite of its outbox's writer uses it.
type recorder struct{ *Store }

func outboxEngine() sqlitetest.Engine {
	return sqlitetest.Engine{Database: filepath.Join("outbox", databaseName),
		Open: func(dir string) (sqlitetest.Store, error) {
			s, err := openJournals(dir)
			return recorder{s}, err
		}}
}

// Record implements sqlitetest.Store.
func (r recorder) Record(name string, bytes int) error {
	filler := make([]byte, bytes/2) // of noise, as what the outbox keeps is packed
	_, _ = rand.Read(filler)        // never fails
	b := newBatch(uuid.UUID{name[len(name)-1]}, name, 1)
	b.Resources[0].ResourceName, b.Resources[0].Attributes = name, fmt.Appendf(nil, `{"filler":"%x"}`, filler)
	_, err := r.Append(context.Background(), b)
	return err
}

// Recorded implements sqlitetest.Store, when nothing is owed any more.
func (r recorder) Recorded() ([]string, error) {
	if !soon(func() bool { b := r.Backlog(); return b["csv"] == 0 && b["mysql"] == 0 }) {
		return nil, errors.New("a side is owed something still")
	}
	var names [2][]string
	for i, side := range r.sides {
		for org, err := range side.store.Organizations(context.Background()) {
			if err != nil {
				return nil, err
			}
			for record, err := range side.store.Records(context.Background(), org, inventory.Query{}) {
				if err != nil {
					return nil, err
				}
				names[i] = append(names[i], record.ResourceName)
			}
		}
	}
	if len(names[0]) != len(names[1]) {
		return nil, errors.New("the sides differ")
	}
	return names[0], nil
}

// TestWhenThingsGoWrong runs the suite of the outbox's writer over the whole store.
func TestWhenThingsGoWrong(t *testing.T) { sqlitetest.Run(t, outboxEngine()) }
