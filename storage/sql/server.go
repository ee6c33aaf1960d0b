package sqluploads

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/mysqldb"
)

// sample is what the first migration stores as JSON.
const sample = `{"b":1.0,"a":1}`

// server is what the store has to know of its database.
type server struct {
	// keepsText is true when JSON comes back as it was sent. Others reorder members and
	// rewrite numbers, so the text is kept beside it.
	keepsText bool
	// collation compares names byte for byte.
	collation string
	// statementBytes is how long the rows of one INSERT may be together.
	statementBytes int
	// valueBytes is how long a single value may be.
	valueBytes int
	secret     []byte // cursors are signed with it
}

func inspect(ctx context.Context, db querier) (*server, error) {
	var s server
	var text string
	var packet int
	if err := db.QueryRowContext(ctx, "SELECT sample, @@max_allowed_packet FROM inventory_probe WHERE id = 1").Scan(&text,
		&packet); err != nil {
		return nil, fmt.Errorf("ask the server about JSON and packets: %w", err)
	}
	s.keepsText = text == sample
	// Quoting at most doubles a text.
	s.statementBytes = min(1<<20, packet/4)
	s.valueBytes = packet - 64<<10 // what else is in the packet is far shorter
	var err error
	if s.collation, err = findCollation(ctx, db); err != nil {
		return nil, fmt.Errorf("ask the server for its collations: %w", err)
	}
	if s.secret, err = sharedSecret(ctx, db); err != nil {
		return nil, fmt.Errorf("read the cursors' key: %w", err)
	}
	return &s, nil
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
func sharedSecret(ctx context.Context, db querier) ([]byte, error) {
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // never fails
	if _, err := db.ExecContext(ctx, "INSERT IGNORE INTO inventory_secret (id, secret) VALUES (1, ?)", fresh); err != nil {
		return nil, err
	}
	var secret []byte
	err := db.QueryRowContext(ctx, "SELECT secret FROM inventory_secret WHERE id = 1").Scan(&secret)
	return secret, err
}

// tableOf returns the name of the organization's table, quoted.
func tableOf(org uuid.UUID) string {
	return mysqldb.Quoted("org_" + strings.ReplaceAll(org.String(), "-", "_"))
}

// createTable makes the organization's table, and then enters the organization: whoever
// finds it entered finds the table.
func (s *server) createTable(ctx context.Context, db querier, org uuid.UUID) error {
	name := "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE " + s.collation + " NOT NULL"
	// The last comment is for TiDB, whose IDs would else grow only as seen from one of its
	// nodes.
	_, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+tableOf(org)+` (
		id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
		timestamp DATETIME(6) NOT NULL,
		org_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		provider `+name+`,
		category `+name+`,
		resource_type `+name+`,
		resource_name `+name+`,
		attributes JSON NOT NULL,
		attributes_text LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'the exact text, where attributes is not',
		KEY idx_timestamp (timestamp),
		KEY idx_resource_type (resource_type)
		) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 /*T![auto_id_cache] AUTO_ID_CACHE 1 */`)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "INSERT IGNORE INTO inventory_organizations (org) VALUES (?)", org.String())
	return err
}
