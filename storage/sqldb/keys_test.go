package sqldb_test

import (
	"testing"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/storage/sqldb"
)

func TestKeys(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		sealtest.RunKeys(t, func(*testing.T) seal.Keys { return sqldb.NewKeys(db) })
	})
}
