package sqluploads

import (
	"slices"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/mysqldb"
)

// texts are what callers are told.
func texts() mysqldb.Texts {
	return mysqldb.Texts{
		TooLarge: "the upload is larger than the database takes",
		Away:     "the database can't be reached or can't work right now; try again",
	}
}

func storeError(err error) error { return texts().Fault(err) }

func unavailable(err error) error { return texts().Unavailable(err) }

func errClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }

// isRefusedJSON says whether the server takes the text for no JSON of its kind: a number
// beyond a double (MySQL, TiDB) or half of a surrogate pair (all of them).
func isRefusedJSON(err error) bool {
	return slices.Contains([]uint16{3140, 3141, 3146, 3157, 3903, 4025, 4038}, mysqldb.Number(err))
}
