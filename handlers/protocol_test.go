package handlers_test

import (
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const (
	infoA = `{"ID":"a-1","Operation":"OperationTypeApply","Info":"","Who":"ada@engine","Version":"1.12.6","Created":"2026-11-21T02:53:01.5Z","Path":""}`
	infoB = `{"ID":"b-2","Operation":"OperationTypePlan","Info":"","Who":"bob@loom","Version":"1.5.7","Created":"2026-11-21T02:54:01Z","Path":""}`
	infoC = `{"ID":"c-3","Operation":"OperationTypeApply","Info":"","Who":"cyd@mill","Version":"1.12.6","Created":"2026-11-21T02:55:01Z","Path":""}`
	// What OpenTofu 1.10 and later send for a force-unlock.
	forceA = `{"ID":"a-1","Operation":"","Info":"","Who":"","Version":"","Created":"0001-01-01T00:00:00Z","Path":""}`
)

// body is a state as Terraform writes it, with its odd spacing and no final newline.
func body(serial int) string {
	return fmt.Sprintf("{\n  \"version\": 4,\n  \"terraform_version\": \"1.12.6\",\n  \"serial\": %d,\n  \"lineage\": "+
		"\"5ad8\",\n  \"outputs\": {\"a<b\": {\"value\": \"\\u003c&é\"}}\n}", serial)
}

// spelling is one way to write the addresses of a state.
type spelling struct {
	name   string
	state  string
	absent int // status of GET where there is no state
	remove int // status of DELETE where there was never a state
}

func spellings() []spelling {
	return []spelling{
		{"native", "/api/v1/state/net", http.StatusNotFound, http.StatusNotFound},
		{"native with a slash", "/api/v1/state/prod%2Fnet", http.StatusNotFound, http.StatusNotFound},
		{"partition", "/terraform/state/prod/db", http.StatusNoContent, http.StatusOK},
	}
}

// Every row of the protocol's tables, in every spelling, with S for the state's address.
func TestProtocol(t *testing.T) {
	for _, s := range spellings() {
		for name, steps := range map[string][]step{
			"requests in order: init":        {{"GET S", "", s.absent, ""}},
			"requests in order: plan":        planOfNothing(s),
			"requests in order: first apply": firstApply(s),
			"long apply":                     longApply(),
			"unlocked":                       unlocked(s),
			"lock by POST and DELETE":        lockByPost(),
			"lock by PUT":                    lockByPut(),
			"second locker":                  secondLocker(),
			"fencing":                        fencing(),
			"forced open by OpenTofu":        forcedByOpenTofu(),
			"write and release":              writeAndRelease(),
			"deletion":                       deletion(s),
			"wrong unlock":                   wrongUnlock(),
			"late replays":                   lateReplays(),
			"serial goes back": {{"POST S", body(9), 200, ""}, {"POST S", body(3), 200, ""},
				{"GET S", "", 200, "=" + body(3)}},
		} {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				for i := range steps {
					steps[i].request = strings.Replace(steps[i].request, " S", " "+s.state, 1)
				}
				deps, _, _ := testDepsWithoutResources(t)
				newCaller(t, startServer(t, deps), acme, acmeKey).converse(steps)
			})
		}
	}
}

func planOfNothing(s spelling) []step {
	return []step{{"LOCK S", infoA, 200, ""}, {"GET S", "", s.absent, ""}, {"UNLOCK S", infoA, 200, ""},
		{"GET S", "", s.absent, ""}}
}

// With each mutating call sent twice, as after a lost answer.
func firstApply(s spelling) []step {
	return []step{
		{"LOCK S", infoA, 200, ""},
		{"LOCK S", infoA, 200, ""},
		{"GET S", "", s.absent, ""},
		{"GET S", "", s.absent, ""},
		{"POST S?ID=a-1", body(1), 200, `"version":1`},
		{"POST S?ID=a-1", body(1), 200, `"version":1`},
		{"GET S", "", 200, "=" + body(1)},
		{"UNLOCK S", infoA, 200, ""},
		{"UNLOCK S", infoA, 200, ""},
		{"GET S", "", 200, "=" + body(1)},
	}
}

func longApply() []step {
	return []step{
		{"LOCK S", infoA, 200, ""},
		{"POST S?ID=a-1&ref=main", body(1), 200, `"version":1`},
		{"POST S?ref=main&ID=a-1", body(2), 200, `"version":2`},
		{"PUT S?ID=a-1", body(3), 200, `"version":3`},
		{"UNLOCK S", infoA, 200, ""},
	}
}

func unlocked(s spelling) []step {
	return []step{{"GET S", "", s.absent, ""}, {"POST S", body(1), 200, `"version":1`},
		{"POST S", body(1), 200, `"version":1`}, {"POST S", body(2), 200, `"version":2`}}
}

func lockByPost() []step {
	return []step{
		{"POST S/lock", infoA, 200, ""},
		{"POST S/lock", infoB, 409, "=" + infoA},
		{"POST S", body(1), 409, "=" + infoA},
		{"POST S?ID=a-1", body(1), 200, ""},
		{"DELETE S/lock", infoA, 200, ""},
		{"DELETE S/lock", infoA, 200, ""},
		{"POST S/lock", infoB, 200, ""},
		{"DELETE S/lock?ID=b-2", "", 200, ""},
		{"POST S/lock", infoA, 409, "lock_id_used"}, // an ID is good for one lock
		{"POST S/lock", infoC, 200, ""},
		{"DELETE S/lock", "", 200, ""},
	}
}

func lockByPut() []step {
	return []step{{"PUT S/lock", infoA, 200, ""}, {"LOCK S", infoB, 409, "=" + infoA}, {"UNLOCK S", infoA, 200, ""}}
}

func secondLocker() []step {
	return []step{
		{"LOCK S", infoA, 200, ""},
		{"LOCK S", infoB, 409, "=" + infoA},
		{"LOCK S", strings.Replace(infoA, "ada", "eve", 1), 409, "=" + infoA},
		{"POST S?ID=b-2", body(1), 409, "=" + infoA},
		{"UNLOCK S", infoA, 200, ""},
		{"LOCK S", infoB, 200, ""},
	}
}

// Terraform's force-unlock, and what the old holder may not do after it.
func fencing() []step {
	return []step{
		{"LOCK S", infoA, 200, ""},
		{"POST S?ID=a-1", body(1), 200, ""},
		{"UNLOCK S", "", 200, ""},
		{"UNLOCK S", "", 200, ""},
		{"POST S?ID=a-1", body(2), 409, "lock_not_held"},
		{"GET S", "", 200, "=" + body(1)},
		{"UNLOCK S", infoA, 200, ""}, // the old holder still sends it
		{"LOCK S", infoB, 200, ""},
		{"POST S?ID=a-1", body(2), 409, "=" + infoB},
		{"POST S?ID=b-2", body(3), 200, `"version":2`},
	}
}

func forcedByOpenTofu() []step {
	return []step{{"LOCK S", infoA, 200, ""}, {"UNLOCK S", forceA, 200, ""},
		{"POST S?ID=a-1", body(1), 409, "lock_not_held"}}
}

func writeAndRelease() []step {
	return []step{
		{"LOCK S", infoA, 200, ""},
		{"POST S?ID=a-1&unlock=true", body(1), 200, `"version":1`},
		{"POST S?ID=a-1&unlock=true", body(1), 200, `"version":1`},
		{"LOCK S", infoB, 200, ""},
		{"POST S?unlock=maybe", body(2), 400, "parameter_invalid"},
	}
}

func deletion(s spelling) []step {
	return []step{
		{"DELETE S", "", s.remove, ""},
		{"POST S", body(1), 200, ""},
		{"LOCK S", infoA, 200, ""},
		{"DELETE S", "", 409, "=" + infoA},
		{"DELETE S?ID=b-2", "", 409, "=" + infoA},
		{"DELETE S?ID=a-1", "", 200, ""},
		{"UNLOCK S", infoA, 200, ""},
		{"GET S", "", s.absent, ""},
		{"DELETE S", "", 200, ""},
		{"POST S", body(1), 200, `"version":2`},
		{"GET S", "", 200, "=" + body(1)},
	}
}

// Answers that got lost are asked for again when the next one has locked already.
func lateReplays() []step {
	return []step{
		{"POST S", body(1), 200, `"version":1`},
		{"LOCK S", infoA, 200, ""},
		{"POST S", body(1), 200, `"version":1`},
		{"POST S?ID=a-1&unlock=true", body(2), 200, `"version":2`},
		{"LOCK S", infoB, 200, ""},
		{"POST S?ID=a-1&unlock=true", body(2), 200, `"version":2`},
		{"POST S?ID=a-1", body(2), 409, "=" + infoB},
		{"UNLOCK S", infoA, 200, ""},
		{"DELETE S?ID=b-2", "", 200, ""},
		{"DELETE S", "", 200, ""},
		{"LOCK S", infoA, 409, "=" + infoB},
	}
}

func wrongUnlock() []step {
	return []step{
		{"UNLOCK S", infoB, 400, "lock_mismatch"},
		{"LOCK S", infoA, 200, ""},
		{"UNLOCK S", infoB, 400, "ada@engine"},
		{"UNLOCK S?ID=b-2", infoA, 400, "parameter_invalid"},
		{"LOCK S", infoB, 409, "=" + infoA},
	}
}

func TestHolderIsShown(t *testing.T) {
	newCaller(t, startServer(t, testDeps(t)), acme, acmeKey).converse([]step{
		{"GET /api/v1/state/x/lock", "", 200, "={}"},
		{"LOCK /api/v1/state/x", infoA, 200, ""},
		{"GET /api/v1/state/x/lock", "", 200, "=" + infoA},
		{"UNLOCK /api/v1/state/x", "", 200, ""},
		{"GET /api/v1/state/x/lock", "", 200, "={}"},
	})
}

func TestVersionHeaders(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	expect := func(a answer, status int, version, serial string) {
		t.Helper()
		if a.status != status || a.header.Get("X-Holdfast-Version") != version ||
			a.header.Get("X-Holdfast-Serial") != serial {
			t.Errorf("%d, version %q, serial %q; want %d, %q, %q", a.status,
				a.header.Get("X-Holdfast-Version"), a.header.Get("X-Holdfast-Serial"), status, version, serial)
		}
	}
	expect(c.do("LOCK /api/v1/state/x", infoA), 200, "0", "0")
	expect(c.do("POST /api/v1/state/x?ID=a-1", body(7)), 200, "1", "7")
	expect(c.do("LOCK /api/v1/state/x", infoA), 200, "1", "7")
	got := c.do("GET /api/v1/state/x", "")
	expect(got, 200, "1", "7")
	tag := got.header.Get("ETag")
	for _, header := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		got := c.do("GET /api/v1/state/x", "", "If-None-Match: "+header)
		expect(got, 304, "1", "7")
		if got.body != "" || got.header.Get("ETag") != tag {
			t.Errorf("If-None-Match: %s: body %q, ETag %s; want no body and %s", header, got.body, got.header.Get("ETag"), tag)
		}
	}
	expect(c.do("GET /api/v1/state/x", "", `If-None-Match: "other"`), 200, "1", "7")
}

func TestContentMD5(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	sum := func(s string) string {
		digest := md5.Sum([]byte(s))
		return "Content-MD5: " + base64.StdEncoding.EncodeToString(digest[:])
	}
	for name, header := range map[string]string{"of another body": sum(body(2)), "not base64": "Content-MD5: *",
		"short": "Content-MD5: YQ=="} {
		if got := c.do("POST /api/v1/state/x", body(1), header); got.status != 400 ||
			!strings.Contains(got.body, "digest_mismatch") {
			t.Errorf("%s: %d %s; want 400 digest_mismatch", name, got.status, got.body)
		}
	}
	c.converse([]step{{"GET /api/v1/state/x", "", 404, ""}})
	if got := c.do("POST /api/v1/state/x", body(1), sum(body(1))); got.status != 200 {
		t.Errorf("right digest: %d %s; want 200", got.status, got.body)
	}
}

func TestOrganizationsShareNothing(t *testing.T) {
	server := startServer(t, testDeps(t))
	a, b := newCaller(t, server, acme, acmeKey), newCaller(t, server, globex, globexKey)
	a.converse([]step{{"POST /api/v1/state/x", body(1), 200, ""}, {"LOCK /api/v1/state/x", infoA, 200, ""}})
	b.converse([]step{
		{"GET /api/v1/state/x", "", 404, ""},
		{"GET /api/v1/state/x/lock", "", 200, "={}"},
		{"DELETE /api/v1/state/x", "", 404, ""},
		{"UNLOCK /api/v1/state/x", "", 200, ""},
		{"LOCK /api/v1/state/x", infoB, 200, ""},
		{"POST /api/v1/state/x?ID=b-2", body(2), 200, `"version":1`},
	})
	a.converse([]step{
		{"LOCK /api/v1/state/x", infoB, 409, "=" + infoA},
		{"GET /api/v1/state/x", "", 200, "=" + body(1)},
	})
}
