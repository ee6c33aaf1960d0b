package sqldb_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
)

// TestMembersBesideOddTexts reads a member of a JSON text that has, somewhere, what some databases have no text for:
// who counts the documents of all organizations must not fail because of what one has written.
func TestMembersBesideOddTexts(t *testing.T) {
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, _ bool) {
		db := opened(t, o)
		text := map[sqldb.Dialect]string{sqldb.SQLite: "TEXT", sqldb.Postgres: "TEXT", sqldb.MySQL: "CHAR"}[db.Dialect()]
		documents := []string{
			`{"a": "\u0000", "Facts": {"State": "fine"}}`,
			`{"a": "\u0000\u0000\\\u0000", "Facts": {"State": "fine"}}`,
			`{"Facts": {"State": "fine"}, "\u0000": 1}`,
			`{"a": "\\u0000", "Facts": {"State": "fine"}}`,
			`{"a": "\\\\u0000\\", "Facts": {"State": "fine"}}`,
			`{"a": "\u00e9\ud83d\ude00", "Facts": {"State": "f\u0069ne"}}`,
		}
		if db.Dialect() != sqldb.MySQL { // which takes them for no JSON
			documents = append(documents, `{"a": "\ud83d", "Facts": {"State": "fine"}}`,
				`{"a": "\uDE00\\\uD83D", "Facts": {"State": "fine"}}`)
		}
		for _, document := range documents {
			var state string
			err := db.Ask(t.Context(), uuid.Nil, func(q sqldb.Querier) error {
				return q.QueryRow("SELECT "+q.Dialect().Member("t.document", "Facts.State")+
					" FROM (SELECT CAST(? AS "+text+") AS document) t", document).Scan(&state)
			})
			if err != nil || state != "fine" {
				t.Errorf("%s: %q, %v", document, state, err)
			}
		}
	})
}

// TestNothingHasOddTexts looks for texts that can't be one: nothing has them, which is no error.
func TestNothingHasOddTexts(t *testing.T) {
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, _ bool) {
		db := opened(t, o)
		for _, name := range []string{"\x00", "a\xff", "\xc3\x28", "\xed\xa0\x80", "'; --\\", "$1 ? ;"} {
			err := db.Write(t.Context(), uuid.New(), func(tx sqldb.Tx) error {
				found, err := sqldb.Change(tx, "UPDATE layers SET document = document WHERE name = ?", name)
				if found {
					t.Errorf("%q is there", name)
				}
				return err
			})
			if err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}
