package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
)

// What an organization may be named by, where. The key says it where the user name doesn't, in
// the partition spelling whatever the user name; X-Org-ID always counts.
func TestWhichOrganizationIsCalling(t *testing.T) {
	const native, partition = "/api/v1/state/e%2Fp", "/terraform/state/e/p"
	key, other := auth.NewKey(acme), auth.NewKey(globex)
	deps := testDeps(t)
	deps.Verifier = keys{
		{Org: acme, Key: key}:     {Org: acme, Grant: auth.Grant{Role: auth.Owner}},
		{Org: acme, Key: acmeKey}: {Org: acme, Grant: auth.Grant{Role: auth.Owner}},
		{Org: globex, Key: other}: {Org: globex, Grant: auth.Grant{Role: auth.Owner}},
	}
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, router, "POST "+native, body(1), basic(acme.String(), key)); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	id := acme.String()
	tests := []struct {
		name              string
		headers           []string
		native, partition int
	}{
		{"X-Org-ID", []string{"X-Org-ID: " + id, "X-API-Key: " + key}, 200, 200},
		{"X-Org-ID in capitals", []string{"X-Org-ID: " + strings.ToUpper(id), "X-API-Key: " + key}, 200, 200},
		{"X-Org-ID and a key made by hand", []string{"X-Org-ID: " + id, "X-API-Key: " + acmeKey}, 200, 200},
		{"X-Org-ID that is no UUID", []string{"X-Org-ID: acme", "X-API-Key: " + key}, 401, 401},
		{"X-Org-ID in braces", []string{"X-Org-ID: {" + id + "}", "X-API-Key: " + key}, 401, 401},
		{"X-Org-ID as a URN", []string{"X-Org-ID: urn:uuid:" + id, "X-API-Key: " + key}, 401, 401},
		{"no X-Org-ID", []string{"X-API-Key: " + key}, 200, 200},
		{"no X-Org-ID and a key made by hand", []string{"X-API-Key: " + acmeKey}, 401, 401},
		{"GitLab's header", []string{"Private-Token: " + key}, 200, 200},
		{"GitLab's header of jobs", []string{"Job-Token: " + key}, 200, 200},
		{"another X-Org-ID", []string{"X-Org-ID: " + globex.String(), "X-API-Key: " + key}, 401, 401},
		{"wrong X-API-Key beside good Basic", []string{"X-Org-ID: " + id, "X-API-Key: no", basic(id, key)}, 401, 401},
		{"Basic", []string{basic(id, key)}, 200, 200},
		{"Basic and a key made by hand", []string{basic(id, acmeKey)}, 200, 200},
		{"Basic with any user name", []string{basic("terraform", key)}, 200, 200},
		{"Basic with any user name and a key made by hand", []string{basic("terraform", acmeKey)}, 401, 401},
		{"Basic with another organization's key", []string{basic(id, other)}, 401, 204},
		{"Bearer", []string{"Authorization: bearer  " + key}, 200, 200},
		{"Bearer with a key made by hand", []string{"Authorization: Bearer " + acmeKey}, 401, 401},
	}
	for _, test := range tests {
		for path, want := range map[string]int{native: test.native, partition: test.partition} {
			if got := ask(t, router, "GET "+path, "", test.headers...); got.Code != want {
				t.Errorf("%s, %s: %d %s; want %d", test.name, path, got.Code, got.Body, want)
			}
		}
	}
}
