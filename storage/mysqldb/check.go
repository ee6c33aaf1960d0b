package mysqldb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// CheckServer returns why a store can't be kept on the server: it takes no packets of so many
// bytes, or no writes.
func CheckServer(ctx context.Context, db *sql.DB, packet int) error {
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	var takes int
	if err := db.QueryRowContext(ctx, "SELECT @@max_allowed_packet").Scan(&takes); err != nil {
		return fmt.Errorf("ask the server about packets: %w", err)
	}
	if takes < packet {
		return fmt.Errorf("the server's max_allowed_packet is %d bytes; set it to %d or more", takes, packet)
	}
	return nil
}

// WhyReadOnly names the settings by which the server takes no writes; empty when there are none.
func (o Options) WhyReadOnly(ctx context.Context, db *sql.DB) string {
	var why []string
	for _, setting := range readOnlySettings() {
		var on bool
		if err := db.QueryRowContext(ctx, "SELECT @@global."+setting).Scan(&on); err == nil && on {
			why = append(why, setting)
		}
	}
	return strings.Join(why, ", ")
}

// readOnlySettings are those of MySQL, MariaDB and TiDB. A server that has no such setting says so.
func readOnlySettings() []string {
	return []string{"read_only", "super_read_only", "innodb_read_only", "tidb_restricted_read_only", "tidb_super_read_only"}
}
