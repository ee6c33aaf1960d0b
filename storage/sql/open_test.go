package sqluploads

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// logged is a log that a test reads while it is written.
type logged struct{ logtest.Journal }

func (l *logged) options(o Options) Options {
	return o.logging(slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// TestOpenWaits opens the store before the server is up.
func TestOpenWaits(t *testing.T) {
	suite.Deep(t)
	onServers(t, func(t *testing.T, on testServer) {
		server, d := on.private(t)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		var log logged
		opened := make(chan error, 1)
		go func() {
			store, err := Open(t.Context(), log.options(d.Options))
			if err == nil {
				err = store.Close()
			}
			opened <- err
		}()
		wantSoon(t, "a line of progress", func() bool { return strings.Count(log.String(), "waiting for the database") >= 2 })
		if err := server.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "the database is up") {
			t.Errorf("the log does not say that the wait is over:\n%s", log.String())
		}
		wantNoPassword(t, d.secret, log.String())
	})
}

// TestOpenGivesUp opens the store where no server ever is.
func TestOpenGivesUp(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		d, proxy := on.proxied(t)
		proxy.Break()
		o := d.Options
		o.StartupWait = 700 * time.Millisecond
		address := fmt.Sprint("127.0.0.1:", proxy.ListenPort)
		_, err := Open(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), address) {
			t.Errorf("error %v, want one that names %s", err, address)
		}
		wantNoPassword(t, d.secret, fmt.Sprint(err))
		o.StartupWait = 0
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := Open(ctx, o); err == nil || time.Since(deadlineOf(ctx)) > 5*time.Second {
			t.Errorf("error %v, long after the context has ended", err)
		}
	})
}

func deadlineOf(ctx context.Context) time.Time {
	deadline, _ := ctx.Deadline()
	return deadline
}

// TestOpenBackground opens a store at once and lets the server come later.
func TestOpenBackground(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		d, proxy := on.proxied(t)
		proxy.Break()
		o := d.Options
		o.Background = true
		store, batch := open(t, o), batchOf(uuid.New(), 1)
		if _, err := store.Append(t.Context(), batch); !fault.Is(err, fault.StoreUnavailable) {
			t.Errorf("error %v before the server is up, want store_unavailable", err)
		}
		if err := store.Status(t.Context()); !fault.Is(err, fault.StoreUnavailable) {
			t.Errorf("status %v before the server is up, want store_unavailable", err)
		}
		proxy.Mend()
		wantSoon(t, "an upload that is accepted",
			func() bool { _, err := store.Append(t.Context(), batch); return err == nil })
		wantOnce(t, store, batch.Org, map[string]int{batch.ID: 1})
	})
}

func wantNoPassword(t *testing.T, secret, text string) {
	t.Helper()
	if secret != "" && strings.Contains(text, secret) {
		t.Errorf("the password shows in %s", text)
	}
}

// wantSoon polls until done, for half a minute at most.
func wantSoon(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 600 {
		if done() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// TestSocket connects without a port.
func TestSocket(t *testing.T) {
	suite.Deep(t)
	server, d := mysqltest.Private(t)
	o := mysqlOptions(d)
	o.MySQL.Host, o.MySQL.Port, o.MySQL.TLS = server.Socket, 0, mysqldb.TLSRequired // which a socket does not need
	batch := batchOf(uuid.New(), 2)
	store := open(t, o)
	appendTo(t, store, batch)
	wantOnce(t, store, batch.Org, map[string]int{batch.ID: 2})
}

// TestTableIsNamedAsDocumented looks at an organization's table as other programs find it: its columns, and its indexes
// by their names.
func TestTableIsNamedAsDocumented(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		d := on.fresh(t)
		store, org := open(t, d.Options), uuid.New()
		appendTo(t, store, batchOf(org, 1))
		name := "org_" + strings.ReplaceAll(org.String(), "-", "_")
		columns := "id,timestamp,org_id,provider,category,resource_type,resource_name,attributes"
		queries := map[string]string{
			"SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns WHERE table_schema = " +
				"DATABASE() AND table_name = '" + name + "'": columns + ",attributes_text",
			"SELECT GROUP_CONCAT(index_name, ':', column_name ORDER BY index_name) FROM information_schema.statistics WHERE " +
				"table_schema = DATABASE() AND table_name = '" + name + "'": "idx_resource_type:resource_type," +
				"idx_timestamp:timestamp,PRIMARY:id",
		}
		if on.speaks.isPostgres() {
			queries = map[string]string{
				"SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema.columns WHERE " +
					"table_schema = 'public' AND table_name = '" + name + "'": columns,
				"SELECT string_agg(indexname, ',' ORDER BY indexname) FROM pg_indexes WHERE tablename = '" + name + "'": name +
					"_idx_resource_type," + name + "_idx_timestamp," + name + "_pkey",
			}
		}
		for query, want := range queries {
			var got string
			if err := d.pool(t).QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
				t.Errorf("%s: %q, want %q; %v", query, got, want, err)
			}
		}
	})
}
