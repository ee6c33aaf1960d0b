package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
)

// indexed is a server with two resources, whose index is behind.
func indexed(t *testing.T) (s *shell, asked *[]string) {
	s, asked = newShell(t), new([]string)
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path+"?"+r.URL.Query().Encode())
		extent := `"next":null,"sources":["state","upload"],"complete":false,"limited":true,"unread":[{"state":"prod/vault","version":3,"code":"state_encrypted"}],"unread_more":true`
		if r.URL.Path == "/api/v1/resources/coverage" && !r.URL.Query().Has("status") {
			fmt.Fprintf(w, `{"counts":{"upload":{"unmanaged":2},"state":{"managed":1,"missing":0}},%s}`, extent)
			return
		}
		fmt.Fprintf(w, `{"resources":[{"source":"state","state":"prod/net","address":"aws_instance.web[0]","type":"aws_instance","attributes":{"id":"i-0abc"},
			"same":[{"source":"upload","address":"web-1"},{"source":"state","state":"old","address":"aws_instance.x"}]},
			{"source":"upload","address":"web-1","type":"vm_instance","attributes":{}}],%s}`, extent)
	}), auth.NewKey(acme))
	return s, asked
}

const indexNotes = "The index is behind: what was written last may be missing.\nThis key sees some of the states " +
	"only.\nState prod/vault is not in the answer: encrypted by the client (state_encrypted).\nThere are more " +
	"such states.\n"

func TestResourceSearch(t *testing.T) {
	s, asked := indexed(t)
	_, out, errs := s.run("resource", "search", "i-0abc", "web", "--type", "aws_instance", "--source", "state", "--attr",
		"size=3")
	has(t, out, "SOURCE STATE TYPE ADDRESS ID", "state prod/net aws_instance aws_instance.web[0] i-0abc",
		"upload vm_instance web-1")
	if errs != indexNotes {
		t.Errorf("stderr %s", errs)
	}
	if got := strings.Join(*asked,
		" "); got != "/api/v1/resources?attr.size=3&limit=50&q=i-0abc+web&source=state&type=aws_instance" {
		t.Errorf("asked %s", got)
	}
	s.refuse(exitUsage, "--attr: \"size\" is not name=value", "resource", "search", "--attr", "size")
}

func TestResourceCoverage(t *testing.T) {
	s, asked := indexed(t)
	_, out, errs := s.run("resource", "coverage")
	has(t, out, "SOURCE STATUS RESOURCES", "state managed 1", "state missing 0", "upload unmanaged 2")
	if errs != indexNotes {
		t.Errorf("stderr %s", errs)
	}
	has(t, s.must("resource", "coverage", "--status", "managed", "--since", "1h", "--limit", "7", "--wide"),
		"SOURCE STATE TYPE ADDRESS ID SAME AS",
		"state prod/net aws_instance aws_instance.web[0] i-0abc web-1, old: aws_instance.x")
	if got := strings.Join(*asked,
		" "); got != "/api/v1/resources/coverage? "+
		"/api/v1/resources/coverage?limit=7&since=2026-11-21T11%3A00%3A00Z&status=managed" {
		t.Errorf("asked %s", got)
	}
	if out := s.must("resource", "coverage", "--json"); !strings.HasPrefix(out, `{"counts":{`) {
		t.Errorf("printed %s", out)
	}
}

func TestResourceHistory(t *testing.T) {
	s := newShell(t)
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != "/api/v1/resources/m%2F.aws_instance.web%5B%22a%22%5D/history?limit=50&state=prod%2Fnet" {
			t.Errorf("asked %s", r.RequestURI)
		}
		fmt.Fprint(w, `{"address":"x","history":[{"version":{"version":2,"serial":3,"resources":1,"created_at":"2026-01-31T12:00:00Z","who":"alice@laptop"},"against":1,
			"changes":[{"action":"changed","address":"aws_instance.web[\"a\"]","mode":"managed","type":"aws_instance","name":"web","index_key":"a",
			"attributes":[{"path":["size"],"before":3,"after":4},{"path":["key"],"before":"(sensitive value)","after":"(sensitive value)","sensitive":true}]}]}],
			"unread":[{"version":1,"code":"version_purged"}],"next":null}`)
	}), auth.NewKey(acme))
	_, out, errs := s.run("resource", "history", `m/.aws_instance.web["a"]`, "--state", "prod/net")
	has(t, out, "version 2 (serial 3, 1 resource, TIME) by alice@laptop", ` ~ aws_instance.web["a"] {`, " ~ size = 3 -> 4",
		" ~ key = (sensitive value)", "0 added, 1 changed")
	if errs != "Version 1 is not looked into: its bytes were destroyed on purpose (version_purged).\n" {
		t.Errorf("stderr %s", errs)
	}
	s.refuse(exitUsage, "--state: ", "resource", "history", "x")
}

// An address is sent so that nobody on the way takes a part of it for something else.
func TestResourceHistoryOfAPlus(t *testing.T) {
	s, asked := newShell(t), ""
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _, _ = strings.Cut(r.RequestURI, "?")
		fmt.Fprint(w, `{"address":"x","history":[],"unread":[],"next":null}`)
	}), auth.NewKey(acme))
	for address, want := range map[string]string{
		`r.a["a+b@x.com"]`: "r.a%5B%22a%2Bb@x.com%22%5D",
		`r.a["a b"]`:       "r.a%5B%22a%20b%22%5D",
		`r.a["a%2Bb"]`:     "r.a%5B%22a%252Bb%22%5D",
	} {
		if s.run("resource", "history", address, "--state", "prod/net"); asked != "/api/v1/resources/"+want+"/history" {
			t.Errorf("%s: asked %s", address, asked)
		}
	}
}

func TestResourceHistoryOfNothing(t *testing.T) {
	s := newShell(t)
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"address":"x","history":[],"unread":[{"version":1,"code":"state_encrypted"}],"next":null}`)
	}), auth.NewKey(acme))
	_, out, errs := s.run("resource", "history", "aws_vpc.typo", "--state", "prod/net")
	if want := "Version 1 is not looked into: encrypted by the client (state_encrypted).\nNo version of prod/net that " +
		"can be read has aws_vpc.typo.\n"; out != "" || errs != want {
		t.Errorf("printed %q and %q", out, errs)
	}
}
