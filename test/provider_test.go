//go:build e2e

package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
)

const (
	tenantCount   = 50
	uploadsOfEach = 20 // a thousand in all
	readersOfAll  = 10
)

// TestProviders uploads what several providers report: a thousand requests from 50
// organizations at once, to a server that keeps it in CSV and MySQL both, while readers
// page through. In the end everything is there once, and both engines have the same sums.
func TestProviders(t *testing.T) {
	suite.Deep(t)
	database := testDatabase(t, onMySQL)
	dir := t.TempDir()
	tenants := addTenants(t, dir+"/auth.cfg", tenantCount)
	environ := tenantsEnviron(dir, append(database.environ(), "STORAGE_TYPE=dual", "HOLDFAST_RATE_LIMIT=off")...)
	s := newServer(dir, environ)
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Errorf("%v\n%s", err, s.logTail(20))
		}
	})
	client := &http.Client{Timeout: 4 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	t.Cleanup(client.CloseIdleConnections)
	for _, o := range tenants {
		o.base, o.http = s.url, client
	}
	start := time.Now()
	uploadAll(t, tenants)
	t.Logf("%d uploads by %d organizations took %s", tenantCount*uploadsOfEach, tenantCount,
		time.Since(start).Round(time.Millisecond))
	if err := poll(func() error { return isReady(s.url) }); err != nil {
		t.Fatal(err)
	}
	want := checkAll(t, tenants)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for i, o := range tenants {
		if got := database.sums(t, o); got != want[i] {
			t.Errorf("%s: MySQL has %+v, CSV %+v", o.id, got, want[i])
		}
	}
	compareEngines(t, dir, environ)
}

// uploadsOf are what the tenant of this index uploads.
func uploadsOf(index int) []upload {
	var all []upload
	for i := range uploadsOfEach {
		all = append(all, reportOf(index*uploadsOfEach+i))
	}
	return all
}

func instances(uploads []upload) (n int) {
	for _, u := range uploads {
		n += len(u.Instances)
	}
	return n
}

// uploadAll sends everything at once, and reads with pages of several sizes meanwhile.
func uploadAll(t *testing.T, tenants []*tenant) {
	t.Helper()
	var all sync.WaitGroup
	for i, o := range tenants {
		for _, u := range uploadsOf(i) {
			all.Go(func() {
				if err := o.upload(u); err != nil {
					t.Errorf("upload: %v", err)
				}
			})
		}
		if i%(tenantCount/readersOfAll) != 0 {
			continue
		}
		all.Go(func() {
			uploads := uploadsOf(i)
			read, err := o.read(7+i, instances(uploads))
			if err == nil {
				err = read.has(uploads)
			}
			if err != nil {
				t.Errorf("read while it is uploaded: %v", err)
			}
		})
	}
	all.Wait()
}

// checkAll reads everything again, and sums it up by tenant.
func checkAll(t *testing.T, tenants []*tenant) []sums {
	t.Helper()
	all := make([]sums, len(tenants))
	for i, o := range tenants {
		p, err := o.page(nil)
		if err == nil {
			err = p.has(uploadsOf(i))
		}
		for _, r := range p.Data {
			if err == nil {
				err = all[i].add(r.Data.Attributes)
			}
		}
		if err != nil || all[i].Gigabytes == 0 {
			t.Errorf("%s: %+v, %v", o.id, all[i], err)
		}
	}
	return all
}

// isReady wants more than 200: a store with a backlog has that too.
func isReady(base string) error {
	answer, err := httpClient.Get(base + "/readyz")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && strings.TrimSpace(string(text)) != `{"status":"ready"}` {
		err = fmt.Errorf("/readyz: %s", text)
	}
	return err
}

// compareEngines has the command compare both sides, record by record.
func compareEngines(t *testing.T, dir string, environ []string) {
	t.Helper()
	var result struct {
		Organizations []struct {
			Result string
			Source struct{ Count int64 }
		}
	}
	out := output(t, dir, environ, os.Getenv("HOLDFAST_BIN"), "data", "migrate", "--from", "csv", "--to", "mysql",
		"--dry-run", "--json")
	if err := json.Unmarshal(out, &result); err != nil || len(result.Organizations) != tenantCount {
		t.Fatalf("%v: %d organizations in %s", err, len(result.Organizations), out)
	}
	for _, o := range result.Organizations {
		if o.Result != "equal" || o.Source.Count == 0 {
			t.Errorf("%+v", o)
		}
	}
}

// sums has the database itself count an organization's table.
func (d ownDatabase) sums(t *testing.T, o *tenant) (s sums) {
	t.Helper()
	db, err := d.pool()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table := "org_" + strings.ReplaceAll(o.id.String(), "-", "_")
	err = db.QueryRow("SELECT COUNT(*), CAST(COALESCE(SUM(JSON_EXTRACT(attributes, '$.size_gb')), 0) AS SIGNED) FROM "+
		table).Scan(&s.Records, &s.Gigabytes)
	if err != nil {
		t.Errorf("%s: %v", table, err)
	}
	return s
}
