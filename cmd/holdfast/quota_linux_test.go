package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
)

// randomState is a state that can't be compressed much.
func randomState(serial, size int) string {
	raw := make([]byte, size*3/4)
	_, _ = rand.NewChaCha8([32]byte{byte(serial), byte(serial >> 8)}).Read(raw) // never fails
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"5ad8","resources":[],"filler":"%s"}`, serial,
		base64.StdEncoding.EncodeToString(raw))
}

// TestOneTenantCantFillTheDisk has one organization write whatever it may to a real, small
// disk, by all ways there are: another one's states and uploads go on, and so does what the
// first one had begun.
func TestOneTenantCantFillTheDisk(t *testing.T) {
	suite.Deep(t)
	const body = 6 << 20
	greedy := newTenant(t)
	greedy.smallDisk("160m") // where the server keeps everything
	modest := tenant{greedy.shell, greedy.another()}
	environ := []string{"HOLDFAST_DISK_RESERVE=32MiB", "HOLDFAST_STATE_MAX_BYTES=16MiB", "HOLDFAST_MAX_BODY_BYTES=64MiB"}
	r := greedy.start(environ...)
	want := func(o tenant, method, path, body string, status int) string {
		t.Helper()
		got, text := o.call(r, method, path, body)
		if got != status {
			t.Fatalf("%s %s: %d %.300s; want %d", method, path, got, text, status)
		}
		return text
	}
	const lock = `{"ID":"apply","Who":"ann"}`
	want(greedy, "LOCK", "/api/v1/state/begun", lock, http.StatusOK)
	refused, stored := map[string]bool{}, []int(nil)
	for i := range 30 {
		for _, path := range []string{"", "/candidates"} {
			status, text := greedy.call(r, "POST", fmt.Sprintf("/api/v1/state/s%d%s", i, path), randomState(i, body))
			if status == http.StatusInsufficientStorage {
				refused[path] = strings.Contains(text, "quota_exceeded") || strings.Contains(text, "reserve")
			} else if status != http.StatusOK && status != http.StatusCreated {
				t.Fatalf("write %d: %d %.300s", i, status, text)
			} else if path == "" {
				stored = append(stored, i) // how many depends on how much of the WAL is in its file
			}
		}
	}
	if !refused[""] || !refused["/candidates"] {
		t.Errorf("360 MB went to a disk of 160: %v", refused)
	}
	upload := `{"provider":"aws","category":"compute","resource_type":"vm","resource_name":"web","attributes":{"size":"small"}}`
	for i := range 5 {
		want(modest, "POST", "/api/v1/state/mine", randomState(i, 1<<20), http.StatusOK)
		want(modest, "POST", "/api/v1/upload", upload, http.StatusOK)
	}
	want(modest, "LOCK", "/api/v1/state/mine", lock, http.StatusOK)
	want(modest, "UNLOCK", "/api/v1/state/mine", lock, http.StatusOK)
	if !refusesLock(t, greedy, r, body) {
		t.Error("who has more than may be can lock another state")
	}
	want(greedy, "POST", "/api/v1/state/begun?ID=apply", randomState(1, body), http.StatusOK)
	want(greedy, "UNLOCK", "/api/v1/state/begun", lock, http.StatusOK)

	before := want(greedy, "GET", "/api/v1/whoami", "", http.StatusOK)
	r.stop()
	r.wait()
	r = greedy.start(environ...)
	if after := want(greedy, "GET", "/api/v1/whoami", "", http.StatusOK); usedOf(before) != usedOf(after) ||
		usedOf(after) == "" {
		t.Errorf("the usage went from %s to %s over a restart", before, after)
	}
	for _, i := range stored {
		status, text := greedy.call(r, "DELETE", fmt.Sprintf("/api/v1/state/s%d/versions/1?reason=room", i), "")
		if status != http.StatusOK {
			t.Fatalf("a purge: %d %s", status, text)
		}
	}
	want(greedy, "POST", "/api/v1/state/more", randomState(99, 1<<20), http.StatusOK)
}

// refusesLock fills what room comes back when the WAL goes into its file, until a LOCK is
// refused for want of it.
func refusesLock(t *testing.T, greedy tenant, r *running, body int) bool {
	t.Helper()
	size := body
	for i := range 60 { // more than the disk has, whatever was in the WAL
		more := fmt.Sprintf(`{"ID":"more %d"}`, i) // an ID is good for one lock
		status, text := greedy.call(r, "LOCK", "/api/v1/state/more", more)
		if status == http.StatusInsufficientStorage {
			return true
		}
		if status != http.StatusOK {
			t.Fatalf("LOCK: %d %s", status, text)
		}
		if status, text := greedy.call(r, "UNLOCK", "/api/v1/state/more", more); status != http.StatusOK {
			t.Fatalf("UNLOCK: %d %s", status, text)
		}
		status, _ = greedy.call(r, "POST", fmt.Sprint("/api/v1/state/filler", i), randomState(i, size))
		if status == http.StatusInsufficientStorage {
			size = max(size/2, 1<<10) // a lock may fit where this did not
		} else {
			size = min(size*2, body)
		}
	}
	return false
}

// usedOf cuts out of whoami's answer what the organization has stored.
func usedOf(whoami string) string {
	_, rest, _ := strings.Cut(whoami, `"quota":{"used":`)
	used, _, _ := strings.Cut(rest, ",")
	return used
}

// another adds an organization with a key.
func (o tenant) another() (made newKey) {
	o.t.Helper()
	o.must("org", "add", "Globex")
	if err := json.Unmarshal([]byte(o.must("key", "add", "Globex", "--json")), &made); err != nil {
		o.t.Fatal(err)
	}
	return made
}

// TestQuotaOfAnOrganization: what auth.cfg says counts as soon as it is read, and an
// organization learns from its own log that it comes near.
func TestQuotaOfAnOrganization(t *testing.T) {
	o := newTenant(t)
	o.say("quota = 2MiB\n")
	r := o.start()
	for i := range 2 {
		if status, text := o.call(r, "POST", fmt.Sprint("/api/v1/state/s", i),
			randomState(i, 900<<10)); status != http.StatusOK {
			t.Fatalf("%d %.300s", status, text)
		}
	}
	if status, text := o.call(r, "POST", "/api/v1/state/s2",
		randomState(2, 900<<10)); status != http.StatusInsufficientStorage || !strings.Contains(text, "of 2.0 MiB") {
		t.Errorf("%d %.300s", status, text)
	}
	if _, text := o.call(r, "GET", "/api/v1/audit?action=quota.near", ""); strings.Count(text, `"quota.near"`) != 1 {
		t.Errorf("the audit log: %s", text)
	}
	r.await("an organization comes near its quota")
	o.environ = append(o.environ, "HOLDFAST_ADDR=http://"+r.address, "HOLDFAST_KEY="+o.key.Key)
	if out := o.must("whoami"); !strings.Contains(out, "of 2.0 MiB") {
		t.Errorf("whoami:\n%s", out)
	}
}
