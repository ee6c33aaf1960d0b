package handlers_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// A stream that is taken up behind any of its events goes on there, over the border between planning and applying.
func TestPartitionStreamIsTakenUpAnywhere(t *testing.T) {
	world, server := runServer(t)
	run, err := world.Create(t.Context(), owner, api.RunOrder{Workspace: "e/x", Kind: "apply"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"plan", "apply"} {
		e := world.Claim(t, acme)
		for _, text := range []string{stage + " one\n", stage + " two\n"} {
			e.Log(text)
		}
		if stage == "plan" {
			e.Plan(2)
			planned, err := world.Get(t.Context(), owner, run.ID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := world.Approve(t.Context(), owner, run.ID, api.Decision{Digest: planned.Pin.Digest}); err != nil {
				t.Fatal(err)
			}
		} else {
			e.Apply(`{}`)
		}
	}
	c := newCaller(t, server, acme, acmeKey)
	read := func(after string) (text string, ids []string) {
		t.Helper()
		got := c.do("GET /enclaves/e/partitions/x/iac/runs/"+run.ID+"/stream", "", "Last-Event-ID: "+after)
		if got.status != 200 || !strings.Contains(got.body, "event: end\n") {
			t.Fatalf("behind %q: %d %s", after, got.status, got.body)
		}
		for _, match := range regexp.MustCompile(`id: (\S+)\ndata: (.*)\n`).FindAllStringSubmatch(got.body, -1) {
			var said api.LogBytes
			if err := json.Unmarshal([]byte(match[2]), &said); err != nil {
				t.Fatal(err)
			}
			text, ids = text+string(said.Bytes), append(ids, match[1])
		}
		return text, ids
	}
	whole, ids := read("")
	if whole != "plan one\nplan two\napply one\napply two\n" || len(ids) < 2 {
		t.Fatalf("%q %q", whole, ids)
	}
	at := map[string]int{"plan:1:9": 9, "plan:1:18": 18, "apply:1:0": 18, "apply:1:10": 28}
	for id, from := range at {
		if got, _ := read(id); got != whole[from:] {
			t.Errorf("behind %s comes %q, want %q", id, got, whole[from:])
		}
	}
	for _, wrong := range []string{"1:9", "plan:x", "other:1:1", "apply:0:1"} {
		got := c.do("GET /enclaves/e/partitions/x/iac/runs/"+run.ID+"/stream", "", "Last-Event-ID: "+wrong)
		if got.status != 400 {
			t.Errorf("%q is answered with %d", wrong, got.status)
		}
	}
	latest := c.do("GET /enclaves/e/partitions/x/iac/runs/latest", "")
	if !strings.Contains(latest.body, `"log":"plan one\nplan two\n\n--- apply ---\napply one\napply two\n"`) {
		t.Error(latest.body)
	}
	if other := c.do("GET /enclaves/e/partitions/y/iac/runs/"+run.ID, ""); other.status != 404 {
		t.Errorf("another partition's run is answered with %d", other.status)
	}
}
