//go:build e2e

package test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
)

// TestServersBehindPgbouncer: no engine is used through a pool that shares sessions between clients. The server does
// not start and says why; where only uploads are there, which it waits for while it serves all else, it refuses these.
// Through a pool of whole sessions two nodes serve the same.
func TestServersBehindPgbouncer(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	d := testDatabase(t, onPostgres)
	n := &nodes{T: t, dir: t.TempDir()}
	tenant := addTenants(t, filepath.Join(n.dir, "auth.cfg"), 1)[0]
	n.org, n.key = tenant.id, tenant.key
	start := func(name, pool string, settings ...string) *server {
		dir := filepath.Join(n.dir, name)
		n.must(os.Mkdir(dir, 0o700))
		by := pgtest.Bouncer(t, "../scripts/pgbouncer.sh", pgtest.At(d.postgres, d.name), "pool_mode="+pool)
		return newServer(dir, append(tenantsEnviron(n.dir, "DATABASE_URL="+by, "STORAGE_PATH="+dir,
			"HOLDFAST_SEAL_MASTER_KEY_FILE="+filepath.Join(n.dir, "master.key")), settings...))
	}
	const why = "a pool of whole sessions"
	for name, settings := range map[string][]string{
		"states": {"STATE_STORAGE=postgres", "STORAGE_TYPE=csv"},
		"runs":   {"HOLDFAST_RUNS_STORAGE=postgres", "STORAGE_TYPE=csv"},
		"auth":   {"HOLDFAST_AUTH_SOURCE=database", "STORAGE_TYPE=csv"},
		"all":    onPostgres.engines(),
	} {
		if err := start(name, "transaction", settings...).start(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: the server starts, or does not say why: %v", name, err)
		}
	}
	uploads := start("uploads", "transaction", "STORAGE_TYPE=postgres")
	n.must(uploads.listen())
	t.Cleanup(func() { _ = uploads.end() })
	n.must(poll(func() error {
		if text := uploads.logTail(100); !strings.Contains(text, why) {
			return fmt.Errorf("the log says\n%s", text)
		}
		return nil
	}))
	if status, said := n.ask(uploads.url, "POST", "/api/v1/upload", `{"provider":"aws","category":"compute",
		"resource_type":"vm","instances":[{"resource_name":"web","attributes":{}}]}`,
		n.key); status != http.StatusServiceUnavailable {
		t.Errorf("an upload: %d %s", status, said)
	}
	for i, name := range []string{"a", "b"} {
		n.both[i] = start(name, "session", onPostgres.engines()...)
		n.must(n.both[i].start())
		t.Cleanup(func() {
			if err := n.both[i].end(); err != nil {
				t.Error(err)
			}
		})
	}
	id := uuid.NewString()
	n.want(http.StatusOK, 0, "LOCK", "/api/v1/state/app", lockInfo(id))
	n.want(http.StatusConflict, 1, "LOCK", "/api/v1/state/app", lockInfo(uuid.NewString()))
	n.want(http.StatusOK, 1, "POST", "/api/v1/state/app?ID="+id, serialBody(1))
	if got := n.want(http.StatusOK, 0, "GET", "/api/v1/state/app", ""); got != serialBody(1) {
		t.Errorf("the other node serves %s", got)
	}
	n.want(http.StatusOK, 0, "UNLOCK", "/api/v1/state/app", lockInfo(id))
}
