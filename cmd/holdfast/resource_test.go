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
		extent := `"next":null,"sources":["state","upload"],"complete":false,"limited":true,"unread":[{"state":"prod/vault","version":3,"code":"state_encrypted"}]`
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

const indexNotes = "The index is behind: what was written last may be missing.\nThis key sees some of the states only.\nState prod/vault is not in the index: state_encrypted.\n"

func TestResourceSearch(t *testing.T) {
	s, asked := indexed(t)
	_, out, errs := s.run("resource", "search", "i-0abc", "web", "--type", "aws_instance", "--source", "state", "--attr", "size=3")
	has(t, out, "SOURCE STATE TYPE ADDRESS ID", "state prod/net aws_instance aws_instance.web[0] i-0abc", "upload vm_instance web-1")
	if errs != indexNotes {
		t.Errorf("stderr %s", errs)
	}
	if got := strings.Join(*asked, " "); got != "/api/v1/resources?attr.size=3&limit=50&q=i-0abc+web&source=state&type=aws_instance" {
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
	has(t, s.must("resource", "coverage", "--status", "managed", "--since", "1h", "--limit", "7"), "SOURCE STATE TYPE ADDRESS ID SAME AS",
		"state prod/net aws_instance aws_instance.web[0] i-0abc web-1, old: aws_instance.x")
	if got := strings.Join(*asked, " "); got != "/api/v1/resources/coverage? /api/v1/resources/coverage?limit=7&since=2026-11-21T11%3A00%3A00Z&status=managed" {
		t.Errorf("asked %s", got)
	}
	if out := s.must("resource", "coverage", "--json"); !strings.HasPrefix(out, `{"counts":{`) {
		t.Errorf("printed %s", out)
	}
}
