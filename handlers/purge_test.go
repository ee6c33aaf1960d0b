package handlers_test

import (
	"testing"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
)

// A purge says which other versions have the very same bytes, and destroys them there too when
// it is asked to.
func TestPurgeNamesCopies(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const x = "/api/v1/state/x"
	c.converse([]step{
		{"POST " + x, with(1, 1), 200, ""},
		{"POST " + x, with(2, 1), 200, ""},
		{"POST " + x, with(1, 1), 200, ""},
		{"DELETE " + x + "/-/versions/2?reason=leaked", "", 200, `={"status":"success"}`},
		{"DELETE " + x + "/-/versions/1?reason=leaked", "", 200, `={"status":"success","also_in":[3]}`},
		{"DELETE " + x + "/-/versions/1?reason=leaked", "", 200, `={"status":"success","also_in":[3]}`},
		{"GET " + x, "", 200, "=" + with(1, 1)},
		{"DELETE " + x + "/-/versions/1?reason=leaked&copies=true", "", 200, `={"status":"success","purged":[3,1]}`},
		{"DELETE " + x + "/-/versions/1?reason=leaked&copies=true", "", 200, `={"status":"success","purged":[3,1]}`},
		{"GET " + x, "", 410, "version_purged"},
		{"GET /api/v1/resources?state=x", "", 410, "version_purged"},
		{"DELETE " + x + "/-/versions/1?reason=leaked&copies=maybe", "", 400, "parameter_invalid"},
		{"DELETE " + x + "/-/versions/9?reason=leaked&copies=true", "", 404, "version_not_found"},
	})
}

// Purged bytes stay away until an owner asks for them.
func TestPurgedBytesAreRefused(t *testing.T) {
	deps := testDeps(t)
	held := testKeys()
	held[auth.Credentials{Org: acme, Key: "writer"}] = auth.Principal{Org: acme, KeyID: "w1",
		Grant: auth.Grant{Role: auth.Writer}}
	deps.Verifier = held
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	const x = "/api/v1/state/x"
	c.converse([]step{
		{"POST " + x, with(1, 1), 200, ""},
		{"DELETE " + x + "/-/versions/1?reason=leaked", "", 200, ""},
		{"POST " + x, with(1, 1), 409, "bytes_purged"},
		{"POST " + x + "/-/candidates", with(1, 1), 409, "bytes_purged"},
		{"GET " + x + "/-/candidates", "", 200, `"candidates":[]`},
		{"POST " + x + "?restore_purged=perhaps", with(1, 1), 400, "parameter_invalid"},
	})
	newCaller(t, server, acme, "writer").converse([]step{
		{"POST " + x + "?restore_purged=true", with(1, 1), 403, "state:purge"},
		{"POST " + x + "?restore_purged=false", with(1, 1), 409, "bytes_purged"},
	})
	c.converse([]step{
		{"POST " + x + "?restore_purged=true", with(1, 1), 200, `"version":2`},
		{"GET " + x, "", 200, "=" + with(1, 1)},
		{"GET /api/v1/audit?action=state.write&limit=1", "", 200, `"note":"restore_purged"`},
	})
}

// With require_lock, everything that changes the state is for the lock's holder.
func TestRequireLock(t *testing.T) {
	policy := state.DefaultPolicy()
	policy.RequireLock = true
	c := newCaller(t, startServer(t, guardedBy(t, policy)), acme, acmeKey)
	const x, back = "/api/v1/state/x", "/api/v1/state/x/-/versions/1/rollback"
	c.converse([]step{
		{"POST " + x, with(1, 1), 409, "lock_required"},
		{"LOCK " + x, infoA, 200, ""},
		{"POST " + x + "?ID=a-1", with(1, 1), 200, ""},
		{"POST " + x + "?ID=a-1&unlock=true", with(2, 1), 200, ""},
		{"POST " + x + "?ID=a-1&unlock=true", with(2, 1), 200, ""},
		{"POST " + back, `{"reason":"it broke"}`, 409, "lock_required"},
		{"DELETE " + x, "", 409, "lock_required"},
		{"POST " + x + "/-/candidates", with(3, 1), 201, ""}, // which changes nothing yet
	})
	id := idIn(t, c.do("GET "+x+"/candidates", "").body)
	promote := "POST " + x + "/-/candidates/" + id + "/promote"
	c.converse([]step{
		{promote, `{"reason":"recover"}`, 409, "lock_required"},
		{"LOCK " + x, infoB, 200, ""},
		{promote, `{"reason":"recover","lock_id":"b-2"}`, 200, `"version":3`},
		{"POST " + back, `{"reason":"it broke","lock_id":"b-2"}`, 200, `"version":4`},
		{"DELETE " + x + "?ID=b-2", "", 200, ""},
		{"UNLOCK " + x, infoB, 200, ""},
		{"DELETE " + x, "", 200, ""}, // a replay
		{"POST " + x + "/-/undelete", "", 200, ""},
		{"POST " + back, `{"reason":"it broke"}`, 200, `"version":4`}, // a replay
	})
}
