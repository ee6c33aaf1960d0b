package handlers_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// Undelete says what it did, and again to who did not hear it; not to who mistakes a state
// that is there for one that is gone.
func TestUndelete(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const x = "/api/v1/state/x"
	c.converse([]step{
		{"POST " + x + "/-/undelete", "", 404, "state_not_found"},
		{"POST " + x, with(1, 1), 200, ""},
		{"POST /api/v1/state/y", with(1, 1), 200, ""},
		{"POST " + x + "/-/undelete", "", 409, "state_exists"},
		{"DELETE " + x, "", 200, ""},
		{"GET /api/v1/states", "", 200, `{"next":null,"states":[{"name":"y"`},
		{"GET /api/v1/states?deleted=true", "", 200, `{"next":null,"states":[{"name":"x"`},
		{"GET /api/v1/states?deleted=any&limit=1", "", 200, `{"next":"x","states":[{"name":"x"`},
		{"POST " + x + "/-/undelete", "", 200, `{"version":1`},
		{"POST " + x + "/-/undelete", "", 200, `{"version":1`},
		{"GET /api/v1/states?deleted=true", "", 200, `"states":[]`},
		{"POST " + x, with(2, 1), 200, ""},
		{"POST " + x + "/-/undelete", "", 409, "state_exists"},
	})
}

// Who holds the lock rolls back under it; who names another, or none, does not.
func TestRollbackUnderOnesOwnLock(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const x, back = "/api/v1/state/x", "/api/v1/state/x/-/versions/1/rollback"
	c.converse([]step{
		{"POST " + x, with(1, 1), 200, ""},
		{"LOCK " + x, `{"ID":"mine","Who":"ada"}`, 200, ""},
		{"POST " + x + "?ID=mine", with(2, 1), 200, ""},
		{"POST " + back, `{"reason":"it broke"}`, 409, `"ID":"mine"`},
		{"POST " + back, `{"reason":"it broke","lock_id":"other"}`, 409, `"ID":"mine"`},
		{"POST " + back, `{"reason":"it broke","lock_id":"mine"}`, 200, `{"version":3,"serial":3`},
		{"POST " + back, `{"reason":"it broke","lock_id":"mine"}`, 200, `{"version":3,"serial":3`},
		{"GET " + x + "/lock", "", 200, `{"ID":"mine","Who":"ada"}`},
		{"GET " + x + "/-/versions?limit=1", "", 200, `"who":"ada"`},
		{"UNLOCK " + x, `{"ID":"mine","Who":"ada"}`, 200, ""},
		{"POST " + back, `{"reason":"it broke","lock_id":"mine"}`, 409, "lock_not_held"},
	})
}

// Retention as a client sees it: old versions go, the newest stays however old it is, and a
// deleted state can be brought back until its time is over.
func TestRetention(t *testing.T) {
	const day = 24 * time.Hour
	policy := state.DefaultPolicy()
	policy.KeepVersions, policy.KeepFor, policy.Grace = 2, 90*day, 30*day
	store, clock := memory.New(64<<20), &stopped{time: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	t.Cleanup(func() { _ = store.Close() })
	deps := testDeps(t)
	deps.States = state.NewService(store, ruled(policy), clock.now, slog.New(slog.DiscardHandler))
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	after := func(d time.Duration) {
		t.Helper()
		clock.pass(d)
		if err := deps.States.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const x = "/api/v1/state/x"
	c.converse([]step{{"POST " + x, with(1, 1), 200, ""}, {"POST " + x, with(2, 1), 200, ""},
		{"POST " + x, with(3, 1), 200, ""}})
	after(0)
	c.converse([]step{
		{"GET " + x + "/-/versions/1", "", 404, "version_not_found"},
		{"GET " + x + "/-/versions/2", "", 200, `"serial":2`},
		{"GET " + x + "?version=1", "", 400, "parameter_invalid"},
		{"POST " + x + "/-/versions/1/rollback", `{"reason":"it broke"}`, 404, "version_not_found"},
		{"GET /api/v1/audit?action=versions.prune", "", 200, `"state":"x"`},
	})
	after(91 * day)
	c.converse([]step{
		{"GET " + x + "/-/versions/2", "", 404, "version_not_found"},
		{"GET " + x, "", 200, `"serial":3`},
		{"DELETE " + x, "", 200, ""},
	})
	after(29 * day)
	c.converse([]step{{"POST " + x + "/-/undelete", "", 200, `{"version":3`}, {"DELETE " + x, "", 200, ""}})
	after(30 * day)
	c.converse([]step{
		{"POST " + x + "/-/undelete", "", 404, "state_not_found"},
		{"GET " + x + "/-/versions", "", 404, "state_not_found"},
		{"GET /api/v1/states?deleted=any", "", 200, `"states":[]`},
	})
}
