package handlers_test

import (
	"encoding/json"
	"testing"

	"github.com/holdfast/holdfast/api"
)

func candidatesOf(t *testing.T, c caller, name string) []api.Candidate {
	t.Helper()
	var list api.Candidates
	got := c.do("GET "+name+"/-/candidates", "")
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return list.Candidates
}

// Promoting one of several tries of a write ends the others, on whatever version they came and
// whatever serial they had; what has other content stays.
func TestPromotionEndsTwins(t *testing.T) {
	const x = "/api/v1/state/x"
	c := newCaller(t, startServer(t, guardedBy(t, holding())), acme, acmeKey)
	c.converse([]step{
		{"POST " + x, with(1, 4), 200, ""}, {"POST " + x, with(2, 0), 409, "write_held"},
		{"POST " + x, with(3, 0), 409, "write_held"}, // the same candidate
		{"POST " + x, with(2, 5), 200, ""}, {"POST " + x, with(3, 0), 409, "write_held"},
		{"POST " + x, with(3, 1), 409, "write_held"},
	})
	kept := candidatesOf(t, c, x)
	if len(kept) != 3 {
		t.Fatalf("%d candidates: %+v; want those on versions 1 and 2, and another one", len(kept), kept)
	}
	other, twin, first := kept[0], kept[1], kept[2]
	c.converse([]step{{"POST " + x + "/-/candidates/" + first.ID + "/promote", `{"reason":"meant","anyway":true}`, 200,
		`"version":3`}})
	for _, now := range candidatesOf(t, c, x) {
		if want := map[string]string{other.ID: "open", twin.ID: "promoted",
			first.ID: "promoted"}[now.ID]; now.Status != want {
			t.Errorf("candidate %s is %s, want %s", now.ID, now.Status, want)
		}
	}
	c.converse([]step{
		{"POST " + x + "/-/candidates/" + twin.ID + "/promote", `{"reason":"again"}`, 409, "candidate_settled"},
		{"POST " + x + "/-/candidates/" + first.ID + "/promote", `{"reason":"again"}`, 200, `"version":3`},
	})
}

// A destroy that was announced passes once; its tries from before are settled with it.
func TestExpectedDestroy(t *testing.T) {
	const x = "/api/v1/state/x"
	info := func(id string) string {
		return `{"ID":"` + id + `","Operation":"OperationTypeApply","Who":"ada@laptop"}`
	}
	const announce = `{"findings":["emptied"],"for":"1h","reason":"it moves"}`
	c := newCaller(t, startServer(t, guardedBy(t, holding())), acme, acmeKey)
	c.converse([]step{
		{"GET " + x + "/-/expect", "", 200, `={"expectation":null}`},
		{"POST " + x + "/-/expect", announce, 404, "state_not_found"},
		{"POST " + x, with(1, 4), 200, ""}, {"POST " + x, with(2, 0), 409, "write_held"},
		{"POST " + x + "/-/expect", `{"findings":[],"for":"1h","reason":"x"}`, 400, "parameter_invalid"},
		{"POST " + x + "/-/expect", `{"findings":["lineage_changed"],"for":"1h","reason":"x"}`, 400, "parameter_invalid"},
		{"POST " + x + "/-/expect", `{"findings":["emptied"],"for":"8d","reason":"x"}`, 400, "parameter_invalid"},
		{"POST " + x + "/-/expect", `{"findings":["emptied"],"for":"169h","reason":"x"}`, 400, "parameter_invalid"},
		{"POST " + x + "/-/expect", `{"findings":["emptied"],"for":"1h","reason":" "}`, 400, "reason_missing"},
		{"POST " + x + "/-/expect", `{"findings":["emptied"],"for":"1h","reason":"x","later":1}`, 400, "parameter_invalid"},
		{"POST " + x + "/-/expect", announce, 200, `"findings":["emptied"]`},
		{"GET /api/v1/expectations", "", 200, `"reason":"it moves"`},
		{"LOCK " + x, info("a"), 200, ""},
		{"POST " + x + "?ID=a", with(2, 1), 200, ""}, // a destroy that takes long writes several times
		{"GET " + x + "/-/expect", "", 200, `"lock_id":"a"`},
		{"POST " + x + "?ID=a", with(3, 0), 200, ""},
		{"UNLOCK " + x, info("a"), 200, ""},
		{"GET " + x + "/-/expect", "", 200, `={"expectation":null}`},
		{"GET /api/v1/expectations", "", 200, `"states":[]`},
		{"POST " + x, with(4, 4), 200, ""}, {"POST " + x, with(5, 0), 409, "write_held"},
		{"GET /api/v1/audit?action=expect.use", "", 200, `"note":"emptied"`},
	})
	settled := 0
	for _, one := range candidatesOf(t, c, x) {
		if one.Base == 1 && one.Status == "promoted" {
			settled++
		}
	}
	if settled != 1 {
		t.Errorf("the try from before the announcement was not settled: %+v", candidatesOf(t, c, x))
	}
	c.converse([]step{
		{"POST " + x + "/-/expect", announce, 200, ""},
		{"DELETE " + x + "/-/expect?reason=not+today", "", 200, `"reason":"it moves"`},
		{"DELETE " + x + "/-/expect", "", 200, `={"expectation":null}`},
		{"POST " + x, with(6, 0), 409, "write_held"},
		{"GET /api/v1/audit?action=expect.end", "", 200, `"reason":"not today"`},
	})
}
