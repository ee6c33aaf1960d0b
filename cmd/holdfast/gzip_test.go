package main

import (
	"net/http"
	"strings"
	"testing"
)

// What is served is what is put together here: a large state goes out in gzip to who takes
// that, although quotas and a budget stand before the map that keeps it so.
func TestLargeStatesAreServedInGzip(t *testing.T) {
	o := newTenant(t)
	r := o.start()
	body := `{"version":4,"serial":1,"lineage":"5ad8","outputs":{},"resources":[],"filler":"` +
		strings.Repeat("x", 200_000) + `"}`
	if status, answer := o.call(r, "POST", "/api/v1/state/large", body); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	request, err := http.NewRequest("GET", "http://"+r.address+"/api/v1/state/large", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(o.key.Organization.String(), o.key.Key)
	request.Header.Set("Accept-Encoding", "gzip")
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Encoding") != "gzip" ||
		!strings.HasSuffix(answer.Header.Get("ETag"), `-gzip"`) {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
}
