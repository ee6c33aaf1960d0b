package handlers_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
)

// tagged is a request with a condition; S is the state's address.
type tagged struct {
	request, body, header string
	status                int
	want                  string // a part of the answer
}

func etagOf(body string) string { return fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body))) }

// Writes and deletions that say what they are meant for, in every spelling of the address.
func TestPreconditions(t *testing.T) {
	one, two := etagOf(body(1)), etagOf(body(2))
	packed := strings.TrimSuffix(one, `"`) + `-gzip"`
	const failed, none = "precondition_failed", "X-Condition: none"
	for _, s := range spellings() {
		t.Run(s.name, func(t *testing.T) {
			c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
			for i, step := range []tagged{
				{"POST S", body(1), "If-Match: *", 412, failed},
				{"POST S", body(1), "If-Match: " + one, 412, failed},
				{"DELETE S", "", "If-Match: *", s.remove, ""}, // nothing to delete is what it would be without
				{"POST S", body(1), "If-None-Match: *", 200, `"version":1`},
				{"POST S", body(1), "If-None-Match: *", 200, `"version":1`}, // the answer got lost
				{"PUT S", body(2), "If-None-Match: *", 412, failed},
				{"PUT S", body(2), "If-None-Match: " + one, 412, failed},
				{"PUT S", body(2), "If-None-Match: W/" + one, 412, failed},
				{"PUT S", body(2), "If-Match: W/" + one, 412, failed}, // weak is not strong enough
				{"PUT S", body(2), "If-Match: " + two, 412, failed},
				{"PUT S", body(2), "If-Match: not quoted", 400, "precondition_invalid"},
				{"DELETE S", "", "If-Match: not quoted", 400, "precondition_invalid"},
				{"GET S", "", none, 200, body(1)},
				{"PUT S", body(2), "If-Match: " + two + ", " + packed, 200, `"version":2`},
				{"PUT S", body(2), "If-Match: " + two + ", " + packed, 200, `"version":2`}, // the answer got lost
				{"POST S", body(3), "If-Match: " + one, 412, "version is 2"},
				{"LOCK S", infoA, none, 200, ""},
				{"POST S", body(3), "If-Match: " + one, 409, infoA}, // the lock comes first
				{"POST S?ID=a-1", body(3), "If-Match: " + one, 412, failed},
				{"POST S?ID=a-1&unlock=true", body(3), "If-Match: " + one, 412, failed},
				{"LOCK S", infoB, none, 409, infoA}, // it is held still
				{"POST S?ID=a-1", body(3), "If-Match: " + two, 200, `"version":3`},
				{"POST S?ID=a-1", body(3), "If-Match: " + two, 200, `"version":3`},
				{"DELETE S?ID=a-1", "", "If-Match: " + two, 412, failed},
				{"UNLOCK S", infoA, none, 200, ""},
				{"DELETE S", "", "If-None-Match: " + etagOf(body(3)), 412, failed},
				{"DELETE S", "", "If-Match: " + etagOf(body(3)), 200, ""},
				{"DELETE S", "", "If-Match: " + etagOf(body(3)), 200, ""},
				{"POST S", body(4), "If-Match: *", 412, failed},
				{"POST S", body(4), "If-None-Match: *", 200, `"version":4`},
			} {
				got := c.do(strings.Replace(step.request, " S", " "+s.state, 1), step.body, step.header)
				if got.status != step.status || !strings.Contains(got.body, step.want) {
					t.Errorf("step %d, %s %s:\n got %d %s\nwant %d %s", i, step.request, step.header, got.status, got.body,
						step.status, step.want)
				}
			}
		})
	}
}

// The tag that an answer to a write has, and those of both ways to read it, are good for the
// next write.
func TestTagsAreGoodForTheNextWrite(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const x = "/api/v1/state/x"
	tag := c.do("PUT "+x, body(1), "If-None-Match: *").header.Get("ETag")
	for serial := 2; serial < 5; serial++ {
		wrote := c.do("PUT "+x, body(serial), "If-Match: "+tag)
		if wrote.status != 200 {
			t.Fatalf("serial %d with %s: %d %s", serial, tag, wrote.status, wrote.body)
		}
		tag = c.do("GET "+x, "", "Accept-Encoding: "+[]string{"gzip", "identity", ""}[serial-2]).header.Get("ETag")
		if tag == "" {
			t.Fatal("no ETag")
		}
	}
}

// Who lacks the right is told nothing about what there is.
func TestPreconditionsOfStrangers(t *testing.T) {
	deps := testDeps(t)
	held := testKeys()
	held[auth.Credentials{Org: acme, Key: "reader"}] = auth.Principal{Org: acme, KeyID: "r1",
		Grant: auth.Grant{Role: auth.Reader}}
	deps.Verifier = held
	server := startServer(t, deps)
	newCaller(t, server, acme, acmeKey).converse([]step{{"POST /api/v1/state/x", body(1), 200, ""}})
	for _, who := range []struct {
		org    uuid.UUID
		key    string
		status int
	}{{acme, "reader", 403}, {globex, globexKey, 412}, {uuid.Nil, "", 401}} {
		c := newCaller(t, server, who.org, who.key)
		for _, header := range []string{"If-Match: *", "If-Match: " + etagOf(body(1))} {
			if got := c.do("PUT /api/v1/state/x", body(2), header); got.status != who.status {
				t.Errorf("%s with %s: %d %s", who.key, header, got.status, got.body)
			}
		}
	}
}
