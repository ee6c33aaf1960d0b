package handlers_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/quota"
)

// withQuota gives each organization so much, of a disk that never gets full.
func withQuota(t *testing.T, limit int64) handlers.Deps {
	deps, store, uploads := testDepsWithoutResources(t)
	deps.Quota = quota.New(quota.Options{
		Sources:   []quota.Source{{Kind: quota.States, Store: store}, {Kind: quota.Uploads, Store: uploads}},
		Limit:     func(uuid.UUID) int64 { return limit },
		Free:      func() (int64, error) { return 1 << 40, nil },
		Reserve:   1 << 20,
		Overdraft: 50_000,
		Now:       time.Now,
		Log:       slog.New(slog.DiscardHandler),
	})
	deps.States.WithQuota(deps.Quota)
	deps.Inventory.WithQuota(deps.Quota)
	return deps
}

// TestQuotaOverHTTP is what a client sees of it: a warning in time, a refusal that says what
// to do, an UNLOCK that always passes, and room again after a purge.
func TestQuotaOverHTTP(t *testing.T) {
	server := startServer(t, withQuota(t, 100_000))
	ann := newCaller(t, server, acme, acmeKey)
	state := func(serial, size int) string {
		return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"a","x":"%s"}`, serial, strings.Repeat("x", size))
	}
	const lock = `{"ID":"l1","Who":"ann"}`
	want := func(what string, got answer, status int, said string) {
		t.Helper()
		if got.status != status || !strings.Contains(got.body, said) {
			t.Fatalf("%s: %d %.300s; want %d %s", what, got.status, got.body, status, said)
		}
	}
	want("LOCK", ann.do("LOCK /api/v1/state/held", lock), http.StatusOK, "")
	first := ann.do("POST /api/v1/state/a", state(1, 70_000))
	want("a first write", first, http.StatusOK, "")
	if has := first.header.Get("X-Holdfast-Quota"); has != "" {
		t.Errorf("a warning below 80 %%: %s", has)
	}
	near := ann.do("POST /api/v1/upload", `{`+words+`,"instances":[{"resource_name":"a","attributes":{"x":"`+
		strings.Repeat("y", 9000)+`"}},{"resource_name":"b","attributes":{"x":"`+strings.Repeat("y", 5000)+`"}}]}`)
	want("an upload", near, http.StatusOK, "")
	var used, limit int64
	if _, err := fmt.Sscanf(near.header.Get("X-Holdfast-Quota"), "%d/%d", &used, &limit); err != nil || used < 84_000 ||
		limit != 100_000 {
		t.Errorf("the warning is %q", near.header.Get("X-Holdfast-Quota"))
	}
	want("beyond the quota", ann.do("POST /api/v1/state/a", state(2, 30_000)), http.StatusInsufficientStorage,
		`"code":"quota_exceeded"`)
	want("its holder's write", ann.do("POST /api/v1/state/held?ID=l1", state(1, 30_000)), http.StatusOK, "")
	want("another LOCK", ann.do("LOCK /api/v1/state/b", `{"ID":"l2"}`), http.StatusInsufficientStorage, "Purge versions")
	want("an upload", ann.do("POST /api/v1/upload", `{`+words+`,"instances":[{"resource_name":"a"}]}`),
		http.StatusInsufficientStorage, "quota_exceeded")
	want("UNLOCK", ann.do("UNLOCK /api/v1/state/held", lock), http.StatusOK, "")
	want("reading", ann.do("GET /api/v1/state/a", ""), http.StatusOK, `"serial":1`)
	want("another organization's write",
		newCaller(t, server, globex, globexKey).do("POST /api/v1/state/a", state(2, 30_000)), http.StatusOK, "")

	var who struct {
		Quota struct {
			Used, Limit, States, Uploads int64
		}
	}
	if err := json.Unmarshal([]byte(ann.do("GET /api/v1/whoami", "").body), &who); err != nil ||
		who.Quota.Used != who.Quota.States+who.Quota.Uploads || who.Quota.Used < 114_000 || who.Quota.Limit != 100_000 ||
		who.Quota.Uploads < 14_000 {
		t.Errorf("whoami: %+v, %v", who.Quota, err)
	}
	metrics := newCaller(t, server, uuid.Nil, "").do("GET /metrics", "").body
	for _, line := range []string{
		`holdfast_quota_refused_total\{reason="quota"\} 3`, `holdfast_quota_refused_total\{reason="reserve"\} 0`,
		`holdfast_quota_spared_total 1`, `holdfast_quota_near_organizations 1`,
		`holdfast_disk_free_bytes 1.*e\+12`, `holdfast_disk_reserve_bytes 1.048576e\+06`,
	} {
		has(t, metrics, line)
	}
	if strings.Contains(metrics, acme.String()) {
		t.Error("the metrics tell of a tenant")
	}
	want("a purge", ann.do("DELETE /api/v1/state/a/versions/1?reason=room", ""), http.StatusOK, "")
	again := ann.do("POST /api/v1/state/a", state(2, 30_000))
	want("a write after it", again, http.StatusOK, "")
}

// TestWhoamiWithoutQuota: no limit is shown as null.
func TestWhoamiWithoutQuota(t *testing.T) {
	server := startServer(t, withQuota(t, quota.None))
	if got := newCaller(t, server, acme, acmeKey).do("GET /api/v1/whoami", ""); !strings.Contains(got.body,
		`"quota":{"used":0,"limit":null,"states":0,"uploads":0}`) {
		t.Errorf("%s", got.body)
	}
}
