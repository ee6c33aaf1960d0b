package mysqldb

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// CheckServer returns why a store can't be kept on the server: it takes no packets of so many bytes, or its
// replication would have us refused or answered with what is old.
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
	for setting, wants := range map[string]func(string) string{"binlog_format": wantsRows, "wsrep_sync_wait": wantsSync} {
		var is string
		err := db.QueryRowContext(ctx, "SELECT @@global."+setting).Scan(&is)
		if err != nil {
			continue // a server without the setting has nothing to set
		}
		if why := wants(is); why != "" && inForce(ctx, db, setting) {
			return fmt.Errorf("the server's %s is %s; %s", setting, is, why)
		}
	}
	return nil
}

// wantsRows: InnoDB refuses to write in transactions that see what others committed, if only their
// statements are to be repeated elsewhere.
func wantsRows(format string) string {
	if strings.EqualFold(format, "STATEMENT") {
		return "set it to ROW or MIXED"
	}
	return ""
}

// wantsSync: a node of a Galera cluster answers with what it has by then, unless it is to wait for what the
// others have committed.
func wantsSync(wait string) string {
	if n, err := strconv.Atoi(wait); err == nil && n&1 == 0 {
		return "set it to 7, so that no node of the cluster answers with what is old"
	}
	return ""
}

// inForce reports whether what a setting is about is switched on.
func inForce(ctx context.Context, db *sql.DB, setting string) bool {
	var on bool
	err := db.QueryRowContext(ctx, "SELECT @@global."+map[string]string{"binlog_format": "log_bin",
		"wsrep_sync_wait": "wsrep_on"}[setting]).Scan(&on)
	return err == nil && on
}

// WhyNotDurable says by which settings a crash of the server may take back what somebody has seen already;
// empty when there are none. InnoDB shows a commit to others before its own log is on disk. Only with a
// binary log, which is synced before, has whatever anybody sees outlived the server.
func (o Options) WhyNotDurable(ctx context.Context, db *sql.DB) string {
	var why []string
	for _, setting := range []struct{ name, want string }{
		{"log_bin", "1"}, {"sync_binlog", "1"}, {"innodb_flush_log_at_trx_commit", "1"},
	} {
		var is string
		err := db.QueryRowContext(ctx, "SELECT @@global."+setting.name).Scan(&is)
		if err == nil && is != setting.want {
			why = append(why, setting.name+" = "+is)
		}
	}
	return strings.Join(why, ", ")
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
	return []string{"read_only", "super_read_only", "innodb_read_only", "tidb_restricted_read_only",
		"tidb_super_read_only"}
}
