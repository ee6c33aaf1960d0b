package sqluploads

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
)

// server is what the store has to know of its database.
type server struct {
	// keepsText is true when JSON comes back as it was sent. Others reorder members and
	// rewrite numbers, so the text is kept beside it.
	keepsText bool
	// collation compares names byte for byte; PostgreSQL's is always the same.
	collation string
	// statementBytes is how long the rows of one INSERT may be together.
	statementBytes int
	// valueBytes is how long a single value may be, and valueLimit what says so.
	valueBytes int
	valueLimit string
	secret     []byte // cursors are signed with it
}

// findCollation returns one for which "a" and "a " are different: MySQL and TiDB have the
// first, MariaDB the second. The third, which all have, pads with blanks; what a filter
// then finds too much is left out by Query.Matches.
func findCollation(ctx context.Context, db querier) (string, error) {
	collation := "utf8mb4_bin"
	err := db.QueryRowContext(ctx, `SELECT collation_name FROM information_schema.collations
		WHERE collation_name IN ('utf8mb4_0900_bin', 'utf8mb4_nopad_bin') LIMIT 1`).Scan(&collation)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return strings.ToLower(collation), err
}

// sharedSecret returns the key that the first node made.
func sharedSecret(ctx context.Context, db querier, speaks dialect) ([]byte, error) {
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // never fails
	insert := speaks.InsertNew("inventory_secret (id, secret) VALUES (1, ?)")
	if _, err := db.ExecContext(ctx, insert, fresh); err != nil {
		return nil, err
	}
	var secret []byte
	err := db.QueryRowContext(ctx, "SELECT secret FROM inventory_secret WHERE id = 1").Scan(&secret)
	return secret, err
}
