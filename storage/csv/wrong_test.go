package csv_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/csv"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// recorder is a store as the suite of its index's writer uses it.
type recorder struct{ inventory.Store }

func indexEngine() sqlitetest.Engine {
	return sqlitetest.Engine{Database: "uploads.db", Open: func(dir string) (sqlitetest.Store, error) {
		s, err := csv.Open(context.Background(), csv.Options{Dir: dir})
		return recorder{s}, err
	}}
}

// Record implements sqlitetest.Store.
func (r recorder) Record(name string, bytes int) error {
	b := inventory.Batch{ID: name, Org: uuid.UUID{name[len(name)-1]}, Request: "request",
		Digest: sha256.Sum256([]byte(name))}
	b.Resources = []inventory.Resource{{Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: name,
		Attributes: fmt.Appendf(nil, `{"filler":"%s"}`, strings.Repeat("x", bytes))}}
	_, err := r.Append(context.Background(), b)
	return err
}

// Recorded implements sqlitetest.Store.
func (r recorder) Recorded() (names []string, err error) {
	for org, err := range r.Organizations(context.Background()) {
		if err != nil {
			return nil, err
		}
		for record, err := range r.Records(context.Background(), org, inventory.Query{}) {
			if err != nil {
				return nil, err
			}
			names = append(names, record.ResourceName)
		}
	}
	return names, nil
}

// TestWhenThingsGoWrong runs the suite of the index's writer over the whole store.
func TestWhenThingsGoWrong(t *testing.T) { sqlitetest.Run(t, indexEngine()) }
