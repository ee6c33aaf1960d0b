package handlers_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

// ownKeys has a name for each key.
type ownKeys struct{}

func (ownKeys) KeyName(org uuid.UUID, id string) string { return "key " + id + " of " + org.String() }

// Versions, states and candidates say what the key that wrote them is called now.
func TestKeysAreCalledByTheirNames(t *testing.T) {
	deps := testDeps(t)
	deps.Keys = ownKeys{}
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	c.do("POST /api/v1/state/app", `{"version":4,"serial":1,"lineage":"5ad8"}`)
	c.do("POST /api/v1/state/app/-/candidates", `{"version":4,"serial":2,"lineage":"5ad8"}`)
	for _, path := range []string{"states", "state/app/-/versions", "state/app/-/candidates"} {
		if got := c.do("GET /api/v1/"+path, "").body; !strings.Contains(got, " of "+acme.String()+`"`) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
