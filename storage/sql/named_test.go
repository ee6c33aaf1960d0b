package sqluploads

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// wantFault checks an error's code, and that its text names something.
func wantFault(t *testing.T, err error, code fault.Code, names string) {
	t.Helper()
	if f := fault.From(err); f.Code != code || !strings.Contains(f.Message, names) {
		t.Errorf("%s: %q, want %s with %q", f.Code, f.Message, code, names)
	}
}

// TestTroubleIsNamed has the server fail in the middle of a transaction, behind what was written of the upload: the
// answer names what is wrong, nothing of the upload is there, and the next one goes well.
func TestTroubleIsNamed(t *testing.T) {
	type trouble struct {
		code  string
		fault fault.Code
		names string
	}
	troubles := map[dialect][]trouble{
		{sqldb.MySQL}: {
			{"1021", fault.StoreFull, "no space left"},
			{"1114", fault.StoreFull, "no space left"},
			{"1142", fault.StoreUnavailable, "lacks a privilege"},
			{"1153", fault.BodyTooLarge, "max_allowed_packet"},
			{"1969", fault.StoreUnavailable, "max_statement_time"},
			{"3024", fault.StoreUnavailable, "max_execution_time"},
		},
		{sqldb.Postgres}: {
			{"53100", fault.StoreFull, "no space left"},
			{"42501", fault.StoreUnavailable, "lacks a privilege"},
			{"25006", fault.StoreUnavailable, "takes no writes"},
			{"57014", fault.StoreUnavailable, "statement_timeout"},
			{"54000", fault.BodyTooLarge, "larger than the database takes"},
		},
	}
	onServers(t, func(t *testing.T, on testServer) {
		d := on.fresh(t)
		store, org := open(t, d.Options), uuid.New()
		first := batchOf(org, 1)
		appendTo(t, store, first)
		sent := map[string]int{first.ID: 1}
		for _, trouble := range troubles[on.speaks] {
			trigger := "CREATE TRIGGER trouble BEFORE UPDATE ON inventory_groups FOR EACH ROW "
			begin, end := []string{trigger + "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = " + trouble.code}, "DROP TRIGGER trouble"
			if on.speaks.isPostgres() {
				begin = []string{"CREATE OR REPLACE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
					"RAISE EXCEPTION 'trouble' USING ERRCODE = '" + trouble.code + "'; END $$",
					trigger + "EXECUTE FUNCTION trouble()"}
				end = "DROP TRIGGER trouble ON inventory_groups"
			}
			d.exec(t, begin...)
			batch := batchOf(org, 3)
			_, err := store.Append(t.Context(), batch)
			wantFault(t, err, trouble.fault, trouble.names)
			d.exec(t, end)
			wantOnce(t, store, org, sent)
			if _, found, err := store.Recorded(t.Context(), org, batch.ID); found || err != nil {
				t.Errorf("%s: what failed is remembered: %v, %v", trouble.code, found, err)
			}
			appendTo(t, store, batch)
			sent[batch.ID] = 3
			wantOnce(t, store, org, sent)
			wantCounts(t, store, org, sent)
		}
	})
}

// TestReadOnlyIsNamed has a server take no more writes under a store's open connections, as a failover leaves it or an
// operator says so, and a start on such a server.
func TestReadOnlyIsNamed(t *testing.T) {
	suite.Deep(t)
	t.Run("mysql", func(t *testing.T) {
		server, d := mysqltest.Private(t)
		owner := d.Address
		user := "CREATE USER 'poor'@'%s' IDENTIFIED BY '" + d.Password + "'"
		grant := "GRANT ALL ON holdfast_test.* TO 'poor'@'%s'" // who may do all may also write to what is read-only
		for _, host := range []string{"localhost", "127.0.0.1"} {
			err := server.Exec(t.Context(), "", fmt.Sprintf(user, host), fmt.Sprintf(grant, host))
			if err != nil {
				t.Fatal(err)
			}
		}
		d.User = "poor"
		checkReadOnly(t, mysqlOptions(d), mysqldb.ErrDemoted.Error(), func(value string) {
			if err := owner.Exec(t.Context(), "", "SET GLOBAL read_only = "+value); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("postgres", func(t *testing.T) {
		server, at := pgtest.Private(t)
		checkReadOnly(t, postgresOptions(at), "read only", func(value string) {
			for _, statement := range []string{"ALTER SYSTEM SET default_transaction_read_only = " + value,
				"SELECT pg_reload_conf()"} {
				if err := pgtest.Exec(t.Context(), server.URL+"&default_transaction_read_only=off", statement); err != nil {
					t.Fatal(err)
				}
			}
		})
	})
}

func checkReadOnly(t *testing.T, o Options, atStart string, readOnly func(value string)) {
	store, org := open(t, o), uuid.New()
	first, second := batchOf(org, 1), batchOf(org, 2)
	appendTo(t, store, first)
	readOnly("on")
	wantSoon(t, "a refused probe", func() bool { return store.ask() != nil })
	wantFault(t, store.ask(), fault.StoreUnavailable, "takes no writes")
	_, err := store.Append(t.Context(), second)
	wantFault(t, err, fault.StoreUnavailable, "takes no writes")
	_, err = store.Append(t.Context(), batchOf(uuid.New(), 1)) // which would make a table
	wantFault(t, err, fault.StoreUnavailable, "takes no writes")
	o.StartupWait = 1
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), atStart) {
		t.Errorf("a start: %v, want an error with %q", err, atStart)
	}
	readOnly("off")
	wantSoon(t, "a probe that goes well", func() bool { return store.ask() == nil })
	appendTo(t, store, second)
	wantOnce(t, store, org, map[string]int{first.ID: 1, second.ID: 2})
}

// TestMissingPrivilegeIsNamed has a user of PostgreSQL's who may not make tables, at the start and at an organization's
// first upload, and who may not write one of them.
func TestMissingPrivilegeIsNamed(t *testing.T) {
	suite.Deep(t)
	at := pgtest.New(t)
	admin := onPostgres(at)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/") + "_user"
	admin.exec(t, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'its-own-Password'", name))
	t.Cleanup(func() {
		for _, statement := range []string{"REASSIGN OWNED BY " + name + " TO CURRENT_USER", "DROP OWNED BY " + name,
			"DROP ROLE " + name} {
			if err := pgtest.Exec(context.Background(), at, statement); err != nil {
				t.Error(err)
			}
		}
	})
	u.User = url.UserPassword(name, "its-own-Password")
	o := postgresOptions(u.String())
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "GRANT ALL ON SCHEMA public") ||
		strings.Contains(err.Error(), "Password") {
		t.Errorf("a user who may not make tables: %v, want an error that names the right", err)
	}
	admin.exec(t, "GRANT ALL ON SCHEMA public TO "+name)
	store, org := open(t, o), uuid.New()
	first, second := batchOf(org, 1), batchOf(org, 2)
	appendTo(t, store, first)
	admin.exec(t, "REVOKE ALL ON SCHEMA public FROM "+name, "GRANT USAGE ON SCHEMA public TO "+name)
	_, err = store.Append(t.Context(), batchOf(uuid.New(), 1))
	wantFault(t, err, fault.StoreUnavailable, "lacks a privilege")
	admin.exec(t, "REVOKE INSERT ON inventory_groups FROM "+name)
	_, err = store.Append(t.Context(), second)
	wantFault(t, err, fault.StoreUnavailable, "lacks a privilege")
	wantOnce(t, store, org, map[string]int{first.ID: 1})
	admin.exec(t, "GRANT INSERT ON inventory_groups TO "+name)
	appendTo(t, store, second)
	wantOnce(t, store, org, map[string]int{first.ID: 1, second.ID: 2})
	if n := len(readAll(t, store, org, inventory.Query{})); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
	o.Postgres.URL = strings.Replace(o.Postgres.URL, "its-own", "its-other", 1)
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "password authentication failed") ||
		strings.Contains(err.Error(), "other-Password") {
		t.Errorf("another password: %v", err)
	}
}

// TestPostgresTable: only names of organizations' tables are those of tables that the schema makes.
func TestPostgresTable(t *testing.T) {
	const name = "org_11111111_2222_3333_4444_555555555555"
	org := uuid.MustParse("11111111-2222-3333-4444-555555555555")
	if got := postgresTable(name); tableOf(org) != name || len(got) != 3 {
		t.Errorf("%s, which is the organization's, is made by %q", name, got)
	}
	for _, other := range []string{"", "org_", "organizations", "org_x", name + "0", name + ";DROP TABLE x",
		"pile" + name[3:], "org_ABCDEFAB_2222_3333_4444_555555555555", "org_11111111222233334444555555555555",
		"org_11111111-2222-3333-4444-555555555555", "org_{11111111_2222_3333_4444_555555555555}"} {
		if got := postgresTable(other); got != nil {
			t.Errorf("%s is made by %q", other, got)
		}
	}
}
